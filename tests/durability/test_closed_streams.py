"""A stream that is closed at any of its events: the run stops there, and goes on with nothing lost and nothing twice."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, closing
from itertools import count
from typing import Any

import pytest

from nodestep import Graph, InMemoryStateStore, Resume, SQLiteStateStore
from tests.durability.lives import Life, finish
from tests.durability.shapes import LOGS, SHAPES, THREAD, Work
from tests.persistence.programs.effects import Effects

MODES = ["updates", "values", "debug", "custom"]


class Closing:
    """Calls a graph as a stream, and closes it at the `at`-th event over all calls."""

    def __init__(self, form: str, at: int) -> None:
        self.form = form
        self.at = at
        self.events = 0

    def __call__(self, graph: Graph[Work], given: Any, resume: Resume | None) -> None:
        if self.form == "astream":
            asyncio.run(self._async(graph, given, resume))
            return
        stream: Any = graph.stream(given, stream_mode=MODES, thread_id=THREAD, resume=resume)
        with closing(stream):
            for _ in stream:
                self.events += 1
                if self.events == self.at:
                    break

    async def _async(self, graph: Graph[Work], given: Any, resume: Resume | None) -> None:
        stream: Any = graph.astream(given, stream_mode=MODES, thread_id=THREAD, resume=resume)
        async with aclosing(stream):
            async for _ in stream:
                self.events += 1
                if self.events == self.at:
                    break


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("form", ["stream", "astream"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_stream_that_is_closed_at_any_of_its_events_can_be_continued(shape, form, kind, quick):
    for at in count(1):
        folder = quick / str(at)
        folder.mkdir()
        effects = Effects(folder / "effects")
        with InMemoryStateStore() if kind == "memory" else SQLiteStateStore(folder / "t.db") as store:
            graph, closes, life = SHAPES[shape](store, effects), Closing(form, at), Life(store, effects)

            def call(graph: Any, given: Any, resume: Any, closes: Any = closes, life: Any = life) -> None:
                closes(graph, given, resume)
                if closes.events == closes.at:
                    life.breaks()

            finish(graph, store, effects, call)
            life.ends(LOGS[shape])
        if closes.events < at:
            assert at > 5
            return
