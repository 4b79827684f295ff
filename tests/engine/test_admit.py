"""The lifecycle of a branch: which call may go on where."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from nodestep import Resume, ResumeError, UnknownThreadError
from nodestep.engine.admit import GoOn, StartTurn, admit, admit_unknown
from nodestep.model.position import Conflict, Position
from nodestep.model.status import Status

from .making import DONE, FAILED, asked, frame, position

ASKS = frame("a", "b", work={"a": asked("ok"), "b": DONE})
PAUSED = position(ASKS, {"a:ok": 7}, status=Status.INTERRUPTED)
ANSWERED = position(frame("a", work={"a": replace(asked("ok"), answers={"ok": "yes"})}), status=Status.READY)
BROKEN = position(frame("a", "b", work={"a": FAILED, "b": DONE}), status=Status.FAILED)
CUT_OFF = position(frame("a", "b", work={"a": asked("ok")}), status=Status.UNFINISHED)
BROKEN_BESIDE_A_QUESTION = position(
    frame("a", "b", work={"a": asked("ok"), "b": FAILED}), {"a:ok": 7}, status=Status.FAILED
)
UNMERGEABLE = position(
    frame("a", "b", work={"a": DONE, "b": DONE}), conflict=Conflict("total", ("a", "b")), status=Status.FAILED
)
COMPLETED = position(frame(superstep=3), status=Status.COMPLETED)
CANCELLED = position(frame(superstep=3), status=Status.CANCELLED)


def call(at: Position, given: bool = False, resume: Resume | None = None):
    return admit("order-17", at.status, at, 0, given, resume)


@pytest.mark.parametrize("at", [ANSWERED, BROKEN, CUT_OFF, BROKEN_BESIDE_A_QUESTION])
def test_what_is_unfinished_goes_on(at):
    assert call(at) == GoOn({})


@pytest.mark.parametrize("at", [BROKEN, CUT_OFF, UNMERGEABLE, COMPLETED, CANCELLED])
def test_a_new_input_starts_a_turn_where_nothing_is_asked(at):
    assert call(at, given=True) == StartTurn()


@pytest.mark.parametrize("at", [PAUSED, BROKEN_BESIDE_A_QUESTION])
def test_an_answer_goes_on_where_a_question_is_shown(at):
    assert call(at, resume=Resume("yes")) == GoOn({"a:ok": "yes"})
    assert call(at, resume=Resume(answers={"a:ok": None})) == GoOn({"a:ok": None})


REFUSED: dict[str, tuple[Any, ...]] = {
    "going on, paused": (PAUSED, {}, "paused", "'a:ok'", "Resume("),
    "going on, completed": (COMPLETED, {}, "completed", "new turn"),
    "going on, cancelled": (CANCELLED, {}, "cancelled"),
    "going on, unmergeable": (UNMERGEABLE, {}, "'total'", "'a', 'b'", "new input", "fork"),
    "input, paused": (PAUSED, {"given": True}, "'a:ok'", "only answers", "fork"),
    "input, failed beside a question": (BROKEN_BESIDE_A_QUESTION, {"given": True}, "'a:ok'"),
    "input, ready": (ANSWERED, {"given": True}, "invoke(None)", "not taken"),
    "answer, ready": (ANSWERED, {"resume": Resume(1)}, "ready", "waits for no answer"),
    "answer, failed": (BROKEN, {"resume": Resume(1)}, "failed", "invoke(None"),
    "answer, cut off before the question was shown": (CUT_OFF, {"resume": Resume(1)}, "waits for no answer"),
    "answer, completed": (COMPLETED, {"resume": Resume(1)}, "completed", "new turn"),
    "answer, cancelled": (CANCELLED, {"resume": Resume(1)}, "cancelled"),
    "answer, unmergeable": (UNMERGEABLE, {"resume": Resume(1)}, "waits for no answer"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_everything_else_is_refused_and_told_what_to_do(case):
    at, given, *words = REFUSED[case]
    with pytest.raises(ResumeError) as caught:
        call(at, **given)

    for word in ("'order-17'", *words):
        assert word in str(caught.value)


def test_an_unknown_branch_begins_with_an_input_on_main_alone():
    assert admit_unknown("t", "main", has_input=True) == StartTurn()
    for branch, has_input in (("main", False), ("other", True), ("other", False)):
        with pytest.raises(UnknownThreadError, match="'t'" if branch == "main" else "'other'.*'t'"):
            admit_unknown("t", branch, has_input)
