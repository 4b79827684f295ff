"""Answers as they stand on a command line, matched with the questions that are open.

Everything is checked here before a store is written: a key that is not open, a key that comes twice, a value for which
several questions wait, a value that is not of its question's type. Each refusal about keys names those that are open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from ..errors import did_you_mean
from ..model.interrupt import Interrupt
from .approval import call_of, checked_decision, read_decision
from .exits import Exit, Refusal
from .safe_text import name, shown
from .schema import Schema
from .values import Reader

LIKE_A_KEY: Final = 0.8
"""From this likeness on, a lone word with a colon is taken for a mistyped key rather than for a value."""


@dataclass(frozen=True, slots=True)
class Given:
    """What was given: values as typed, by key; without any, the questions to ask about."""

    raw: dict[str, str]
    to_ask: tuple[Interrupt, ...] = ()

    def values(self, questions: Sequence[Interrupt], *, as_json: bool) -> dict[str, Any]:
        """The values themselves, read from files and standard input where that is what was given. A question whose type
        takes no text gets the value of its type that the text stands for, and a tool call the decision in its words."""
        reader = Reader()
        schemas = {question.key: question.answer_schema for question in questions}
        calls = {question.key: call_of(question) for question in questions}
        values: dict[str, Any] = {}
        for key, raw in self.raw.items():
            what = f"the answer to {name(key)}"
            schema, call = schemas.get(key), calls.get(key)
            if as_json:
                value = reader.json(raw, what)
                values[key] = value if call is None else checked_decision(value, call, what)
            elif call is not None:
                values[key] = read_decision(reader.text(raw, what), call, what)
            else:
                text = reader.text(raw, what)
                values[key] = text if schema is None else _of_type(text, Schema(schema), what)
        return values


def _of_type(text: str, schema: Schema, what: str) -> Any:
    if schema.takes_text(schema.root):
        return text
    from .typed import Unreadable, read_line

    try:
        return read_line(schema, schema.root, text, what)
    except Unreadable as error:
        told = str(error)
        raise Refusal(f"{told[0].upper()}{told[1:].rstrip('.')}. Nothing was recorded.", Exit.REFUSED) from None


def read_given(words: Sequence[str], answers: Sequence[str], questions: Sequence[Interrupt]) -> Given:
    """The words behind THREAD and the `--answer` options, for these open questions."""
    pairs = [_pair(answer, questions) for answer in answers]
    match list(words):
        case []:
            if not pairs:
                return Given({}, tuple(questions))
        case [word] if not pairs:
            found = next((question for question in questions if question.key == word), None)
            if found is not None:
                return Given({}, (found,))
            pairs = [(_only_key(word, questions), word)]
        case [key, value]:
            pairs.insert(0, (key, value))
        case [_]:
            raise Refusal("Beside --answer KEY=VALUE, a value needs its key too: KEY VALUE.")
        case _:
            raise Refusal(
                f"{len(words)} words stand behind THREAD, and at most KEY and VALUE may. Quote a value that has blanks; give "
                "further answers as --answer KEY=VALUE."
            )
    return Given(_by_key(pairs, questions))


def _pair(answer: str, questions: Sequence[Interrupt]) -> tuple[str, str]:
    key, equals, value = answer.partition("=")
    if not equals:
        raise Refusal(f"--answer takes KEY=VALUE, not {name(answer)}. {_open(questions)}")
    return key, value


def _only_key(word: str, questions: Sequence[Interrupt]) -> str:
    if len(questions) > 1:
        raise Refusal(
            f"{len(questions)} questions are open, and one value cannot answer them. Write KEY VALUE. "
            f"{_open(questions)}{shown(did_you_mean(word, [question.key for question in questions]))}",
            Exit.REFUSED,
        )
    key = questions[0].key
    if ":" in word and get_close_matches(word, [key], n=1, cutoff=LIKE_A_KEY):
        raise Refusal(
            f"{name(word)} looks like a key, and the open one is {name(key)}. Write {name(key)} VALUE; if it is the answer, "
            f"give it as --answer {name(key)}=..."
        )
    return key


def _by_key(pairs: Sequence[tuple[str, str]], questions: Sequence[Interrupt]) -> dict[str, str]:
    keys = [question.key for question in questions]
    raw: dict[str, str] = {}
    for key, value in pairs:
        if key not in keys:
            near = shown(did_you_mean(key, keys))
            raise Refusal(f"No open question has the key {name(key)}. {_open(questions)}{near}", Exit.REFUSED)
        if key in raw:
            raise Refusal(f"{name(key)} is answered twice. Nothing was recorded. {_open(questions)}")
        raw[key] = value
    return raw


def read_pauses(pauses: Sequence[str], keys: Sequence[str], questions: Sequence[Interrupt]) -> dict[str, int]:
    """The `--pause` options by key, of the keys that are answered; a number alone stands for every key."""
    named: dict[str, int] = {}
    alone: int | None = None
    for pause in pauses:
        key, equals, number = pause.rpartition("=")
        if not (number.isascii() and number.isdigit()) or (not equals and alone is not None):
            raise Refusal(f"--pause takes one number, or KEY=N for each key, not {name(pause)}.")
        if not equals:
            alone = int(number)
        elif key not in keys or key in named:
            raise Refusal(f"--pause names {name(key)}, which is not answered here, or twice. {_open(questions)}")
        else:
            named[key] = int(number)
    return {key: named.get(key, alone) for key in keys if key in named or alone is not None}  # type: ignore[misc]


def _open(questions: Sequence[Interrupt]) -> str:
    """The open questions with their pauses, for an error; the pause that must be given with an answer to them."""
    return "Open: " + ", ".join(f"{name(question.key)} (pause {question.pause})" for question in questions) + "."
