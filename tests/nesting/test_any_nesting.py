"""Any graph of graphs, cut off anywhere: it comes to the end of the same graph written flat, and nothing recorded runs again.

A plan is a tree: a text is a node that logs it, a question one that asks, a list is a chain, a tuple a fan-out that is joined.
A chain may stand inside a subgraph node, or be called by a function.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    Node,
    NodeContext,
    Resume,
    Status,
    add,
    interrupt,
    node,
    subgraph,
)
from nodestep.people import inbox
from nodestep.testing import DyingStore
from nodestep.testing.dying import StoreDiedError
from tests.stores.writing import StillClock


class Log(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)


@dataclass(frozen=True)
class Says:
    """A node that logs."""


@dataclass(frozen=True)
class Asks:
    """A node that asks, so many questions one after the other."""

    questions: int


@dataclass(frozen=True)
class Inside:
    """A chain inside a node."""

    chain: tuple[Any, ...]
    called: bool


@dataclass(frozen=True)
class Beside:
    """Nodes side by side, and a join behind them."""

    parts: tuple[Any, ...]


leaves = st.builds(Says) | st.builds(Asks, st.integers(1, 2))


def parts(inner: Any) -> Any:
    chains = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.builds(Inside, chains, st.booleans())


steps = st.recursive(leaves, parts, max_leaves=6)
plans = st.lists(steps | st.builds(Beside, st.lists(steps, min_size=2, max_size=3).map(tuple)), min_size=1, max_size=3)


class Building:
    """Makes graphs of plans; notes every run of a node by its name and the key that names the task for good."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def graph(self, name: str, chain: Any, **options: Any) -> Graph[Log]:
        flow: Any = START
        for number, step in enumerate(chain):
            if isinstance(step, Beside):
                nodes = [self.node(f"{name}.{number}.{place}", part) for place, part in enumerate(step.parts)]
                flow = flow >> nodes >> self.says(f"{name}.{number}.joined")
            else:
                flow = flow >> self.node(f"{name}.{number}", step)
        return Graph(Log, name=name, **options).flow(flow >> END)

    def node(self, name: str, step: Any) -> Node:
        match step:
            case Says():
                return self.says(name)
            case Asks(questions):
                return self.asks(name, questions)
            case Inside(chain, called):
                inner = self.graph(name, chain)
                return self.calls(name, inner) if called else subgraph(name, inner, share=["log"])
        raise AssertionError(step)

    def says(self, name: str) -> Node:
        def body(state: Log, ctx: NodeContext) -> dict[str, Any]:
            self.ran.append(ctx.idempotency_key)
            return {"log": [name]}

        return node(body, name=name)

    def asks(self, name: str, questions: int) -> Node:
        def body(state: Log, ctx: NodeContext) -> dict[str, Any]:
            self.ran.append(ctx.idempotency_key)
            return {"log": [f"{name}={interrupt(f'{name} {number}', id=f'q{number}')}" for number in range(questions)]}

        return node(body, name=name)

    def calls(self, name: str, inner: Graph[Log]) -> Node:
        async def body(state: Log, ctx: NodeContext) -> dict[str, Any]:
            return {"log": (await ctx.call(inner, id="x")).log}

        return node(body, name=name)


def flat(name: str, chain: Any) -> Iterator[str]:
    """What the plan logs, in the order of a run that nothing stops."""
    for number, step in enumerate(chain):
        if isinstance(step, Beside):
            for place, part in enumerate(step.parts):
                yield from flat_step(f"{name}.{number}.{place}", part)
            yield f"{name}.{number}.joined"
        else:
            yield from flat_step(f"{name}.{number}", step)


def flat_step(name: str, step: Any) -> Iterator[str]:
    match step:
        case Says():
            yield name
        case Asks(questions):
            yield from (f"{name}=yes to {name} {number}" for number in range(questions))
        case Inside(chain, _):
            yield from flat(name, chain)


def finish(graph: Graph[Log], store: Any) -> None:
    """Start the thread if need be, and answer what it asks until it is at its end."""
    for _ in range(40):
        head = store.head("t", "main")
        if head is not None and head.status is Status.COMPLETED:
            return
        asked = {found.key: found.payload for found in inbox.pending(store, "t").items}
        resume = Resume(answers={key: f"yes to {payload}" for key, payload in asked.items()}) if asked else None
        graph.invoke({} if head is None else None, thread_id="t", resume=resume)
    raise AssertionError("it does not end")


def done(store: Any) -> Counter[tuple[str, str | None]]:
    """The tasks that history tells as completed."""
    if store.head("t", "main") is None:
        return Counter()
    events = asyncio.run(store.history("t")).events
    return Counter((event.path, event.node) for event in events if event.type == "node_completed")


@settings(max_examples=40)
@given(plans, st.lists(st.tuples(st.integers(1, 12), st.booleans()), max_size=4))
def test_any_graph_of_graphs_comes_to_its_end_however_often_it_is_cut_off(plan, deaths):
    clock = StillClock()
    store = InMemoryStateStore(clock=clock)
    for at, after in deaths:
        building = Building()
        dying = DyingStore(store, at=at, after=after)
        before = done(store)
        with contextlib.suppress(StoreDiedError):
            finish(building.graph("g", plan, state_store=dying), dying)
        assert before <= done(store), "what was recorded is lost"
        clock.forward(60_000)
    building = Building()
    finish(building.graph("g", plan, state_store=store), store)

    assert asyncio.run(store.load("t"))["log"] == list(flat("g", plan))
    assert set(done(store).values()) == {1}, "a task was recorded twice"
