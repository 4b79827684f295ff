"""A person at the terminal, asked: what is typed, shown back, and sent only when it is confirmed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..model.interrupt import Interrupt
from .approval import ask_decision, call_of, will_run
from .exits import Exit, Refusal
from .prompts import LeftOpen, agreed, as_json, editable, line, yes
from .questions import Place, answer_command, json_text, show_question
from .safe_text import name
from .screen import Screen
from .values import described

INDENT = "    "


@dataclass(frozen=True, slots=True)
class Answers:
    """What a person decided, by question key, and the pause in which each question was shown."""

    values: Mapping[str, Any]
    pauses: Mapping[str, int | None]

    @property
    def seen(self) -> dict[str, int]:
        """The pauses, for the call that records the answers."""
        return {key: pause for key, pause in self.pauses.items() if pause is not None}


def ask(
    screen: Screen, questions: Sequence[Interrupt], place: Place, *, rejected: Mapping[str, str] | None = None
) -> Answers:
    """Show each question and ask for its answer; an empty line, or the end of input, leaves it open. `rejected` tells, by
    key, why an earlier answer was not taken."""
    editable()
    with _stoppable(questions, place):
        return _ask(screen, questions, place, rejected or {})


def _ask(screen: Screen, questions: Sequence[Interrupt], place: Place, rejected: Mapping[str, str]) -> Answers:
    text = (
        "An answer is text, or JSON behind -j, as in: -j true. "
        if any(q.answer_schema is None and call_of(q) is None for q in questions)
        else ""
    )
    screen.say(f"\n{text}An empty line leaves the question open.")
    values: dict[str, Any] = {}
    pauses: dict[str, int | None] = {}
    for question in questions:
        screen.say()
        show_question(screen, question, place, rejected=rejected.get(question.key))
        try:
            values[question.key] = _typed(screen, question)
            pauses[question.key] = question.pause
        except EOFError:
            screen.say()
            break
        except LeftOpen:
            continue
    return Answers(values, pauses)


def confirm(screen: Screen, questions: Sequence[Interrupt], values: Mapping[str, Any], place: Place) -> bool:
    """Show each question with the answer it would get, and ask whether to record that."""
    screen.say()
    for question in questions:
        show_question(screen, question, place)
        call = call_of(question)
        if call is None:
            screen.say(INDENT, "answer ", (described(values[question.key]), "bold"))
        else:
            will_run(screen, call, values[question.key], INDENT)
    with _stoppable(questions, place):
        return agreed(f"  Record {'this answer' if len(questions) == 1 else 'these answers'}? [y/N] ")


@contextlib.contextmanager
def _stoppable(questions: Sequence[Interrupt], place: Place) -> Iterator[None]:
    """While a person is asked, the keyboard may stop the command, and nothing was recorded yet."""
    try:
        yield
    except KeyboardInterrupt:
        commands = [answer_command(place, question) for question in questions] if place.store is not None else []
        again = " Answer later with:" if commands else ""
        raise Refusal(
            f"Stopped from the keyboard. Nothing was recorded.{again}", Exit.STOPPED, commands=commands
        ) from None


def _typed(screen: Screen, question: Interrupt) -> Any:
    """The answer that a person typed and means to send. Raises LeftOpen, and EOFError at the end of input."""
    call = call_of(question)
    while True:
        if call is not None:
            decision = ask_decision(screen, call, INDENT)
            will_run(screen, call, decision, INDENT)
            if yes(f"{INDENT}Send this decision? [Y/n] ", default=True):
                return decision
            continue
        value = _text(screen) if question.answer_schema is None else _form(screen, question.answer_schema)
        if isinstance(value, dict | list):
            screen.quote(json_text(value).split("\n"), indent=INDENT)
            prompt = "Send this answer?"
        else:
            prompt = f"Send {described(value)}?"
        if yes(f"{INDENT}{prompt} [Y/n] ", default=True):
            return value


def _text(screen: Screen) -> Any:
    """An answer that may be anything: text, or JSON behind the mark."""
    while True:
        try:
            text = line(f"{INDENT}Answer: ")
            if not text:
                raise LeftOpen
            return (*as_json(text), text)[0]
        except Refusal as refusal:
            screen.explain(str(refusal), title="error")


def _form(screen: Screen, schema: Any) -> Any:
    from .form import Form

    return Form(screen, schema).ask(INDENT)


def told_recorded(screen: Screen, values: Mapping[str, Any]) -> None:
    """What was recorded, shown back with its type."""
    for key, value in values.items():
        screen.say(("recorded", "bold green"), f"  {name(key)} = {described(value)}")
