"""A node that raises what is no Exception, wherever it is: it comes out, and the thread goes on with nothing lost."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from nodestep import Graph, InMemoryStateStore, Resume, SQLiteStateStore, ToolExecutionError
from tests.durability.lives import FORMS, Life, call, finish
from tests.durability.shapes import LOGS, SHAPES, Work
from tests.persistence.programs.effects import Effects


class Alarm(BaseException):
    """No Exception, and none of Python's own."""


STOPS: list[type[BaseException]] = [
    Alarm,
    KeyboardInterrupt,
    SystemExit,
    GeneratorExit,
    asyncio.CancelledError,
    MemoryError,
]


class Stopping(Effects):
    """Raises after the `at`-th effect of a node."""

    def __init__(self, path: Path, at: int, stop: type[BaseException]) -> None:
        super().__init__(path)
        self.at = at
        self.stop = stop
        self.count = 0

    def do(self, what: str) -> None:
        super().do(what)
        self.count += 1
        if self.count == self.at:
            raise self.stop


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.__name__)
def test_a_thread_whose_nodes_raise_it_anywhere_can_be_continued(stop, form, kind, quick):
    for shape in SHAPES:
        for at in count(1):
            folder = quick / f"{shape} {at}"
            folder.mkdir()
            noted, stopping = Effects(folder / "effects"), Stopping(folder / "effects", at, stop)
            with InMemoryStateStore() if kind == "memory" else SQLiteStateStore(folder / "t.db") as store:
                life = Life(store, noted)

                def told(graph: Graph[Work], given: Any, resume: Resume | None, life: Life = life) -> None:
                    try:
                        call(graph, form, given, resume)
                    except (stop, ToolExecutionError):  # as an error of a tool, where it is an Exception
                        head = life.store.head("t", "main")
                        assert not head.live
                        life.breaks()

                finish(SHAPES[shape](store, stopping), store, noted, told)
                life.ends(LOGS[shape])
            if not life.before:
                assert stopping.count < at
                assert at > 3
                break
