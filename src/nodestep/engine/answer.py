"""Answers against open questions. Everything is checked here, before anything is written or run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InterruptExpiredError, LimitExceededError, ResumeError, StateStoreError, did_you_mean
from ..model.answers import Misfit, by_schema_names, check_answer
from ..model.interrupt import Resume
from ..model.json import Json
from ..model.limits import to_json
from ..model.position import OpenQuestion, Position


class NotOpen(ResumeError):  # noqa: N818 - a finding on its way to where who was first is known
    """An answer to a question that is not open, or no longer the one that was shown: somebody may have been first. Callers
    get a plain ResumeError."""


def open_and_expired(position: Position, now_ms: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys of the questions that wait for an answer, and of those whose deadline has passed by the store's clock."""
    still: list[str] = []
    expired: list[str] = []
    for key, found in position.open_questions().items():
        deadline = found.question.expires_at_ms
        (still if deadline is None or now_ms < deadline else expired).append(key)
    return tuple(still), tuple(expired)


def check_answers(position: Position, resume: Resume, now_ms: int) -> dict[str, Json]:
    """The answers of a resume as JSON by key. It must answer every question that still waits, and nothing else; where only
    expired ones are left, it raises InterruptExpiredError."""
    questions, expired = open_and_expired(position, now_ms)
    if resume.answers is None:
        if not questions:
            raise InterruptExpiredError(
                f"The deadline of {_names(expired)} has passed, so the answer was not recorded. Nothing ran."
            )
        if len(questions) > 1:
            raise ResumeError(
                f"{len(questions)} questions are open, and one value cannot answer them: {_names(questions)}. Nothing ran. "
                "Write Resume(answers={key: value, ...})."
            )
        given: Mapping[str, Any] = {questions[0]: resume.value}
    else:
        given = resume.answers
    answers = check_some(position, given, resume.pause, now_ms)
    missing = [key for key in questions if key not in answers]
    if missing:
        raise ResumeError(
            f"Resume(answers=...) must answer every open question; missing: {_names(missing)}. Nothing ran. To collect "
            "answers one by one, use graph.answer(...)."
        )
    return answers


def check_some(
    position: Position, given: Mapping[str, Any], pause: int | Mapping[str, int] | None, now_ms: int
) -> dict[str, Json]:
    """Answers to some of the open questions, as JSON by key.

    Raises ResumeError for a key that is not open, a question of another pause, a value that is no JSON or does not fit the
    question's schema; InterruptExpiredError for a question past its deadline; LimitExceededError for a value too large.
    """
    asked = position.open_questions()
    questions, expired = open_and_expired(position, now_ms)
    for key in given:
        if key in expired:
            raise InterruptExpiredError(
                f"The deadline of {key!r} has passed, so the answer was not recorded. Nothing ran."
            )
        if key not in questions:
            raise NotOpen(
                f"No open question has the key {key!r}. Nothing ran. Open: {_names(questions) or 'none'}."
                f"{did_you_mean(key, questions) if isinstance(key, str) else ''}"
            )
    _check_pause(position, given, pause)
    return {key: _checked(asked[key], value) for key, value in given.items()}


def _check_pause(position: Position, given: Mapping[str, Any], pause: int | Mapping[str, int] | None) -> None:
    if pause is None:
        return
    for key in pause if isinstance(pause, Mapping) else ():
        if key not in given:
            raise ResumeError(
                f"pause= names {key!r}, which is not answered here. Answered: {_names(tuple(given))}. Nothing ran."
            )
    for key in given:
        expected = pause.get(key) if isinstance(pause, Mapping) else pause
        actual = position.listed[key].pause
        if expected is not None and expected != actual:
            raise NotOpen(
                f"The answer to {key!r} was meant for pause {expected}, and the question open now is of pause {actual}. "
                "Nothing was recorded: read the question again and answer that one."
            )


def _checked(asked: OpenQuestion, value: Any) -> Json:
    try:
        schema = asked.question.answer_schema
        answer = to_json(value if schema is None else by_schema_names(value), f"the answer to {asked.key!r}")
        if schema is not None:
            check_answer(answer, schema)
    except LimitExceededError:
        raise
    except StateStoreError as error:
        raise ResumeError(f"{error} Nothing ran.") from None
    except Misfit as error:
        is_map = isinstance(value, Mapping) and asked.key in value
        hint = " To answer by key, write Resume(answers={key: value, ...})." if is_map else ""
        raise ResumeError(
            f"The answer to {asked.key!r} does not fit its question: {error}. Nothing was recorded.{hint}"
        ) from None
    return answer


def _names(keys: tuple[str, ...] | list[str]) -> str:
    return ", ".join(map(repr, keys))
