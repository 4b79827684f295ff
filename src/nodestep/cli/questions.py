"""An open question as the command line shows it, and the command that answers it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..model.interrupt import Interrupt
from ..model.limits import to_json
from .approval import WORDS, call_of, told_call
from .safe_text import cut, name, shown, shown_json, shown_lines
from .screen import Screen
from .shell import command
from .times import age, iso

SHOWN_CHARACTERS: Final = 2000
SHOWN_LINES: Final = 40
MAIN: Final = "main"


@dataclass(frozen=True, slots=True)
class Place:
    """A branch of a thread, in the store of this file; `None` is a store that has no path, the graph's own."""

    store: str | None
    thread_id: str
    branch_id: str = MAIN

    @property
    def options(self) -> dict[str, object]:
        """The options that name store and branch."""
        return {"--store": self.store, "--branch": None if self.branch_id == MAIN else self.branch_id}


def answer_command(place: Place, question: Interrupt) -> str:
    """The command that answers the question, and no other that may come after it."""
    value = "VALUE" if call_of(question) is None else "DECISION"
    return command("answer", {**place.options, "--pause": question.pause}, place.thread_id, question.key, value)


def what_value_is(questions: Sequence[Interrupt]) -> str:
    """What may be written for VALUE in the commands that answer these questions."""
    calls = sum(call_of(question) is not None for question in questions)
    typed = any(question.answer_schema is not None for question in questions)
    value = f"VALUE is text{', or what its question takes' if typed else ''}; write -j before it for JSON."
    return " ".join([*([value] if calls < len(questions) else []), *([WORDS] if calls else [])])


def run_command(place: Place, target: str, **more: object) -> str:
    """The command that continues the thread."""
    options = {f"--{option}": value for option, value in more.items()}
    return command("run", {**place.options, "--thread": place.thread_id, **options}, first=target)


def has_expired(question: Interrupt, now_ms: int) -> bool:
    """Whether the question's deadline has passed by the store's clock."""
    return question.expires_at is not None and question.expires_at.timestamp() * 1000 <= now_ms


def show_question(
    screen: Screen,
    question: Interrupt,
    place: Place,
    *,
    now_ms: int | None = None,
    full: bool = False,
    rejected: str | None = None,
) -> None:
    """The question's key, its pause, its payload and the type of its answer; with the store's clock, its age as well.
    `rejected` tells why an earlier answer was not taken."""
    screen.say("  asks ", (name(question.key), "bold"), f" ({', '.join(_told(question, now_ms))})")
    call = call_of(question)
    if call is not None:
        screen.say(f"    {told_call(call)}")
    lines, hidden = payload_lines(question.payload if call is None else call["arguments"], full=full)
    screen.quote(lines, indent="    ")
    if hidden:
        screen.say(f"    {hidden:,} more characters are not shown. To see them all:")
        if place.store is not None:
            screen.type(
                command("pending", {**place.options, "--thread": place.thread_id, "--full": True}), indent="    "
            )
    if question.answer_schema is not None:
        from .schema import Schema

        screen.say("    takes ", Schema(question.answer_schema).whole_words(question.answer_schema))
    if rejected is not None:
        screen.say("    ", ("the answer before was rejected", "bold red"), f": {shown(rejected)}")


def _told(question: Interrupt, now_ms: int | None) -> Iterator[str]:
    yield f"pause {question.pause}"
    if now_ms is not None and question.asked_at is not None:
        yield f"asked {age(question.asked_at, now_ms)}"
    if question.assignee is not None:
        yield f"for {name(question.assignee)}"
    if question.expires_at is not None:
        over = now_ms is not None and has_expired(question, now_ms)
        yield f"{'expired' if over else 'until'} {question.expires_at:%Y-%m-%d %H:%M} UTC"


def payload_lines(payload: Any, *, full: bool) -> tuple[list[str], int]:
    """A payload as safe lines, text as itself and anything else as JSON; and how many characters were left out."""
    if isinstance(payload, str):
        head, hidden = _head(payload, full)
        return shown_lines(head), hidden
    head, hidden = _head(shown_json(to_json(payload, "the payload"), indent=2), full)
    return head.split("\n"), hidden


def _head(text: str, full: bool) -> tuple[str, int]:
    return (text, 0) if full else cut(text, characters=SHOWN_CHARACTERS, lines=SHOWN_LINES)


def show_state(screen: Screen, state: Mapping[str, Any], *, full: bool = False) -> None:
    """A state as JSON behind bars."""
    head, hidden = _head(json_text(state), full)
    screen.quote(head.split("\n"))
    if hidden:
        screen.say(f"  {hidden:,} more characters are not shown; --json shows the whole state.")


def json_text(value: Any) -> str:
    """A value as safe, indented JSON."""
    return shown_json(json.loads(json.dumps(value)), indent=2)


def question_to_json(question: Interrupt) -> dict[str, Any]:
    """The question for a program."""
    return {
        "thread_id": question.thread_id,
        "branch_id": question.branch_id,
        "graph": question.graph,
        "key": question.key,
        "id": question.id,
        "node": question.node,
        "task_id": question.task_id,
        "pause": question.pause,
        "payload": to_json(question.payload, "the payload"),
        "answer_schema": question.answer_schema,
        "assignee": question.assignee,
        "asked_at": iso(question.asked_at),
        "expires_at": iso(question.expires_at),
    }
