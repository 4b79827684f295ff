"""What is stored reads back as the state and the position of the run that wrote it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep import StoreCorruptedError
from nodestep.engine.replay import (
    Checkpoint,
    record_from_bytes,
    record_to_bytes,
    snapshot_from_bytes,
    snapshot_to_bytes,
)
from nodestep.model.event import (
    Answered,
    Continued,
    Fact,
    OnceRecorded,
    Paused,
    RunCompleted,
    RunFailed,
    Started,
    SuperstepCompleted,
    TaskRecorded,
)
from nodestep.model.outcome import Asked, Done, Failed, StoredQuestion, Target
from nodestep.model.position import Conflict, Task, tasks_of

from .making import asked, frame, position, replayed

Commit = tuple[list[Fact], int | None]
words = st.sampled_from(["x", "y", "z"])
patches: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "set": st.dictionaries(st.sampled_from(["total", "name"]), st.integers(0, 9) | words, max_size=2),
        "append": st.fixed_dictionaries({"log": st.lists(words, max_size=2)}),
        "merge": st.fixed_dictionaries({"notes": st.dictionaries(words, words, max_size=2)}),
        "messages": st.fixed_dictionaries(
            {"chat": st.lists(words | st.fixed_dictionaries({"id": words, "content": words}), max_size=2)}
        ),
    },
)
targets = st.builds(Target, st.sampled_from("abcd"), st.none() | st.fixed_dictionaries({"total": st.integers(0, 9)}))
marks = st.none() | st.dictionaries(st.sampled_from("de"), st.just(("b",)) | st.just(("b", "c")), max_size=2)
small = st.dictionaries(words, words, max_size=2)


ENDS: list[list[Fact]] = [[], [RunCompleted()], [RunFailed("E", "no", None, Conflict("n", ("a", "b")))]]


@st.composite
def histories(draw: st.DrawFn) -> list[Commit]:
    """A run as a store keeps it: turns, supersteps, pauses, answers, failures."""
    commits: list[Commit] = []
    pause = 0

    def record(*facts: Fact, opens: bool = False) -> None:
        nonlocal pause
        pause += opens
        commits.append((list(facts), pause if opens else None))

    for turn in range(draw(st.integers(1, 2))):
        due = tasks_of(draw(st.lists(targets, min_size=1, max_size=3)))
        record(Started(f"r{turn}", draw(patches), due))
        for _ in range(draw(st.integers(0, 3))):
            _superstep(draw, record, due)
            due = tasks_of(draw(st.lists(targets, min_size=1, max_size=3)))
            record(SuperstepCompleted(due, draw(patches), draw(marks)))
        record(*draw(st.sampled_from(ENDS)))
    return commits


def _superstep(draw: st.DrawFn, record: Any, due: tuple[Task, ...]) -> None:
    for task in due:
        for _ in range(draw(st.integers(0, 1))):
            record(OnceRecorded(task.id, draw(words), draw(words)))
        match draw(st.sampled_from(["nothing", "done", "fails", "asks"])):
            case "done":
                record(TaskRecorded(task.id, Done(draw(patches), None, draw(small))))
            case "fails":
                record(
                    TaskRecorded(task.id, Failed("E", "no", draw(small), draw(small))), RunFailed("E", "no", task.node)
                )
                record(Continued("again"))
            case "asks":
                ids = draw(st.lists(words, min_size=1, max_size=2, unique=True))
                asks = Asked(tuple(StoredQuestion(id, "?") for id in ids), {}, draw(st.none() | small))
                record(TaskRecorded(task.id, asks), Paused(), opens=True)
                record(Answered({f"{task.id}:{id}": draw(words) for id in ids}), Continued("on"))


@given(histories(), st.data())
def test_a_snapshot_and_the_rest_amount_to_the_whole(history, data):
    k = data.draw(st.integers(0, len(history)))
    before, whole = replayed(history[:k]), replayed(history)

    resumed = snapshot_from_bytes(snapshot_to_bytes(before))
    assert (resumed.state, resumed.position) == (before.state, before.position)
    for sequence, (facts, pause) in enumerate(history[k:], k + 1):
        resumed.apply(facts, pause, 1000 * sequence)

    assert resumed.state == whole.state
    assert resumed.position == whole.position


@given(histories())
def test_stored_records_amount_to_the_same(history):
    stored = [(record_from_bytes(record_to_bytes(facts)), pause) for facts, pause in history]

    assert replayed(stored).state == replayed(history).state
    assert replayed(stored).position == replayed(history).position


def test_replaying_owns_what_it_makes():
    patch: dict[str, dict[str, Any]] = {"append": {"log": [["x"]]}, "set": {"notes": {"a": ["b"]}}}
    history: list[Commit] = [([Started("r", patch, ())], None)]
    first = replayed(history)
    first.state["log"][0].append("spoilt")
    first.state["notes"]["a"].append("spoilt")

    assert replayed(history).state == {"log": [["x"]], "notes": {"a": ["b"]}}


def test_tasks_merge_by_node_name_whenever_they_were_recorded():
    history: list[Commit] = [
        ([Started("r", {}, tasks_of([Target("z"), Target("a")]))], None),
        ([TaskRecorded("z", Done({"append": {"log": ["z"]}}))], None),
        ([TaskRecorded("a", Done({"append": {"log": ["a"]}})), SuperstepCompleted(())], None),
    ]

    assert replayed(history).state == {"log": ["a", "z"]}


def test_nothing_of_a_superstep_is_in_the_state_before_it_merged():
    history: list[Commit] = [
        ([Started("r", {"set": {"total": 1}}, tasks_of([Target("a"), Target("b")]))], None),
        ([TaskRecorded("a", Done({"set": {"total": 2}}))], None),
    ]

    assert replayed(history).state == {"total": 1}


def test_a_question_keeps_the_number_of_the_pause_that_first_showed_it():
    def asks(task: str) -> TaskRecorded:
        return TaskRecorded(task, Asked((StoredQuestion("ok", "?"),)))

    history: list[Commit] = [
        ([Started("r", {}, tasks_of([Target("a"), Target("b")]))], None),
        ([asks("a"), TaskRecorded("b", Failed("E", "no")), RunFailed("E", "no")], 5),
        ([Continued("r2")], None),
        ([asks("b"), Paused()], 8),
    ]

    listed = replayed(history).position.listed
    assert {key: (listing.pause, listing.asked_at_ms) for key, listing in listed.items()} == {
        "a:ok": (5, 2000),
        "b:ok": (8, 4000),
    }


def test_a_new_turn_forgets_what_the_unfinished_one_had_recorded():
    history: list[Commit] = [
        ([Started("r", {}, tasks_of([Target("a")]))], None),
        ([OnceRecorded("a", "pay", 1), TaskRecorded("a", Failed("E", "no", {}, {"k": 1})), RunFailed("E", "no")], None),
        ([Started("r2", {}, tasks_of([Target("a")]))], None),
    ]

    assert replayed(history).position.root == frame("a", superstep=2)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"{}", b'{"state":{},"frames":{"":{}},"listed":{},"conflict":null}']
)
def test_a_snapshot_that_cannot_be_read_is_corrupted(body):
    with pytest.raises(StoreCorruptedError):
        snapshot_from_bytes(body)


def test_a_position_with_everything_in_it_survives_a_snapshot():
    at = position(
        frame(("a", {"n": 1}), "b", superstep=7, work={"a": asked("x")}, marks={"d": ("b",)}),
        {"a:x": 3},
        conflict=Conflict("n", ("a", "b")),
    )

    assert snapshot_from_bytes(snapshot_to_bytes(Checkpoint({"n": [1]}, at))).position == at
