"""Whoever held a branch and lost it writes nothing more, wherever it stood when another took over."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nodestep import InMemoryStateStore, SQLiteStateStore
from tests.asking import kept
from tests.durability.lives import finish
from tests.durability.shapes import SHAPES, THREAD
from tests.durability.stage import Actor, Instant
from tests.durability.stale import Sleeper
from tests.persistence.programs.effects import Effects
from tests.stores.writing import StillClock

ROUNDS = 3


@pytest.mark.parametrize("kind", ["plain", "once", "async", "beside"])
def test_a_process_that_slept_over_its_lease_writes_nothing_more(kind, quick):
    with Sleeper(quick, kind) as sleeper:
        for number in range(ROUNDS):
            sleeper.round(f"t{number}")


class Play:
    """A run that stands still after so many of its commits, on a store whose lease then ends."""

    def __init__(self, shape: str, folder: Path, kind: str) -> None:
        self.clock = StillClock()
        self.store: Any = (
            InMemoryStateStore(clock=self.clock)
            if kind == "memory"
            else SQLiteStateStore(folder / f"{shape}.db", clock=self.clock)
        )
        self.effects = Effects(folder / "effects")
        self.graph = SHAPES[shape](self.store, self.effects)
        self.run = Actor(self.start, Instant(self.store))

    def start(self, store: Any) -> str:
        return self.graph.invoke({}, thread_id=THREAD, state_store=store).status

    def runs_until(self, commits: int) -> bool:
        """Whether it got there before its end."""
        while not self.run.over and self.run.steps.count("commit") <= commits:
            self.run.step()
        return not self.run.over

    def lease_ends(self) -> None:
        self.clock.forward(31_000)

    def runs_on(self) -> str:
        while not self.run.over:
            self.run.step()
        return self.run.result

    def kept(self) -> Any:
        return kept(self.store, THREAD), self.store.audit_rows(THREAD)


def plays(shape: str, folder: Path, kind: str) -> Iterator[Play]:
    """One for each commit after which the run may stand still."""
    for commits in range(1, 100):
        play = Play(shape, folder, kind)
        if not play.runs_until(commits):
            play.store.close()
            return
        play.lease_ends()
        yield play
        play.store.close()
        for file in folder.glob("*"):
            file.unlink()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_whose_thread_was_finished_by_another_writes_nothing_more(shape, kind, quick):
    for play in plays(shape, quick, kind):
        finish(play.graph, play.store, play.effects)
        after = play.kept()

        assert play.runs_on() == "LeaseLostError"
        assert play.kept() == after


def _goes_on(play: Any, store: Any) -> str:
    status: str = play.graph.invoke(None, thread_id=THREAD, state_store=store).status
    return status


@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_whose_thread_another_works_on_writes_nothing_more_and_does_not_disturb(shape, quick):
    for play in plays(shape, quick, "memory"):
        other = Actor(
            partial(_goes_on, play),
            Instant(play.store),
        )
        while not other.over and other.steps.count("commit") <= 1:
            other.step()
        assert other.steps.count("commit") == 2, "it has claimed the thread"
        after = play.kept()

        assert play.runs_on() == "LeaseLostError"
        assert play.kept() == after

        while not other.over:
            other.step()
        assert other.result in ("completed", "interrupted", "FlakyError")
