"""Which call may go on where: the lifecycle of a branch, as one table. Everything is refused before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ..errors import ResumeError, ThreadBusyError, UnknownThreadError
from ..model.interrupt import Resume
from ..model.json import Json
from ..model.position import Position
from .answer import check_answers


class Stands(Enum):
    """Where a branch stands, seen from a call."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    READY = "ready"
    UNFINISHED = "failed or cut off"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class StartTurn:
    """A new input begins a turn on the stored state."""


@dataclass(frozen=True, slots=True)
class GoOn:
    """The unfinished superstep continues, with these answers (JSON, by key) where the call brought some."""

    answers: Mapping[str, Json]


Admission: TypeAlias = StartTurn | GoOn


def admit_unknown(thread_id: str, branch_id: str, has_input: bool) -> StartTurn:
    """A call on a branch that the store does not have: only an input on `"main"` makes one."""
    if has_input and branch_id == "main":
        return StartTurn()
    raise UnknownThreadError(thread_id, branch_id)


def admit(thread_id: str, stands: Stands, position: Position, has_input: bool, resume: Resume | None) -> Admission:
    """What a call on a known branch does; raises ThreadBusyError or ResumeError where it may not."""
    if stands is Stands.RUNNING:
        raise ThreadBusyError(
            f"Another run works on thread {thread_id!r} right now. Nothing was written and nothing ran; call again when it "
            "has ended."
        )
    questions = position.open_questions()
    if resume is not None:
        if not questions:
            raise ResumeError(f"Thread {thread_id!r} waits for no answer: it is {stands.value}.{_instead(stands)}")
        return GoOn(check_answers(position, resume))
    if has_input:
        if questions:
            raise ResumeError(
                f"Thread {thread_id!r} is paused and takes only answers, not a new input. Open: "
                f"{', '.join(map(repr, questions))}. Answer with invoke(None, resume=Resume(...)), or fork the thread at an "
                "earlier event to start it over."
            )
        if stands is Stands.READY:
            raise ResumeError(
                f"Every question of thread {thread_id!r} is answered and it has not gone on yet. Continue it with "
                "invoke(None) first; the new input was not taken."
            )
        return StartTurn()
    if stands in (Stands.COMPLETED, Stands.CANCELLED):
        raise ResumeError(f"Thread {thread_id!r} is {stands.value}: there is nothing to go on with.{_instead(stands)}")
    if stands is Stands.INTERRUPTED:
        raise ResumeError(
            f"Thread {thread_id!r} is paused. Open: {', '.join(map(repr, questions))}. Answer with invoke(None, "
            "resume=Resume(...))."
        )
    if position.conflict is not None:
        field, nodes = position.conflict.field, ", ".join(map(repr, position.conflict.nodes))
        raise ResumeError(
            f"The last superstep of thread {thread_id!r} cannot merge: {nodes} wrote field {field!r}, whose reducer keeps "
            "one value. Start a turn with a new input, or fork the thread at an earlier event."
        )
    return GoOn({})


def _instead(stands: Stands) -> str:
    match stands:
        case Stands.COMPLETED | Stands.CANCELLED:
            return " Start a new turn with an input, as in invoke({...}, thread_id=...)."
        case _:
            return " Continue it with invoke(None, thread_id=...)."
