"""What the tasks of an open superstep wait for."""

from __future__ import annotations

import pytest

from nodestep.engine.due import DueTask, Wait, due_tasks
from nodestep.model.outcome import Asked, Done, Failed, StoredQuestion
from nodestep.model.position import ROOT, Frame, Listing, Position, Task, Work

NOW_MS = 1_000
ASK = Asked((StoredQuestion("q", "?"),))


def standing(work=None, **listed):
    """A position with one due task, `a`."""
    frame = Frame(1, (Task("a", "a"),), {} if work is None else {"a": work})
    return Position({ROOT: frame}, {key: Listing(1, 0) for key in listed.get("keys", ("a:q",))})


@pytest.mark.parametrize(
    ("work", "wait", "keys"),
    [
        (None, Wait.DUE, ()),
        (Work(ASK), Wait.ASKS, ("a:q",)),
        (Work(ASK, answers={"q": "yes"}), Wait.DUE, ()),
        (Work(Asked((StoredQuestion("q", "?", expires_at_ms=NOW_MS),))), Wait.DUE, ()),
        (Work(Asked((StoredQuestion("q", "?", expires_at_ms=NOW_MS + 1),))), Wait.ASKS, ("a:q",)),
        (Work(Done()), Wait.DONE, ()),
        (Work(Failed("LookupError", "no")), Wait.FAILED, ()),
    ],
)
def test_a_task_waits_for_what_its_outcome_says(work, wait, keys):
    assert due_tasks(standing(work), NOW_MS) == (DueTask(Task("a", "a"), wait, keys),)


def test_a_question_that_no_pause_has_shown_is_not_waited_for():
    assert due_tasks(standing(Work(ASK), keys=()), NOW_MS)[0].wait is Wait.DUE


def test_tasks_come_in_scheduling_order_frame_by_frame():
    outer = Frame(1, (Task("b", "b"), Task("a", "a"), Task("a[1]", "a")))
    inner = Frame(3, (Task("c", "c"),), {"c": Work(ASK)})
    position = Position({ROOT: outer, "b": inner}, {"b/c:q": Listing(1, 0)})
    found = [(due.path, due.task.id, due.wait, due.keys) for due in due_tasks(position, NOW_MS)]
    assert found == [
        ("", "b", Wait.INSIDE, ()),
        ("", "a", Wait.DUE, ()),
        ("", "a[1]", Wait.DUE, ()),
        ("b", "c", Wait.ASKS, ("b/c:q",)),
    ]


def test_a_thread_at_its_end_waits_for_nothing():
    assert due_tasks(Position(), NOW_MS) == ()
