"""What the tests of runs share: a state that tells what ran, nodes said in one line, and waits that always end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any, TypeVar

from pydantic import Field

from nodestep import BaseState, Graph, add, node
from nodestep.flow import Node

T = TypeVar("T")
PATIENCE_S = 20.0
"""How long a test waits for what must happen."""


class Log(BaseState):
    """`log` tells who wrote, `n` keeps one value."""

    log: Annotated[list[str], add] = Field(default_factory=list)
    n: int = 0


def says(name: str, ran: list[str] | None = None, **options: Any) -> Node:
    """A node that writes its name into the log, and into `ran` when it runs."""

    def body(state: Log) -> dict[str, Any]:
        if ran is not None:
            ran.append(name)
        return {"log": [name]}

    return node(body, name=name, **options)


def does(name: str, body: Callable[..., Any], **options: Any) -> Node:
    """A node with this body."""
    return node(body, name=name, **options)


def returns(name: str, value: Any, **options: Any) -> Node:
    """A node that returns this value."""
    return node(lambda state: value, name=name, **options)


def of(*flow: Any, **options: Any) -> Graph[Log]:
    """A graph over `Log`."""
    return Graph(Log, **options).flow(*flow)


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine in a loop of its own; one that hangs fails."""

    async def bounded() -> T:
        return await asyncio.wait_for(work, PATIENCE_S)

    return asyncio.run(bounded())


def soon(event: threading.Event) -> None:
    """Wait in a thread for what must happen."""
    assert event.wait(PATIENCE_S), "waited in vain"


async def forever(_: Any = None) -> Any:
    """Never ends by itself."""
    await asyncio.Event().wait()


def both(graph: Graph[Any], *args: Any, **kwargs: Any) -> Any:
    """The result of `invoke`, after `ainvoke` of the same call has ended the same way."""
    results: list[Any] = []
    for call in (lambda: run(graph.ainvoke(*args, **kwargs)), lambda: graph.invoke(*args, **kwargs)):
        try:
            results.append(call())
        except Exception as error:
            results.append(error)
    first, second = results
    if isinstance(second, Exception):
        assert (type(first), str(first)) == (type(second), str(second))
        raise second
    assert (first.status, first.data, first.step) == (second.status, second.data, second.step)
    return second


Async = Callable[[Any], Awaitable[Any]]
