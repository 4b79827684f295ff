"""Which call may go on where: the lifecycle of a branch, as one table. Everything is refused before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from ..errors import ResumeError, ThreadBusyError, UnknownThreadError
from ..model.interrupt import Resume
from ..model.json import Json
from ..model.outcome import NOTHING
from ..model.position import Position
from ..model.status import Status
from .answer import NotOpen, check_answers, open_and_expired


class StartTurn(Struct, frozen=True):
    """A new input begins a turn on the stored state."""


class GoOn(Struct, frozen=True):
    """The unfinished superstep continues: with the answers (JSON, by key) that the call brought, and these questions
    closed by their deadline."""

    answers: Mapping[str, Json] = NOTHING
    expired: tuple[str, ...] = ()


Admission: TypeAlias = StartTurn | GoOn


def admit_unknown(thread_id: str, branch_id: str, has_input: bool) -> StartTurn:
    """A call on a branch that the store does not have: only an input on `"main"` makes one."""
    if has_input and branch_id == "main":
        return StartTurn()
    raise UnknownThreadError(thread_id, branch_id)


def refuse_running(thread_id: str) -> ThreadBusyError:
    """The error for a call on a branch that another run works on."""
    return ThreadBusyError(
        f"Another run works on thread {thread_id!r} right now. Nothing was written and nothing ran; call again when it has "
        "ended."
    )


def admit(
    thread_id: str, status: Status, position: Position, now_ms: int, has_input: bool, resume: Resume | None
) -> Admission:
    """What a call does on a known branch that nobody works on; raises ResumeError where it may not. `now_ms` is the
    store's clock, by which questions expire."""
    questions, expired = open_and_expired(position, now_ms)
    if expired and not questions:
        status = Status.READY
    if resume is not None:
        if questions or expired:
            return GoOn(check_answers(position, resume, now_ms), expired)
        raise NotOpen(f"Thread {thread_id!r} waits for no answer: it is {status.value}.{_instead(status)}")
    if has_input:
        _check_takes_input(thread_id, status, questions)
        return StartTurn()
    if status in (Status.COMPLETED, Status.CANCELLED):
        raise ResumeError(f"Thread {thread_id!r} is {status.value}: there is nothing to go on with.{_instead(status)}")
    if status is Status.INTERRUPTED:
        raise ResumeError(
            f"Thread {thread_id!r} is paused. Open: {_names(questions)}. Answer with invoke(None, resume=Resume(...))."
        )
    if position.conflict is not None:
        raise ResumeError(
            f"The last superstep of thread {thread_id!r} cannot merge: {_names(position.conflict.nodes)} wrote field "
            f"{position.conflict.field!r}, whose reducer keeps one value. Start a turn with a new input, or fork the thread "
            "at an earlier event."
        )
    return GoOn(expired=expired)


def _check_takes_input(thread_id: str, status: Status, questions: tuple[str, ...]) -> None:
    if questions:
        raise ResumeError(
            f"Thread {thread_id!r} is paused and takes only answers, not a new input. Open: {_names(questions)}. Answer with "
            "invoke(None, resume=Resume(...)), or fork the thread at an earlier event to start it over."
        )
    if status is Status.READY:
        raise ResumeError(
            f"Every question of thread {thread_id!r} is answered and it has not gone on yet. Continue it with invoke(None) "
            "first; the new input was not taken."
        )


def _instead(status: Status) -> str:
    if status in (Status.COMPLETED, Status.CANCELLED):
        return " Start a new turn with an input, as in invoke({...}, thread_id=...)."
    return " Continue it with invoke(None, thread_id=...)."


def _names(keys: tuple[str, ...]) -> str:
    return ", ".join(map(repr, keys))
