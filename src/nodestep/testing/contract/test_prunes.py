"""Pruning: a branch begins later, and everything that stands on what is gone keeps its footing."""

from __future__ import annotations

import pytest

from ...errors import UnknownEventError
from ...stores.base import AuditRow, ForkOf, Head, StateStore, Status
from ..writes import begin, bodies, done, fork, go_on, pause, question, refused, seen, unchanged, write


def grown(store: StateStore, length: int = 9, snapshots: tuple[int, ...] = (), status: Status = Status.READY) -> Head:
    """A thread with the records b"1", b"2", ... and snapshots such as b"=3" at some."""
    receipt = begin(store, record=b"1", snapshot=b"=1" if 1 in snapshots else None)
    for number in range(2, length + 1):
        own = status if number == length else Status.RUNNING
        snapshot = b"=%d" % number if number in snapshots else None
        receipt = go_on(store, receipt, own, record=b"%d" % number, snapshot=snapshot)
    return seen(store).head


def prune(store: StateStore, head: Head, first: int, *points: int) -> None:
    """Prune with a snapshot for the record before, and for these."""
    assert store.prune_rows(head.no, first, [(point, b"=%d" % point) for point in (*points, first - 1)])


def first_of(store: StateStore, branch: str = "main") -> int:
    (first,) = [row.first for row in store.branch_rows("t") if row.head.branch_id == branch]
    return first


def is_unknown(store: StateStore, upto: int, branch: str = "main") -> bool:
    try:
        seen(store, branch=branch, upto=upto)
    except UnknownEventError:
        return True
    return False


def test_a_pruned_branch_begins_where_it_is_told(store: StateStore) -> None:
    head = grown(store)
    prune(store, head, 6)
    assert first_of(store) == 6
    assert [record.body for record in store.records("t", "main")] == [b"6", b"7", b"8", b"9"]
    assert [record.sequence for record in store.records("t", "main")] == [6, 7, 8, 9]


def test_a_pruned_branch_stands_where_it_stood(store: StateStore) -> None:
    head = grown(store)
    prune(store, head, 6)
    stored = seen(store)
    assert stored.head == head
    assert (stored.snapshot, stored.snapshot_sequence) == (b"=5", 5)
    assert bodies(stored) == [b"6", b"7", b"8", b"9"]


def test_a_pruned_branch_goes_on(store: StateStore) -> None:
    head = grown(store)
    prune(store, head, 9)
    claimed = done(store, write(unchanged(head), record=b"10"))
    assert go_on(store, claimed, record=b"11").sequence == 11
    assert bodies(seen(store)) == [b"9", b"10", b"11"]


def test_the_owner_of_a_branch_goes_on_over_a_prune(store: StateStore) -> None:
    receipt = begin(store)
    for _ in range(5):
        receipt = go_on(store, receipt)
    prune(store, seen(store).head, 6)
    receipt = go_on(store, receipt)
    assert go_on(store, receipt, Status.COMPLETED).sequence == 8
    assert [record.sequence for record in store.records("t", "main")] == [6, 7, 8]


def test_what_was_pruned_is_unknown(store: StateStore) -> None:
    prune(store, grown(store, snapshots=(2, 4)), 6)
    assert [upto for upto in range(10) if is_unknown(store, upto)] == [0, 1, 2, 3, 4]


def test_the_error_for_a_pruned_record_says_so(store: StateStore) -> None:
    prune(store, grown(store), 6)
    with pytest.raises(UnknownEventError, match=r"'main' of thread 't' has no event 4, or it was pruned"):
        store.read("t", "main", 4)


def test_what_was_not_pruned_is_read_from_the_snapshot_before_it(store: StateStore) -> None:
    prune(store, grown(store, snapshots=(7,)), 6)
    for upto, snapshot, records in [(5, b"=5", []), (6, b"=5", [b"6"]), (7, b"=7", []), (9, b"=7", [b"8", b"9"])]:
        stored = seen(store, upto=upto)
        assert (stored.snapshot, bodies(stored)) == (snapshot, records)


def test_a_snapshot_that_was_given_stands_for_its_own_record_alone(store: StateStore) -> None:
    prune(store, grown(store), 7, 3)
    assert (seen(store, upto=3).snapshot, seen(store, upto=3).records) == (b"=3", ())
    assert [upto for upto in range(1, 10) if is_unknown(store, upto)] == [1, 2, 4, 5]


@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize("after", [0, 3, 5, 6])
def test_pages_of_a_pruned_branch_begin_at_its_first_record(store: StateStore, limit: int, after: int) -> None:
    prune(store, grown(store), 6)
    page = store.records("t", "main", after=after, limit=limit)
    assert [record.sequence for record in page] == list(range(max(after + 1, 6), 10))[:limit]


def test_a_branch_is_pruned_again_and_again(store: StateStore) -> None:
    head = grown(store)
    for first in (3, 4, 9):
        prune(store, head, first)
        assert first_of(store) == first
        assert seen(store).head == head
    assert [upto for upto in range(1, 10) if is_unknown(store, upto)] == [1, 2, 3, 4, 5, 6, 7]


def test_a_branch_that_begins_later_already_is_left_as_it_is(store: StateStore) -> None:
    head = grown(store)
    prune(store, head, 6)
    before = seen(store)
    for first in (2, 5, 6):
        prune(store, head, first)
    assert (seen(store), first_of(store)) == (before, 6)


def test_a_branch_that_is_gone_is_nothing_to_prune(store: StateStore) -> None:
    head = grown(store)
    store.delete_rows("t")
    assert store.prune_rows(head.no, 5, [(4, b"=4")])
    assert store.prune_rows(4711, 5, [(4, b"=4")])
    assert store.read("t", "main") is None


def test_without_the_snapshot_for_its_start_nothing_is_pruned(store: StateStore) -> None:
    head = grown(store)
    with pytest.raises(ValueError, match="snapshot for 5"):
        store.prune_rows(head.no, 6, [(4, b"=4")])
    assert len(seen(store).records) == 9


@pytest.mark.parametrize("first", [10, 11, 99])
def test_the_last_record_stays(store: StateStore, first: int) -> None:
    head = grown(store)
    with pytest.raises(ValueError, match="keeps its last record, 9"):
        prune(store, head, first)
    prune(store, head, 9)
    assert bodies(seen(store)) == [b"9"]


def test_questions_and_decisions_outlive_the_records_that_brought_them(store: StateStore) -> None:
    asked = pause(store, "a:x", audits=(AuditRow("a:x", 1, "api"),))
    claimed = done(store, write(unchanged(asked)))
    for _ in range(5):
        claimed = go_on(store, claimed)
    go_on(store, claimed, Status.FAILED)
    before = (seen(store).questions, store.questions(), store.audit_rows(), store.audit_rows("t"))
    prune(store, seen(store).head, 8)
    assert before == (seen(store).questions, store.questions(), store.audit_rows(), store.audit_rows("t"))


def test_other_branches_keep_their_records(store: StateStore) -> None:
    head = grown(store)
    begin(store, "other", record=b"other")
    begin(store, branch="beside", record=b"beside")
    prune(store, head, 9)
    assert bodies(seen(store, "other")) == [b"other"]
    assert bodies(seen(store, branch="beside")) == [b"beside"]


def test_a_fork_of_what_was_pruned_keeps_reading(store: StateStore) -> None:
    head = grown(store)
    fork(store, head, 3, "side")
    prune(store, head, 8, 3)
    stored = seen(store, branch="side")
    assert (stored.snapshot, bodies(stored)) == (b"=3", [b"fork"])
    assert first_of(store, "side") == 4
    assert [record.sequence for record in store.records("t", "side")] == [4]
    assert seen(store, branch="side", upto=3).snapshot == b"=3"
    assert [upto for upto in (1, 2, 3, 4) if is_unknown(store, upto, "side")] == [1, 2]


def test_a_fork_of_what_stays_begins_where_its_parent_does(store: StateStore) -> None:
    head = grown(store)
    fork(store, head, 7, "side")
    prune(store, head, 5)
    assert first_of(store, "side") == 5
    assert [record.body for record in store.records("t", "side")] == [b"5", b"6", b"7", b"fork"]
    assert (seen(store, branch="side").snapshot, len(seen(store, branch="side").records)) == (b"=4", 4)
    assert [upto for upto in range(1, 9) if is_unknown(store, upto, "side")] == [1, 2, 3]


def test_a_fork_at_the_new_start_stands_on_its_snapshot(store: StateStore) -> None:
    head = grown(store)
    fork(store, head, 5, "side")
    prune(store, head, 6)
    assert (seen(store, branch="side").snapshot, bodies(seen(store, branch="side"))) == (b"=5", [b"fork"])


def test_a_fork_that_would_lose_its_footing_keeps_the_branch_as_it_is(store: StateStore) -> None:
    head = grown(store)
    fork(store, head, 3, "side")
    before = (seen(store), seen(store, branch="side"))
    assert not store.prune_rows(head.no, 6, [(5, b"=5")])
    assert before == (seen(store), seen(store, branch="side"))
    assert first_of(store) == 1


def test_a_fork_of_a_fork_may_be_what_stands_on_a_record(store: StateStore) -> None:
    head = grown(store)
    side = fork(store, head, 7, "side")
    fork(store, side, 3, "deep")
    assert not store.prune_rows(head.no, 9, [(8, b"=8"), (7, b"=7")])
    prune(store, head, 9, 7, 3)
    assert (seen(store, branch="deep").snapshot, bodies(seen(store, branch="deep"))) == (b"=3", [b"fork"])
    assert seen(store, branch="side").snapshot == b"=7"


def test_what_forks_stand_on_is_kept_when_a_branch_is_pruned_again(store: StateStore) -> None:
    head = grown(store, snapshots=(2,))
    fork(store, head, 2, "old")
    fork(store, head, 4, "young")
    prune(store, head, 6, 4)
    prune(store, head, 9)
    assert (seen(store, branch="old").snapshot, bodies(seen(store, branch="old"))) == (b"=2", [b"fork"])
    assert (seen(store, branch="young").snapshot, bodies(seen(store, branch="young"))) == (b"=4", [b"fork"])
    assert is_unknown(store, 5)


def test_a_fork_is_pruned_of_its_own_records(store: StateStore) -> None:
    head = grown(store)
    side = fork(store, head, 3, "side")
    receipt = done(store, write(unchanged(side), branch="side", record=b"A"))
    for record in (b"B", b"C"):
        receipt = go_on(store, receipt, branch="side", record=record)
    prune(store, side, 6)
    assert [record.body for record in store.records("t", "side")] == [b"B", b"C"]
    assert (seen(store, branch="side").snapshot, first_of(store, "side")) == (b"=5", 6)
    assert [upto for upto in range(1, 8) if is_unknown(store, upto, "side")] == [1, 2, 3, 4]
    assert len(seen(store).records) == 9


def test_what_a_fork_shares_is_its_parents_to_prune(store: StateStore) -> None:
    side = fork(store, grown(store), 5, "side")
    for first in (2, 5, 6):
        prune(store, side, first)
    assert first_of(store, "side") == 1
    assert len(seen(store, branch="side").records) == 6


def test_a_fork_of_a_pruned_fork_keeps_what_it_shares_with_the_first(store: StateStore) -> None:
    side = fork(store, grown(store), 4, "side")
    fork(store, side, 2, "deep")
    receipt = done(store, write(unchanged(side), branch="side"))
    go_on(store, receipt, branch="side")
    prune(store, side, 7)
    assert bodies(seen(store, branch="deep")) == [b"1", b"2", b"fork"]
    assert first_of(store, "deep") == 1


def test_a_pruned_record_is_no_place_for_a_fork_unless_a_snapshot_stands_for_it(store: StateStore) -> None:
    head = grown(store)
    prune(store, head, 6, 3)
    for sequence in (1, 2, 4):
        assert refused(store, write(ForkOf(head.no, sequence), Status.READY, branch="side")).head is None
    for sequence in (3, 5, 6, 9):
        assert fork(store, head, sequence, f"at {sequence}").sequence == sequence + 1
    assert (seen(store, branch="at 3").snapshot, bodies(seen(store, branch="at 3"))) == (b"=3", [b"fork"])


def test_a_fork_of_a_pruned_branch_may_bring_its_questions(store: StateStore) -> None:
    asked = go_on(store, begin(store), Status.INTERRUPTED, opens=(question("a:x"),))
    edited = done(store, write(unchanged(asked), Status.INTERRUPTED))
    stored = seen(store)
    prune(store, stored.head, 3)
    fork(store, stored.head, edited.sequence, "side", status=Status.INTERRUPTED, opens=stored.questions)
    assert seen(store, branch="side").questions == stored.questions
