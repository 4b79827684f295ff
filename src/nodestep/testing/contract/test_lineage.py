"""Forks: a branch whose first records are its parent's, read as if they were its own."""

from __future__ import annotations

import pytest

from ...errors import UnknownEventError
from ...stores.base import Head, Record, StateStore, Status, Unchanged
from ..writes import begin, bodies, done, fork, go_on, pause, question, refused, seen, write


def grow(store: StateStore, head: Head, *records: bytes, snapshot: bytes | None = None) -> Head:
    """Claim the branch with the first record, write the rest, and let it rest again."""
    guard = Unchanged(head.no, head.epoch, head.sequence)
    receipt = done(store, write(guard, thread=head.thread_id, branch=head.branch_id, record=records[0]))
    for record in records[1:]:
        receipt = go_on(store, receipt, branch=head.branch_id, record=record)
    go_on(store, receipt, Status.READY, branch=head.branch_id, record=b"rest", snapshot=snapshot)
    return seen(store, head.thread_id, head.branch_id).head


@pytest.fixture
def main(store: StateStore) -> Head:
    """A thread of five records; after the third comes a snapshot."""
    receipt = begin(store, record=b"1")
    for number in range(2, 6):
        status = Status.READY if number == 5 else Status.RUNNING
        snapshot = b"=3" if number == 3 else None
        receipt = go_on(store, receipt, status, record=b"%d" % number, snapshot=snapshot)
    return seen(store).head


def test_a_fork_begins_with_its_parents_records(store: StateStore, main: Head) -> None:
    side = fork(store, main, 2, "side")
    stored = seen(store, branch="side")
    assert bodies(stored) == [b"1", b"2", b"fork"]
    assert [record.branch_no for record in stored.records] == [main.no, main.no, side.no]
    assert side.sequence == 3


def test_a_fork_goes_on_from_where_it_left_its_parent(store: StateStore, main: Head) -> None:
    grown = grow(store, fork(store, main, 2, "side"), b"A", b"B")
    assert grown.sequence == 6
    assert bodies(seen(store, branch="side")) == [b"1", b"2", b"fork", b"A", b"B", b"rest"]
    assert [record.sequence for record in seen(store, branch="side").records] == [1, 2, 3, 4, 5, 6]


def test_a_fork_leaves_its_parent_as_it_was(store: StateStore, main: Head) -> None:
    before = seen(store)
    grow(store, fork(store, main, 2, "side"), b"A", snapshot=b"=A")
    assert seen(store) == before


def test_what_the_parent_writes_later_is_not_the_forks(store: StateStore, main: Head) -> None:
    fork(store, main, 5, "side")
    grow(store, main, b"6")
    assert bodies(seen(store, branch="side"))[-2:] == [b"5", b"fork"]


def test_a_snapshot_that_the_parent_made_after_the_fork_does_not_count(store: StateStore, main: Head) -> None:
    fork(store, main, 2, "side")
    assert seen(store, branch="side").snapshot is None


def test_a_fork_after_a_snapshot_reads_from_it(store: StateStore, main: Head) -> None:
    grow(store, fork(store, main, 4, "side"), b"A")
    stored = seen(store, branch="side")
    assert (stored.snapshot, stored.snapshot_sequence) == (b"=3", 3)
    assert bodies(stored) == [b"4", b"fork", b"A", b"rest"]


def test_a_forks_own_snapshot_wins(store: StateStore, main: Head) -> None:
    grow(store, fork(store, main, 4, "side"), b"A", snapshot=b"=side")
    stored = seen(store, branch="side")
    assert (stored.snapshot, stored.snapshot_sequence, stored.records) == (b"=side", 7, ())


def test_a_fork_of_a_fork_reads_through_both(store: StateStore, main: Head) -> None:
    side = grow(store, fork(store, main, 2, "side"), b"A", b"B")
    deep = grow(store, fork(store, side, 4, "deep"), b"C")
    stored = seen(store, branch="deep")
    assert bodies(stored) == [b"1", b"2", b"fork", b"A", b"fork", b"C", b"rest"]
    assert [record.branch_no for record in stored.records] == [main.no] * 2 + [side.no] * 2 + [deep.no] * 3


def test_a_fork_of_a_fork_before_the_first_fork_skips_it(store: StateStore, main: Head) -> None:
    side = grow(store, fork(store, main, 3, "side"), b"A")
    grow(store, fork(store, side, 1, "deep"), b"B")
    assert bodies(seen(store, branch="deep")) == [b"1", b"fork", b"B", b"rest"]


@pytest.mark.parametrize(
    ("upto", "snapshot", "records"),
    [(1, None, [b"1"]), (2, None, [b"1", b"2"]), (4, b"=3", [b"4"]), (6, b"=3", [b"4", b"fork", b"A"])],
)
def test_a_fork_is_read_at_any_record_of_its_lineage(
    store: StateStore, main: Head, upto: int, snapshot: bytes | None, records: list[bytes]
) -> None:
    grow(store, fork(store, main, 4, "side"), b"A")
    stored = seen(store, branch="side", upto=upto)
    assert stored.snapshot == snapshot
    assert bodies(stored) == records


def test_a_record_of_the_parent_beyond_the_fork_is_unknown(store: StateStore, main: Head) -> None:
    fork(store, main, 2, "side")
    with pytest.raises(UnknownEventError):
        store.read("t", "side", 4)


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_run_through_the_lineage(store: StateStore, main: Head, limit: int) -> None:
    side = grow(store, fork(store, main, 2, "side"), b"A", b"B")
    grow(store, fork(store, side, 4, "deep"), b"C")
    paged: list[Record] = []
    after = 0
    while page := store.records("t", "deep", after=after, limit=limit):
        assert len(page) <= limit
        paged.extend(page)
        after = page[-1].sequence
    assert [record.body for record in paged] == [b"1", b"2", b"fork", b"A", b"fork", b"C", b"rest"]


def test_a_fork_has_questions_of_its_own(store: StateStore) -> None:
    pause(store, "a:x")
    side = fork(store, seen(store).head, 2, "side")
    assert seen(store, branch="side").questions == ()
    guard = Unchanged(side.no, side.epoch, side.sequence)
    done(store, write(guard, Status.INTERRUPTED, branch="side", opens=(question("b:y"),)))
    assert [row.key for row in seen(store).questions] == ["a:x"]
    assert [row.key for row in seen(store, branch="side").questions] == ["b:y"]


def test_a_fork_is_claimed_at_its_own_last_record_alone(store: StateStore, main: Head) -> None:
    side = fork(store, main, 2, "side")
    for sequence in (1, 2, 4):
        refused(store, write(Unchanged(side.no, side.epoch, sequence), branch="side"))
