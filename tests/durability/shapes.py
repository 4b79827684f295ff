"""Seven shapes of graphs. Every node notes what it does where a killed process cannot take it back.

A task that runs notes `run:<idempotency key>`, which names it for good, and what it does once notes `once:<idempotency key>`;
`returned:<idempotency key>` says that `ctx.once` came back with it.
Tasks beside one another finish one after the other, so that each is recorded by a commit of its own and every run of a shape
makes the same commits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from nodestep import END, START, BaseState, Graph, NodeContext, Send, add, interrupt, node, subgraph, when
from nodestep.engine.replay import record_from_bytes
from nodestep.model.event import TaskRecorded
from nodestep.stores.base import StateStore
from tests.persistence.programs.effects import Effects

THREAD = "t"


class Work(BaseState):
    """`log` tells who wrote; `n` counts rounds, or numbers the task of a `Send`."""

    log: Annotated[list[str], add] = Field(default_factory=list)
    n: int = 0


class FlakyError(Exception):
    """What a node raises once in its life, and then no more."""


Shape: TypeAlias = Callable[[StateStore, Effects], Graph[Work]]


def ran(effects: Effects, ctx: NodeContext) -> None:
    effects.do(f"run:{ctx.idempotency_key}")


async def after(task: str, store: StateStore) -> None:
    """Until the outcome of a task of this superstep is recorded."""
    while True:
        facts = [fact for record in store.records(THREAD, "main") for fact in record_from_bytes(record.body)]
        if any(isinstance(fact, TaskRecorded) and fact.task == task for fact in facts):
            return
        await asyncio.sleep(0)


def says(name: str, effects: Effects) -> Any:
    def body(state: Work, ctx: NodeContext) -> dict[str, Any]:
        ran(effects, ctx)
        return {"log": [name]}

    return node(body, name=name)


def chain(store: StateStore, effects: Effects) -> Graph[Work]:
    """take -> pay (once) -> ship."""

    @node
    def pay(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)

        def charge() -> int:
            effects.do(f"once:{ctx.idempotency_key}")
            return 42

        paid = ctx.once("charge", charge)
        effects.do(f"returned:{ctx.idempotency_key}")
        return {"log": [f"paid {paid}"]}

    return Graph(Work, name="chain", state_store=store).flow(
        START >> says("take", effects) >> pay >> says("ship", effects) >> END
    )


def loop(store: StateStore, effects: Effects) -> Graph[Work]:
    """Three rounds of a node that asks the same question in each."""

    @node
    def turn(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        answer = interrupt(f"Round {state.n}?", id="go")
        return {"log": [f"{state.n} {answer}"], "n": state.n + 1}

    return Graph(Work, name="loop", state_store=store).flow(
        START >> turn >> when(lambda state: state.n < 3, turn, otherwise=END)
    )


def sends(store: StateStore, effects: Effects) -> Graph[Work]:
    """plan -> work, four times at once -> gather."""

    @node
    async def work(state: Work, ctx: NodeContext) -> Any:
        if state.n:
            await after("work" if state.n == 1 else f"work[{state.n - 1}]", store)
        ran(effects, ctx)
        return {"log": [f"work {state.n}"]}

    @node(goto=[work])
    def plan(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        return [Send(work, {"n": number}) for number in range(4)]

    return Graph(Work, name="sends", state_store=store).flow(START >> plan, work >> says("gather", effects) >> END)


def join(store: StateStore, effects: Effects) -> Graph[Work]:
    """split -> [short, long], long -> longer, [short, longer] -> both: the join waits with a mark for a superstep."""

    @node
    async def long(state: Work, ctx: NodeContext) -> Any:
        await after("short", store)
        ran(effects, ctx)
        return {"log": ["long"]}

    short, longer = says("short", effects), says("longer", effects)
    return Graph(Work, name="join", state_store=store).flow(
        START >> says("split", effects) >> [short, long],
        long >> longer,
        [short, longer] >> says("both", effects) >> END,
    )


def two_pauses(store: StateStore, effects: Effects) -> Graph[Work]:
    """A node that asks, works with the answer, keeps what it found in its cache, and asks again."""

    @node
    def ask(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        first = interrupt("First?", id="first")
        if "found" not in ctx.cache:
            effects.do("found")
            ctx.cache["found"] = f"found with {first}"
        second = interrupt(ctx.cache["found"], id="second")
        return {"log": [first, ctx.cache["found"], second]}

    return Graph(Work, name="two_pauses", state_store=store).flow(START >> ask >> says("end", effects) >> END)


def beside_a_failure(store: StateStore, effects: Effects) -> Graph[Work]:
    """[ask, flaky] -> end: one asks, and then the other fails; the next time it does not."""

    @node
    async def ask(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        return {"log": [interrupt("Really?", id="ok")]}

    @node
    async def flaky(state: Work, ctx: NodeContext) -> Any:
        await after("ask", store)
        ran(effects, ctx)
        if "failed" not in effects.done():
            effects.do("failed")
            raise FlakyError
        return {"log": ["flaky"]}

    return Graph(Work, name="beside_a_failure", state_store=store).flow(
        START >> [ask, flaky] >> says("end", effects) >> END
    )


def nested(store: StateStore, effects: Effects) -> Graph[Work]:
    """take -> [sub, beside] -> end. In sub: plan -> calls -> close; and calls calls a graph that works once, and then asks."""

    @node
    def work(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)

        def charge() -> int:
            effects.do(f"once:{ctx.idempotency_key}")
            return 42

        paid = ctx.once("charge", charge)
        effects.do(f"returned:{ctx.idempotency_key}")
        return {"log": [f"paid {paid}"]}

    @node
    def ask(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        return {"log": [interrupt("Inside?", id="ok")]}

    leaf = Graph(Work, name="leaf").flow(START >> work >> ask >> END)

    @node
    async def calls(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        return {"log": (await ctx.call(leaf, id="leaf")).log}

    @node
    async def beside(state: Work, ctx: NodeContext) -> Any:
        await after("sub", store)
        ran(effects, ctx)
        return {"log": ["beside"]}

    middle = Graph(Work, name="middle").flow(START >> says("plan", effects) >> calls >> says("close", effects) >> END)
    sub = subgraph("sub", middle, share=["log"])
    return Graph(Work, name="nested", state_store=store).flow(
        START >> says("take", effects) >> [sub, beside] >> says("end", effects) >> END
    )


SHAPES: dict[str, Shape] = {
    "chain": chain,
    "loop": loop,
    "sends": sends,
    "join": join,
    "two_pauses": two_pauses,
    "beside_a_failure": beside_a_failure,
    "nested": nested,
}

LOGS = {
    "chain": ["take", "paid 42", "ship"],
    "loop": [f"{n} yes to Round {n}?" for n in range(3)],
    "sends": [*(f"work {n}" for n in range(4)), "gather"],
    "join": ["split", "long", "short", "longer", "both"],
    "two_pauses": ["yes to First?", "found with yes to First?", "yes to found with yes to First?", "end"],
    "beside_a_failure": ["yes to Really?", "flaky", "end"],
    "nested": ["take", "beside", "plan", "paid 42", "yes to Inside?", "close", "end"],
}
"""What each has written at its end, however often it was cut off."""
