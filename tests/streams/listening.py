"""What the tests of streams share: a stream read to its end, by either form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodestep import Graph, StreamEvent
from tests.running.making import run

FORMS = pytest.mark.parametrize("form", ["stream", "astream"])


def events(form: str, graph: Graph[Any], given: Any, modes: Any, **options: Any) -> list[StreamEvent]:
    """Every event of a run."""
    got: list[StreamEvent] = []
    listen(form, graph, given, modes, got.append, **options)
    return got


def listen(
    form: str, graph: Graph[Any], given: Any, modes: Any, hear: Callable[[StreamEvent], Any], **options: Any
) -> None:
    """Call `hear` with every event of a run as it comes, also with those before an error."""
    if form == "stream":
        for event in graph.stream(given, stream_mode=modes, **options):
            hear(event)
        return

    async def read() -> None:
        async for event in graph.astream(given, stream_mode=modes, **options):
            hear(event)

    run(read())


def shown(got: list[StreamEvent]) -> list[tuple[Any, ...]]:
    """Mode, task and data of each event."""
    return [(event.mode, event.task_id, event.data) for event in got]
