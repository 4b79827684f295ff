"""Two processes do the same thing at once: one of them wins, and the other is told so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from nodestep import SQLiteStateStore

from .children import Child
from .programs.effects import Effects
from .programs.racer import build

ROUNDS = 25


class Race:
    def __init__(self, tmp_path) -> None:
        self.path, self.effects = tmp_path / "threads.db", Effects(tmp_path / "effects")
        self.store = SQLiteStateStore(self.path)
        self.graph = build(self.store, self.effects)
        self.racers = [Child("racer", self.path, self.effects.path, who) for who in ("anna", "ben")]

    def paused(self, thread: str) -> str:
        self.graph.invoke({"thread": thread}, thread_id=thread)
        return thread

    def both(self, what: str, thread: str) -> list[str]:
        """What both say who were told the same at once."""
        for racer in self.racers:
            racer.tell(f"{what} {thread}")
        return sorted(racer.hears() for racer in self.racers)

    def of(self, thread: str) -> list[str]:
        return [effect for effect in self.effects.done() if effect.startswith(f"{thread}:")]


@pytest.fixture
def race(tmp_path) -> Iterator[Race]:
    race = Race(tmp_path)
    with race.store, ExitStack() as racing:
        for racer in race.racers:
            racing.enter_context(racer)
            assert racer.hears() == "ready"
        yield race


REFUSED = {"ThreadBusyError", "ResumeError"}


def test_of_two_resumes_exactly_one_has_an_effect(race):
    for n in range(ROUNDS):
        thread = race.paused(f"t{n}")

        results = race.both("resume", thread)

        assert "completed" in results
        assert set(results) - {"completed"} <= REFUSED
        assert len(set(results)) == 2
        assert len(race.of(thread)) == 1


def test_the_effect_is_that_of_the_answer_that_won(race):
    for n in range(ROUNDS):
        thread = race.paused(f"t{n}")
        race.both("resume", thread)

        (effect,) = race.of(thread)
        (answer,) = [e for e in asyncio.run(race.graph.history(thread)).events if e.type == "answered"]
        assert effect == f"{thread}:{answer.data['answers']['ask:ok']}"


def test_of_two_answers_exactly_one_is_recorded(race):
    for n in range(ROUNDS):
        thread = race.paused(f"t{n}")

        results = race.both("answer", thread)

        assert results[1] == "recorded"
        assert results[0] in REFUSED
        answers = [e.data["by"] for e in asyncio.run(race.graph.history(thread)).events if e.type == "answered"]
        assert len(answers) == 1


def test_a_ready_thread_is_continued_once(race):
    for n in range(ROUNDS):
        thread = race.paused(f"t{n}")
        asyncio.run(race.graph.answer(thread, {"ask:ok": "yes"}))

        results = race.both("go", thread)

        assert "completed" in results
        assert set(results) - {"completed"} <= REFUSED
        assert race.of(thread) == [f"{thread}:yes"]


def test_a_new_thread_is_started_once(race):
    for n in range(ROUNDS):
        results = race.both("start", f"t{n}")

        assert "interrupted" in results
        assert set(results) - {"interrupted"} <= REFUSED
        events = asyncio.run(race.graph.history(f"t{n}")).events
        assert [event.type for event in events].count("run_started") == 1
