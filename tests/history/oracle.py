"""A thread as the rules say it must be: what `tests/history/test_machine.py` holds both stores against.

The graph is `a`, then `ask` with the questions `x` and `y`, then `z`; `y` closes after an hour and is then `nobody`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from nodestep import END, START, Graph, InterruptExpiredError, Question, ResumeError, interrupt_many
from tests.running.making import Log, does, of, says

HOUR_MS = 3_600_000
X, Y = "ask:x", "ask:y"


def asking(store: Any) -> Graph[Log]:
    def ask(state: Log):
        answers = interrupt_many({"x": "X?", "y": Question("Y?", expires=timedelta(hours=1), default="nobody")})
        return {"log": [f"x={answers['x']}", f"y={answers['y']}"]}

    return of(START >> says("a") >> does("ask", ask) >> says("z") >> END, state_store=store)


class Refusal(Exception):  # noqa: N818 - what the rules say a call raises
    """This call is refused with this error, and changes nothing."""

    def __init__(self, error: type[Exception]) -> None:
        super().__init__(error.__name__)
        self.error = error


@dataclass
class Line:
    """One branch. `open` tells when each question closes."""

    log: list[str] = field(default_factory=list)
    status: str = "completed"
    open: dict[str, int | None] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)

    def copy(self) -> Line:
        return deepcopy(self)

    def waits(self, now: int) -> list[str]:
        return [key for key, end in self.open.items() if end is None or now < end]

    def standing(self, now: int) -> str:
        return "ready" if self.open and not self.waits(now) else self.status

    # what calls do

    def take_input(self, now: int) -> Line:
        """Returns where the branch stood after `a`."""
        if self.standing(now) in ("interrupted", "ready"):
            raise Refusal(ResumeError)
        self.log += ["in", "a"]
        self.status, self.open, self.answers = "unfinished", {}, {}
        after = self.copy()
        self.pause(now)
        return after

    def pause(self, now: int) -> None:
        self.status, self.open = "interrupted", {X: None, Y: now + HOUR_MS}

    def answer(self, given: Mapping[str, Any], now: int) -> None:
        if not self.open:
            raise Refusal(ResumeError)
        waits = self.waits(now)
        for key in given:
            if key not in waits:
                raise Refusal(InterruptExpiredError if key in self.open else ResumeError)
        for key, value in given.items():
            self.answers[key] = value
            del self.open[key]
        if not self.open:
            self.status = "ready"

    def resume(self, given: Mapping[str, Any], now: int) -> None:
        missing = set(self.waits(now)) - set(given)
        self.answer(given, now)
        if missing:
            raise Refusal(ResumeError)
        self.finish()

    def go_on(self, now: int) -> None:
        if self.waits(now) or self.standing(now) in ("completed", "cancelled"):
            raise Refusal(ResumeError)
        if self.status == "unfinished":
            self.pause(now)
        else:
            self.finish()

    def finish(self) -> None:
        self.log += [f"x={self.answers[X]}", f"y={self.answers.get(Y, 'nobody')}", "z"]
        self.status, self.open, self.answers = "completed", {}, {}

    def cancel(self) -> None:
        if self.status in ("completed", "cancelled"):
            raise Refusal(ResumeError)
        self.status, self.open, self.answers = "cancelled", {}, {}
