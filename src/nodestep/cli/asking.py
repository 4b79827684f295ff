"""A person at the terminal, asked: what is typed, shown back, and sent only when it is confirmed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..model.interrupt import Interrupt
from .exits import Exit, Refusal
from .questions import Place, answer_command, show_question
from .safe_text import name
from .screen import Screen
from .values import described, parsed

JSON_MARK: Final = "-j "


@dataclass(frozen=True, slots=True)
class Answers:
    """What a person decided, by question key, and the pause in which each question was shown."""

    values: Mapping[str, Any]
    pauses: Mapping[str, int | None]

    @property
    def seen(self) -> dict[str, int]:
        """The pauses, for the call that records the answers."""
        return {key: pause for key, pause in self.pauses.items() if pause is not None}


def ask(screen: Screen, questions: Sequence[Interrupt], place: Place) -> Answers:
    """Show each question and ask for its answer; an empty line, or the end of input, leaves it open."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - lets input() edit the line
    with _stoppable(questions, place):
        return _ask(screen, questions, place)


def _ask(screen: Screen, questions: Sequence[Interrupt], place: Place) -> Answers:
    screen.say("\nAn answer is text, or JSON behind -j, as in: -j true. An empty line leaves the question open.")
    values: dict[str, Any] = {}
    pauses: dict[str, int | None] = {}
    for question in questions:
        screen.say()
        show_question(screen, question, place)
        try:
            values[question.key] = _typed(screen)
            pauses[question.key] = question.pause
        except EOFError:
            screen.say()
            break
        except _LeftOpen:
            continue
    return Answers(values, pauses)


def confirm(screen: Screen, questions: Sequence[Interrupt], values: Mapping[str, Any], place: Place) -> bool:
    """Show each question with the answer it would get, and ask whether to record that."""
    screen.say()
    for question in questions:
        show_question(screen, question, place)
        screen.say("    answer ", (described(values[question.key]), "bold"))
    with _stoppable(questions, place):
        return _confirmed(f"  Record {'this answer' if len(questions) == 1 else 'these answers'}? [y/N] ")


def _confirmed(prompt: str) -> bool:
    try:
        return _yes(prompt, default=False)
    except EOFError:
        return False


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


class _LeftOpen(Exception):  # noqa: N818 - a decision, not a failure
    """The person typed nothing."""


def _typed(screen: Screen) -> Any:
    while True:
        text = input("    Answer: ")
        if not text:
            raise _LeftOpen
        try:
            value = _value(text)
        except Refusal as refusal:
            screen.explain(str(refusal), title="error")
            continue
        if _yes(f"    Send {described(value)}? [Y/n] ", default=True):
            return value


def _value(text: str) -> Any:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refusal("That is no valid UTF-8; check the encoding of the terminal.") from None
    return parsed(text[len(JSON_MARK) :], "what stands behind -j") if text.startswith(JSON_MARK) else text


def _yes(prompt: str, *, default: bool) -> bool:
    while True:
        reply = input(prompt).strip().lower()
        if not reply:
            return default
        if reply in ("y", "yes"):
            return True
        if reply in ("n", "no"):
            return False


def told_recorded(screen: Screen, values: Mapping[str, Any]) -> None:
    """What was recorded, shown back with its type."""
    for key, value in values.items():
        screen.say(("recorded", "bold green"), f"  {name(key)} = {described(value)}")
