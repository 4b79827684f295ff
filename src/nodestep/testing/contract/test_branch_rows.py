"""The branches of a thread as they are listed: which come from where, and what each still has."""

from __future__ import annotations

from ...stores.base import ListedBranch, StateStore, Status
from ..writes import ManualClock, begin, fork, go_on, seen


def by_id(store: StateStore, thread: str = "t") -> dict[str, ListedBranch]:
    return {row.head.branch_id: row for row in store.branch_rows(thread)}


def test_an_unknown_thread_has_no_branches(store: StateStore) -> None:
    begin(store, "other")
    assert store.branch_rows("t") == ()


def test_a_branch_that_is_no_fork_comes_from_nowhere(store: StateStore) -> None:
    begin(store)
    (row,) = store.branch_rows("t")
    assert (row.parent_branch_id, row.parent_no, row.fork_sequence, row.first) == (None, None, None, 1)
    assert row.head == seen(store).head


def test_branches_are_listed_oldest_first(store: StateStore) -> None:
    for branch in ("z", "main", "a"):
        begin(store, branch=branch)
    begin(store, "other")
    assert [row.head.branch_id for row in store.branch_rows("t")] == ["z", "main", "a"]


def test_a_fork_tells_its_parent_and_where_it_left_it(store: StateStore) -> None:
    go_on(store, begin(store), Status.READY)
    main = seen(store).head
    side = fork(store, main, 2, "side")
    fork(store, side, 1, "deep")
    rows = by_id(store)
    assert (rows["side"].parent_branch_id, rows["side"].parent_no, rows["side"].fork_sequence) == ("main", main.no, 2)
    assert (rows["deep"].parent_branch_id, rows["deep"].parent_no, rows["deep"].fork_sequence) == ("side", side.no, 1)
    assert {row.first for row in rows.values()} == {1}
    assert [rows[name].head.sequence for name in ("main", "side", "deep")] == [2, 3, 2]


def test_a_listed_branch_tells_whether_it_is_live(store: StateStore, clock: ManualClock) -> None:
    begin(store)
    assert by_id(store)["main"].head.live
    clock.forward(30_000)
    head = by_id(store)["main"].head
    assert (head.live, head.status) == (False, Status.RUNNING)


def test_a_listed_branch_tells_when_its_run_began_or_ended(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    clock.forward(1_000)
    held = go_on(store, held)
    assert by_id(store)["main"].head.updated_at_ms == clock.wall - 1_000
    clock.forward(1_000)
    go_on(store, held, Status.COMPLETED)
    assert by_id(store)["main"].head.updated_at_ms == clock.wall
    assert by_id(store)["main"].head == seen(store).head
