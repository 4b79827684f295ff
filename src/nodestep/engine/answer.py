"""Answers against open questions. Everything is checked here, before anything is written or run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import LimitExceededError, ResumeError, StateStoreError, did_you_mean
from ..model.interrupt import Resume
from ..model.json import Json
from ..model.limits import to_json
from ..model.position import Position


def check_answers(position: Position, resume: Resume) -> dict[str, Json]:
    """The answers of a resume as JSON by key. It must answer every open question, and nothing else."""
    questions = tuple(position.open_questions())
    if resume.answers is None:
        if len(questions) > 1:
            raise ResumeError(
                f"{len(questions)} questions are open, and one value cannot answer them: {_names(questions)}. Nothing ran. "
                "Write Resume(answers={key: value, ...})."
            )
        given: Mapping[str, Any] = {questions[0]: resume.value}
    else:
        given = resume.answers
    answers = check_some(position, given, resume.pause)
    missing = [key for key in questions if key not in answers]
    if missing:
        raise ResumeError(
            f"Resume(answers=...) must answer every open question; missing: {_names(missing)}. Nothing ran. To collect "
            "answers one by one, use graph.answer(...)."
        )
    return answers


def check_some(position: Position, given: Mapping[str, Any], pause: int | Mapping[str, int] | None) -> dict[str, Json]:
    """Answers to some of the open questions, as JSON by key. Raises ResumeError for a key that is not open, a question
    of another pause or a value that is no JSON, and LimitExceededError for one that is too large."""
    questions = tuple(position.open_questions())
    for key in given:
        if key not in questions:
            raise ResumeError(
                f"No open question has the key {key!r}. Nothing ran. Open: {_names(questions) or 'none'}."
                f"{did_you_mean(key, questions) if isinstance(key, str) else ''}"
            )
    _check_pause(position, given, pause)
    return {key: _normalized(key, value) for key, value in given.items()}


def _check_pause(position: Position, given: Mapping[str, Any], pause: int | Mapping[str, int] | None) -> None:
    if pause is None:
        return
    for key in given:
        expected = pause.get(key) if isinstance(pause, Mapping) else pause
        actual = position.listed[key].pause
        if expected is not None and expected != actual:
            raise ResumeError(
                f"The answer to {key!r} was meant for pause {expected}, and the question open now is of pause {actual}. "
                "Nothing was recorded: read the question again and answer that one."
            )


def _normalized(key: str, value: Any) -> Json:
    try:
        return to_json(value, f"the answer to {key!r}")
    except LimitExceededError:
        raise
    except StateStoreError as error:
        raise ResumeError(f"{error} Nothing ran.") from None


def _names(keys: tuple[str, ...] | list[str]) -> str:
    return ", ".join(map(repr, keys))
