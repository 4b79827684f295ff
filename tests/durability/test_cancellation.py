"""A run that is cancelled at any of its awaits: the thread is given back, and goes on with nothing lost and nothing twice."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from itertools import count
from typing import Any

import pytest

from nodestep import Graph, InMemoryStateStore, Resume
from tests.durability.lives import Life, finish
from tests.durability.shapes import LOGS, SHAPES, THREAD, Work
from tests.persistence.programs.effects import Effects
from tests.running.making import PATIENCE_S

MOMENTS = ("before the commit", "after the commit")
"""When the cancellation arrives, where a commit is what the run waits for."""


class Stops:
    """A coroutine that one may look at whenever it waits: `on_stop` is told how often it has. `thrown` is set when an error,
    such as a cancellation, is about to enter it."""

    def __init__(self, work: Coroutine[Any, Any, Any], on_stop: Callable[[int], None]) -> None:
        self._work = work
        self._on_stop = on_stop
        self.number = 0
        self.thrown = threading.Event()

    def __await__(self) -> Generator[Any, Any, Any]:
        step, given = self._work.send, None
        while True:
            try:
                waits_for = step(given)
            except StopIteration as end:
                return end.value
            self.number += 1
            self._on_stop(self.number)
            try:
                step, given = self._work.send, (yield waits_for)
            except BaseException as error:
                self.thrown.set()
                step, given = self._work.throw, error

    async def run(self) -> Any:
        return await self


class Slow:
    """A store whose commits are made in a thread of their own, and may be held back there."""

    instant = False

    def __init__(self, store: Any) -> None:
        self.store = store
        self.hold: threading.Event | None = None
        self.on_commit: Callable[[], object] = lambda: None

    def commit(self, writes: Any) -> Any:
        if self.hold is not None:
            assert self.hold.wait(PATIENCE_S)
        answers = self.store.commit(writes)
        self.on_commit()
        return answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


class Cancelling:
    """Calls a graph, and cancels when it waits for the `at`-th time over all calls; once more, `again` waits later."""

    def __init__(self, store: Slow, at: int, moment: str, again: int = 0) -> None:
        self.store = store
        self.at = at
        self.moment = moment
        self.again = again
        self.waits = 0
        self.on_cancelled: Callable[[], object] = lambda: None

    def __call__(self, graph: Graph[Work], given: Any, resume: Resume | None) -> Any:
        try:
            return asyncio.run(
                self._call(graph.ainvoke(given, thread_id=THREAD, resume=resume, state_store=self.store))
            )
        except asyncio.CancelledError:
            head = self.store.head(THREAD, "main")
            assert head is None or not head.live, "a cancelled run still holds its thread"
            self.on_cancelled()
        finally:
            self.store.hold, self.store.on_commit = None, lambda: None

    async def _call(self, work: Coroutine[Any, Any, Any]) -> Any:
        self.stops = Stops(work, self._on_stop)
        self.task = asyncio.ensure_future(self.stops.run())
        return await self.task

    def _on_stop(self, number: int) -> None:
        self.waits += 1
        if self.waits == self.at:
            self._cancel(number)
        elif self.again and self.waits == self.at + self.again:
            self.task.cancel()

    def _cancel(self, number: int) -> None:
        if self.moment == "before the commit":
            self.store.hold = self.stops.thrown
            self.task.cancel()
            # A run that waits for this very commit hears of the cancellation after it.
            asyncio.get_running_loop().call_soon(self.stops.thrown.set)
        else:
            self.store.on_commit = partial(asyncio.get_running_loop().call_soon_threadsafe, self._after_commit, number)

    def _after_commit(self, number: int) -> None:
        """Before the run hears of the commit that it waits for."""
        self.store.on_commit = lambda: None
        if self.stops.number == number:
            self.task.cancel()


@pytest.mark.parametrize("again", [0, 1, 2], ids=["once", "at the next wait too", "at the one after it too"])
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_that_is_cancelled_at_any_of_its_awaits_can_be_continued(shape, moment, again, quick):
    broken = 0
    for at in count(1):
        (quick / "effects").unlink(missing_ok=True)
        inner, effects = InMemoryStateStore(), Effects(quick / "effects")
        cancelling, life = Cancelling(Slow(inner), at, moment, again), Life(inner, effects)
        cancelling.on_cancelled = life.breaks
        finish(SHAPES[shape](inner, effects), inner, effects, cancelling)
        life.ends(LOGS[shape])
        broken += len(life.before)
        if cancelling.waits < at:
            break
    assert broken >= 3
