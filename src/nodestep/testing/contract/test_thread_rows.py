"""The listing of threads: newest first, in pages, each with the status that a call would find."""

from __future__ import annotations

from typing import Any

import pytest

from ...stores.base import Head, StateStore, Status
from ..writes import ManualClock, begin, done, fork, go_on, pause, question, seen, unchanged, write

LEASE_MS = 30_000


def ids(page: tuple[Head, ...]) -> list[str]:
    return [head.thread_id for head in page]


def ask_until(store: StateStore, thread: str, *deadlines: int | None, status: Status = Status.INTERRUPTED) -> None:
    opens = tuple(question(f"ask:{n}", expires_at_ms=deadline) for n, deadline in enumerate(deadlines))
    go_on(store, begin(store, thread), status, thread, opens=opens)


def statuses(store: StateStore) -> dict[str, Status]:
    """What each thread reads as, which the filter by status must agree with."""
    found = {head.thread_id: head.status for head in store.thread_rows()}
    for status in Status:
        assert ids(store.thread_rows(status=status)) == [name for name, seen in found.items() if seen is status]
    return found


def test_an_empty_store_has_no_threads(store: StateStore) -> None:
    assert store.thread_rows() == ()


def test_threads_are_listed_newest_first(store: StateStore) -> None:
    for thread in ("b", "c", "a"):
        begin(store, thread)
    assert ids(store.thread_rows()) == ["a", "c", "b"]


def test_a_thread_is_listed_by_its_main_branch(store: StateStore) -> None:
    begin(store, status=Status.COMPLETED)
    fork(store, seen(store).head, 1, "side", status=Status.FAILED)
    assert store.thread_rows() == (seen(store).head,)


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
@pytest.mark.parametrize("wanted", [{}, {"graph": "A"}, {"status": Status.FAILED}, {"status": Status.RUNNING}])
def test_pages_give_every_thread_once_and_in_order(store: StateStore, limit: int, wanted: dict[str, Any]) -> None:
    for n in range(12):
        begin(store, f"t{n}", graph="AB"[n % 2], status=(Status.RUNNING, Status.FAILED, Status.COMPLETED)[n % 3])
        fork(store, seen(store, f"t{n}").head, 1, "side")
    whole = store.thread_rows(**wanted)
    paged: list[Head] = []
    after = None
    while page := store.thread_rows(limit=limit, after=after, **wanted):
        assert len(page) <= limit
        paged.extend(page)
        after = page[-1].no
    assert tuple(paged) == whole
    assert len(whole) == {"": 12, "graph": 6, "status": 4}["".join(wanted)]


def test_a_page_of_no_threads_is_empty(store: StateStore) -> None:
    begin(store)
    assert store.thread_rows(limit=0) == ()


def test_threads_are_filtered_by_graph(store: StateStore) -> None:
    begin(store, "one", graph="Refund")
    begin(store, "two", graph="Release")
    assert ids(store.thread_rows(graph="Refund")) == ["one"]
    assert store.thread_rows(graph="refund") == ()
    assert ids(store.thread_rows(graph="Release", status=Status.RUNNING)) == ["two"]


def test_each_status_is_listed_as_it_is(store: StateStore) -> None:
    for status in Status:
        begin(store, status.value, status=status)
    assert statuses(store) == {status.value: status for status in Status}


def test_a_run_that_was_cut_off_reads_unfinished(store: StateStore, clock: ManualClock) -> None:
    begin(store, "old")
    clock.forward(LEASE_MS)
    begin(store, "new")
    assert statuses(store) == {"new": Status.RUNNING, "old": Status.UNFINISHED}
    assert all(head.live == (head.status is Status.RUNNING) for head in store.thread_rows())


def test_a_pause_whose_questions_have_all_expired_reads_ready(store: StateStore, clock: ManualClock) -> None:
    ask_until(store, "both", clock.wall + 10, clock.wall + 20)
    ask_until(store, "one", clock.wall + 10, None)
    ask_until(store, "none", None)
    clock.forward(19)
    assert set(statuses(store).values()) == {Status.INTERRUPTED}
    clock.forward(1)
    assert statuses(store) == {"none": Status.INTERRUPTED, "one": Status.INTERRUPTED, "both": Status.READY}


def test_expired_questions_of_a_failed_thread_leave_it_ready(store: StateStore, clock: ManualClock) -> None:
    ask_until(store, "t", clock.wall + 10, status=Status.FAILED)
    assert statuses(store) == {"t": Status.FAILED}
    clock.forward(10)
    assert statuses(store) == {"t": Status.READY}


def test_a_live_run_reads_running_whatever_its_questions(store: StateStore, clock: ManualClock) -> None:
    ask_until(store, "t", clock.wall, status=Status.RUNNING)
    assert statuses(store) == {"t": Status.RUNNING}
    clock.forward(LEASE_MS)
    assert statuses(store) == {"t": Status.READY}


def test_deadlines_are_read_by_the_wall_clock(store: StateStore, clock: ManualClock) -> None:
    ask_until(store, "t", clock.wall + 10)
    clock.lease += 10_000
    assert statuses(store) == {"t": Status.INTERRUPTED}
    clock.wall += 10
    assert statuses(store) == {"t": Status.READY}


def test_a_listed_thread_tells_when_a_run_of_it_last_began_or_ended(store: StateStore, clock: ManualClock) -> None:
    asked = pause(store)
    clock.forward(1_000)
    held = done(store, write(unchanged(asked), closes=("ask:ok",)))
    clock.forward(1_000)
    held = go_on(store, held)
    (head,) = store.thread_rows()
    assert (head.created_at_ms, head.updated_at_ms, head.sequence) == (asked.at_ms, held.at_ms - 1_000, 4)
    go_on(store, held, Status.COMPLETED)
    assert store.thread_rows() == (seen(store).head,)
