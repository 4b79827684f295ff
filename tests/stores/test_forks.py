"""Making forks: where one may begin, and what it brings along."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodestep.stores.base import ForkOf, Head, StateStore, Status
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import (
    StillClock,
    begin,
    bodies,
    done,
    fork,
    go_on,
    pause,
    question,
    refused,
    seen,
    unchanged,
    write,
)

AT_REST = [status for status in Status if status is not Status.RUNNING]


@pytest.fixture
def main(store: StateStore) -> Head:
    """A running thread of three records."""
    receipt = begin(store, graph="Refund", record=b"1")
    for record in (b"2", b"3"):
        receipt = go_on(store, receipt, record=record)
    return seen(store).head


@pytest.mark.parametrize("sequence", [1, 2, 3])
def test_a_fork_goes_on_from_the_number_of_its_fork_point(store: StateStore, main: Head, sequence: int):
    receipt = done(store, write(ForkOf(main.no, sequence), Status.UNFINISHED, branch="side", record=b"fork"))
    assert receipt.sequence == sequence + 1
    assert bodies(seen(store, branch="side")) == [*[b"1", b"2", b"3"][:sequence], b"fork"]


def test_a_fork_bears_the_graph_of_its_parent_and_a_number_of_its_own(store: StateStore, main: Head):
    side = fork(store, main, 2, "side")
    assert side.graph == "Refund"
    assert side.no > main.no


@pytest.mark.parametrize("status", AT_REST)
def test_a_fork_has_the_status_it_is_given_and_no_lease(store: StateStore, main: Head, status: Status):
    side = fork(store, main, 2, "side", status=status)
    assert (side.status, side.live, side.epoch) == (status, False, 0)


def test_a_fork_may_be_claimed_as_it_is_made(store: StateStore, main: Head):
    receipt = done(store, write(ForkOf(main.no, 2), Status.RUNNING, branch="side"))
    assert receipt.epoch == 1
    assert seen(store, branch="side").head.live
    assert go_on(store, receipt, branch="side").sequence == 4


def test_a_fork_is_claimed_like_any_branch(store: StateStore, main: Head):
    receipt = done(store, write(ForkOf(main.no, 2), Status.UNFINISHED, branch="side"))
    claimed = done(store, write(unchanged(receipt), branch="side"))
    assert (claimed.sequence, claimed.epoch) == (4, 1)


def test_a_running_parent_goes_on_as_if_nothing_was(store: StateStore, main: Head):
    before = seen(store)
    fork(store, main, 3, "side")
    assert seen(store) == before


def test_questions_come_along_with_their_pause_and_their_time(store: StateStore, clock: StillClock):
    pause(store, "a:x", "b:y")
    asked = seen(store)
    clock.forward(60_000)
    fork(store, asked.head, 2, "side", status=Status.INTERRUPTED, opens=asked.questions)
    copied = seen(store, branch="side")
    assert copied.questions == asked.questions
    assert copied.records[-1].pause is None
    listed = [(item.branch_id, item.question) for item in store.questions()]
    assert listed == [
        ("main", asked.questions[0]),
        ("main", asked.questions[1]),
        ("side", asked.questions[0]),
        ("side", asked.questions[1]),
    ]


def test_a_fork_answers_its_questions_on_its_own(store: StateStore):
    pause(store, "a:x")
    asked = seen(store)
    side = fork(store, asked.head, 2, "side", status=Status.INTERRUPTED, opens=asked.questions)
    done(store, write(unchanged(side), Status.READY, branch="side", closes=("a:x",)))
    assert seen(store, branch="side").questions == ()
    assert seen(store).questions == asked.questions


def test_a_branch_that_exists_is_no_place_for_a_fork(store: StateStore, main: Head):
    side = fork(store, main, 2, "side")
    assert refused(store, write(ForkOf(main.no, 1), Status.READY, branch="side")).head == side
    assert refused(store, write(ForkOf(main.no, 1), Status.READY)).head == seen(store).head


@pytest.mark.parametrize("sequence", [-1, 0, 4, 1 << 40])
def test_there_is_no_fork_at_a_record_that_is_not_there(store: StateStore, main: Head, sequence: int):
    assert refused(store, write(ForkOf(main.no, sequence), Status.READY, branch="side")).head is None
    assert store.read("t", "side") is None


def test_there_is_no_fork_of_a_branch_that_is_gone(store: StateStore, main: Head):
    assert refused(store, write(ForkOf(main.no + 7, 1), Status.READY, branch="side")).head is None


def test_a_fork_belongs_to_the_thread_of_its_parent(store: StateStore, main: Head):
    assert refused(store, write(ForkOf(main.no, 1), Status.READY, thread="other", branch="side")).head is None
    assert store.read("other", "side") is None


def test_of_two_forks_of_one_name_in_one_list_one_is_made(store: StateStore, main: Head):
    answers = store.commit([write(ForkOf(main.no, n), Status.READY, branch="side") for n in (1, 2)])
    assert [type(answer).__name__ for answer in answers] == ["Receipt", "Refused"]
    assert seen(store, branch="side").head.sequence == 2


def test_a_fork_sees_what_its_list_wrote_before(store: StateStore, main: Head):
    first = write(ForkOf(main.no, 3), Status.READY, branch="side")
    second = write(ForkOf(main.no + 1, 4), Status.READY, branch="deep")
    store.commit([first, second])
    assert seen(store, branch="deep").head.sequence == 5


def test_a_pause_of_a_fork_has_a_number_of_its_own(store: StateStore):
    asked = pause(store, "a:x")
    kept = seen(store).questions
    side = fork(store, seen(store).head, 2, "side", status=Status.INTERRUPTED, opens=(*kept, question("b:y")))
    first, second = seen(store, branch=side.branch_id).questions
    assert (first.pause, second.key) == (asked.pause, "b:y")
    assert asked.pause is not None
    assert second.pause == asked.pause + 1


@pytest.mark.parametrize("records", [3, 300])
def test_a_fork_adds_its_row_its_record_and_its_questions(path: Path, records: int):
    with SQLiteStateStore(path) as store:
        receipt = begin(store)
        for _ in range(records - 2):
            receipt = go_on(store, receipt, snapshot=b"=")
        go_on(store, receipt, Status.INTERRUPTED, opens=(question("a:x"), question("b:y")))
        before = counts(store)
        asked = seen(store)
        fork(store, asked.head, records, "side", status=Status.INTERRUPTED, opens=asked.questions)
        after = counts(store)
    added = {table: after[table] - before[table] for table in after}
    assert added == {"branches": 1, "records": 1, "snapshots": 0, "questions": 2, "answers": 0, "sweeps": 0}


def counts(store: SQLiteStateStore) -> dict[str, int]:
    tables = ("branches", "records", "snapshots", "questions", "answers", "sweeps")
    raw = store._file._writing().raw
    return {table: raw.execute(f"SELECT count(*) FROM {table}").get for table in tables}
