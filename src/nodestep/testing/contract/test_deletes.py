"""Deleting: a thread is gone at once with everything of its own, unless somebody works on it."""

from __future__ import annotations

from ...stores.base import AuditRow, ForkOf, StateStore, Status
from ..writes import (
    ManualClock,
    begin,
    bodies,
    fork,
    go_on,
    holding,
    pause,
    question,
    refused,
    seen,
    unchanged,
    write,
)


def full(store: StateStore, thread: str = "t") -> None:
    """A paused thread with a fork, snapshots and decisions."""
    receipt = begin(store, thread, audits=(AuditRow("a:x", 1, "api"),))
    receipt = go_on(store, receipt, thread=thread, snapshot=b"=2")
    go_on(store, receipt, Status.INTERRUPTED, thread, opens=(question("a:x"), question("b:y")))
    stored = seen(store, thread)
    fork(store, stored.head, 2, "side", opens=stored.questions, audits=(AuditRow("a:x", 2, "api"),))


def test_nothing_of_a_deleted_thread_is_found(store: StateStore) -> None:
    full(store)
    store.delete_rows("t")
    for branch in ("main", "side"):
        assert store.read("t", branch) is None
        assert store.head("t", branch) is None
        assert store.records("t", branch) == ()
    assert not any([store.branch_rows("t"), store.thread_rows()])
    assert not any([store.questions(), store.questions("t"), store.audit_rows(), store.audit_rows("t")])


def test_other_threads_stay_as_they_are(store: StateStore) -> None:
    full(store, "kept")
    full(store, "t")
    before = (seen(store, "kept"), store.questions("kept"), store.audit_rows("kept"), store.branch_rows("kept"))
    store.delete_rows("t")
    assert before == (seen(store, "kept"), store.questions(), store.audit_rows(), store.branch_rows("kept"))


def test_a_delete_returns_the_branches_that_were_there(store: StateStore) -> None:
    full(store)
    heads = store.delete_rows("t")
    assert [(head.branch_id, head.live, head.sequence) for head in heads] == [("main", False, 3), ("side", False, 3)]


def test_an_unknown_thread_has_nothing_to_delete(store: StateStore) -> None:
    begin(store, "other")
    assert store.delete_rows("t") == ()
    full(store)
    store.delete_rows("t")
    assert store.delete_rows("t") == ()


def test_a_thread_that_somebody_works_on_stays(store: StateStore) -> None:
    full(store)
    held = begin(store, branch="busy")
    before = (seen(store), store.questions(), store.audit_rows(), store.branch_rows("t"))
    heads = store.delete_rows("t")
    assert [(head.branch_id, head.live) for head in heads] == [("main", False), ("side", False), ("busy", True)]
    assert before == (seen(store), store.questions(), store.audit_rows(), store.branch_rows("t"))
    assert go_on(store, held, branch="busy").sequence == 2


def test_a_thread_whose_run_was_cut_off_can_be_deleted(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    clock.forward(30_000)
    assert len(store.delete_rows("t")) == 1
    for status in (Status.RUNNING, Status.COMPLETED):
        assert refused(store, write(holding(held), status)).head is None
    assert store.renew([(held.no, held.epoch)]) == [False]
    assert store.read("t", "main") is None


def test_a_thread_of_the_same_id_starts_empty_and_with_a_new_number(store: StateStore) -> None:
    first = pause(store, "a:x")
    store.delete_rows("t")
    second = begin(store, record=b"new", status=Status.READY)
    assert second.no > first.no
    assert second.sequence == 1
    stored = seen(store)
    assert (bodies(stored), stored.questions, stored.snapshot) == ([b"new"], (), None)
    assert store.branch_rows("t")[0].head.created_at_ms == second.at_ms


def test_pause_numbers_go_on_after_a_delete(store: StateStore) -> None:
    first, _ = pause(store), store.delete_rows("t")
    second = pause(store)
    assert first.pause is not None
    assert second.pause is not None
    assert second.pause > first.pause


def test_what_was_read_before_a_delete_claims_nothing_after(store: StateStore) -> None:
    rested = begin(store, status=Status.READY)
    store.delete_rows("t")
    assert refused(store, write(unchanged(rested))).head is None
    assert refused(store, write(ForkOf(rested.no, 1), Status.READY, branch="side")).head is None
    again = begin(store, status=Status.READY)
    answer = refused(store, write(unchanged(rested)))
    assert answer.head is not None
    assert answer.head.no == again.no


def test_a_thread_that_only_resembles_it_stays(store: StateStore) -> None:
    for thread in ("t", "T", "t ", "tt", "%", "t%"):
        begin(store, thread, Status.READY)
    store.delete_rows("t")
    assert {head.thread_id for head in store.thread_rows()} == {"T", "t ", "tt", "%", "t%"}
    store.delete_rows("%")
    assert len(store.thread_rows()) == 4


def test_a_pruned_thread_can_be_deleted(store: StateStore) -> None:
    receipt = begin(store)
    for _ in range(4):
        receipt = go_on(store, receipt)
    go_on(store, receipt, Status.READY)
    assert store.prune_rows(receipt.no, 4, [(3, b"=3")])
    store.delete_rows("t")
    assert store.read("t", "main") is None
    assert begin(store).sequence == 1
