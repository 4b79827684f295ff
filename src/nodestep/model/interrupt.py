"""A question as users hold it, and how they answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields
from datetime import datetime, timedelta
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .json import JsonObject
from .limits import check_id, check_json
from .value import Instruction, locked_object, locked_value

T = TypeVar("T")


class _Missing:
    def __repr__(self) -> str:
        return "<not given>"


MISSING: Final[Any] = _Missing()
"""Stands where a value was not given, since `None` is a value."""


@locked_value
class Question(Instruction):
    """A question for `interrupt_many`, with what `interrupt` takes beside its id.

    `answer` is the type of the answer, `expires` a duration or an aware instant after which it closes, `default` the answer
    it then takes, `assignee` who should answer; `None` for `answer`, `expires` and `assignee` means none.
    """

    payload: Any
    answer: Any = field(default=None, kw_only=True)
    expires: timedelta | datetime | None = field(default=None, kw_only=True)
    default: Any = field(default=MISSING, kw_only=True)
    assignee: str | None = field(default=None, kw_only=True)


_LATER: Final = "<later>"


@locked_object
class Interrupt:
    """An open question. `key` is `"<task_id>:<id>"`; `pause` numbers the pause that first showed it and is never given
    twice by a store, so an answer that carries it cannot meet another question. `thread_id` is empty where one was made by
    hand, and never in a result or a listing. Instants are UTC."""

    key: str
    id: str
    node: str
    task_id: str
    payload: Any
    thread_id: str = field(compare=False, repr=False)
    branch_id: str = field(compare=False, repr=False)
    graph: str | None = field(compare=False, repr=False)
    pause: int | None = field(compare=False)
    answer_schema: JsonObject | None = field(compare=False, repr=False)
    assignee: str | None = field(compare=False, repr=False)
    asked_at: datetime | None = field(compare=False, repr=False)
    expires_at: datetime | None = field(compare=False, repr=False)

    def __init__(
        self,
        key: str,
        id: str,
        node: str,
        task_id: str,
        payload: Any,
        thread_id: str = "",
        branch_id: str = "main",
        graph: str | None = None,
        pause: int | None = None,
        answer_schema: JsonObject | None = None,
        assignee: str | None = None,
        asked_at: datetime | None = None,
        expires_at: datetime | None = None,
    ) -> None:
        vars(self).update(
            key=key,
            id=id,
            node=node,
            task_id=task_id,
            payload=payload,
            thread_id=thread_id,
            branch_id=branch_id,
            graph=graph,
            pause=pause,
            answer_schema=answer_schema,
            assignee=assignee,
            asked_at=asked_at,
            expires_at=expires_at,
        )

    @classmethod
    def later(cls, make: Callable[[T], Interrupt], sources: Iterable[T]) -> tuple[Interrupt, ...]:
        """What `make` returns of each source, made when a field is first read: an inbox lists many questions and shows
        few."""
        sources = tuple(sources)
        questions = tuple(map(cls.__new__, repeat(cls, len(sources))))
        for question, source in zip(questions, sources, strict=True):
            vars(question)[_LATER] = make, source
        return questions

    def __reduce__(self) -> tuple[Any, ...]:
        return Interrupt, tuple(getattr(self, each.name) for each in fields(self))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            own = vars(self)
            later = own.get(_LATER)
            if later is not None:
                make, source = later
                own.update(vars(make(source)))
                own.pop(_LATER, None)
            if name in own:
                return own[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def check_pause(pause: Any) -> None:
    """Raises TypeError for anything but a pause number, a mapping from question key to one, or `None`."""
    if pause is None:
        return
    numbers = pause.values() if isinstance(pause, Mapping) else (pause,)
    if not all(type(number) is int for number in numbers):
        raise TypeError("pause= takes the number of a pause, or {key: number}, as a question's `pause` tells it.")


def check_by_and_note(by: Any, note: Any) -> None:
    """Raises TypeError for what is no text, LimitExceededError for text that cannot be stored or is too long."""
    for name, text in (("by", by), ("note", note)):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{name}= takes a text, not {type(text).__name__}.")
    if by is not None:
        check_id("by", by)
    if note is not None:
        check_json(note, what="note=")


class Resume(Instruction):
    """Answers for a paused thread: `Resume(value)` for its only question, or `Resume(answers={key: value, ...})`.

    `by` and `note` are kept with the answer; `pause` (a number, or `{key: number}`) refuses the answer when the question
    it meets belongs to another pause. Raises TypeError for neither or both of value and answers.
    """

    __slots__ = ("answers", "by", "note", "pause", "value")

    def __init__(
        self,
        value: Any = MISSING,
        /,
        *,
        answers: Mapping[str, Any] | None = None,
        pause: int | Mapping[str, int] | None = None,
        by: str | None = None,
        note: str | None = None,
    ) -> None:
        if (value is MISSING) == (answers is None):
            raise TypeError(
                "Resume takes one of two forms: Resume(value) answers the only open question, "
                "Resume(answers={key: value, ...}) answers each by its key."
            )
        if answers is not None and not isinstance(answers, Mapping):
            raise TypeError(f"Resume(answers=...) takes a mapping from key to value, not {type(answers).__name__}.")
        check_pause(pause)
        check_by_and_note(by, note)
        self.value = value
        self.answers = None if answers is None else dict(answers)
        self.pause = pause
        self.by = by
        self.note = note

    def __repr__(self) -> str:
        return "Resume(...)" if self.answers is None else f"Resume(answers={{{', '.join(map(repr, self.answers))}}})"
