"""The events that users read, from the facts of each commit."""

from __future__ import annotations

from datetime import UTC, datetime

from nodestep.engine.replay import Checkpoint
from nodestep.engine.tell import tell
from nodestep.model.event import (
    Answered,
    Continued,
    Fact,
    HistoryEvent,
    OnceRecorded,
    Paused,
    RunCompleted,
    RunFailed,
    Started,
    SuperstepCompleted,
    TaskRecorded,
)
from nodestep.model.outcome import Asked, Done, Failed

from .making import question, tasks


def told(*commits: list[Fact], pauses: dict[int, int] | None = None) -> list[HistoryEvent]:
    """The events of the last of these commits."""
    checkpoint = Checkpoint()
    events: list[HistoryEvent] = []
    for sequence, facts in enumerate(commits, 1):
        events = tell(
            facts,
            checkpoint,
            thread_id="t",
            branch_id="main",
            branch_no=4,
            sequence=sequence,
            pause=(pauses or {}).get(sequence),
            at_ms=1000 * sequence,
        )
    return events


def types(events: list[HistoryEvent]) -> list[tuple[str, str | None]]:
    return [(event.type, event.node) for event in events]


START_ONE: list[Fact] = [Started("r1", {"set": {"total": 1}}, tasks("a"))]
START_TWO: list[Fact] = [Started("r1", {}, tasks("a", "b"))]


def test_a_turn_begins_with_its_run_and_input():
    (event,) = told(START_ONE)

    assert (event.type, event.data) == ("run_started", {"run_id": "r1", "input": {"set": {"total": 1}}})
    assert (event.id, event.sequence, event.created_at) == ("4-1", 1, datetime.fromtimestamp(1, UTC))
    assert (event.thread_id, event.branch_id) == ("t", "main")


def test_a_superstep_of_one_task_is_told_whole_by_its_one_commit():
    events = told(START_ONE, [SuperstepCompleted(tasks("b"), {"set": {"total": 2}})])

    assert types(events) == [("superstep_started", None), ("node_completed", "a"), ("superstep_completed", None)]
    assert events[0].data == {"superstep": 1, "tasks": ["a"]}
    assert events[1].data == {"set": {"total": 2}}
    assert events[2].data == {"superstep": 1, "next": ["b"]}


def test_the_last_event_of_a_commit_bears_its_id_and_the_others_a_part_of_it():
    events = told(START_ONE, [SuperstepCompleted(()), RunCompleted()])

    assert [event.id for event in events] == ["4-2.0", "4-2.1", "4-2.2", "4-2"]
    assert {event.sequence for event in events} == {2}


def test_a_superstep_of_several_tasks_begins_with_the_first_that_is_recorded():
    first = told(START_TWO, [TaskRecorded("b", Done())])
    rest = told(START_TWO, [TaskRecorded("b", Done())], [TaskRecorded("a", Done()), SuperstepCompleted(())])

    assert types(first) == [("superstep_started", None), ("node_completed", "b")]
    assert types(rest) == [("node_completed", "a"), ("superstep_completed", None)]


def test_a_recorded_lone_task_is_not_told_twice():
    events = told(START_ONE, [TaskRecorded("a", Done({"set": {"total": 2}})), SuperstepCompleted(())])

    assert types(events) == [("superstep_started", None), ("node_completed", "a"), ("superstep_completed", None)]


def test_a_pause_tells_its_questions_and_its_number():
    asks = Asked((question("x", "X?"), question("y", "Y?")))
    events = told(START_ONE, [TaskRecorded("a", asks), Paused()], pauses={2: 9})

    assert types(events) == [("superstep_started", None), ("interrupted", "a")]
    assert events[-1].data == {"pause": 9, "questions": {"a:x": "X?", "a:y": "Y?"}}


def test_a_failure_beside_a_question_tells_both():
    asks = Asked((question("x", "X?"),))
    facts: list[Fact] = [
        TaskRecorded("a", asks),
        TaskRecorded("b", Failed("ValueError", "no")),
        RunFailed("E", "no", "b"),
    ]
    events = told(START_TWO, facts, pauses={2: 9})

    assert types(events) == [("superstep_started", None), ("interrupted", "a"), ("superstep_failed", "b")]
    assert (events[-1].error_type, events[-1].message) == ("E", "no")


def test_an_answer_tells_who_why_and_from_where_and_the_run_goes_on():
    pause: list[Fact] = [TaskRecorded("a", Asked((question("x"),))), Paused()]
    answer = Answered({"a:x": True}, "anna", "fine", "cli")
    events = told(START_ONE, pause, [answer, Continued("r2")], pauses={2: 9})

    assert types(events) == [("answered", None), ("run_started", None)]
    assert events[0].data == {"answers": {"a:x": True}, "by": "anna", "note": "fine", "source": "cli"}
    assert events[1].data == {"run_id": "r2", "continued": True}


def test_a_superstep_that_runs_again_is_not_told_to_start_again():
    asks = TaskRecorded("a", Asked((question("x"),)))
    answer: list[Fact] = [Answered({"a:x": True}), Continued("r2")]
    events = told(
        START_ONE, [asks, Paused()], answer, [TaskRecorded("a", Done()), SuperstepCompleted(())], pauses={2: 9}
    )

    assert types(events) == [("node_completed", "a"), ("superstep_completed", None)]


def test_what_only_the_engine_needs_is_no_event():
    assert told(START_ONE, [OnceRecorded("a", "pay", 1)]) == []
