"""A graph with every shape that work can be cut off in, and a process that runs it as far as it is told.

    python -m tests.persistence.programs.orders STORE EFFECTS HOLD [LEASE_S]

HOLD names the point at which the process says `inside` and waits for a word: see `hold`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

from pydantic import Field

from nodestep import END, START, BaseState, Graph, NodeContext, Resume, SQLiteStateStore, add, interrupt, node, when
from nodestep.engine.replay import record_from_bytes
from nodestep.model.event import TaskRecorded
from nodestep.stores.base import StateStore
from tests.persistence.programs.effects import Effects, say, wait

THREAD = "order-1"


class Order(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)
    paid: int = 0


def build(store: StateStore, effects: Effects, hold: str = "") -> Graph[Order]:
    """take -> [pack, price] -> approve (asks) -> pay (once) -> ship, each with an effect of its own."""

    def holds(where: str) -> None:
        if where == hold:
            say("inside")
            wait()

    @node
    def take(state: Order):
        holds("before take")
        effects.do("take")
        holds("after take")
        return {"log": ["take"]}

    @node
    def pack(state: Order):
        effects.do("pack")
        return {"log": ["pack"]}

    @node
    def price(state: Order):
        if hold == "beside pack":
            while "pack" not in recorded(store):
                continue
        holds("beside pack")
        effects.do("price")
        return {"log": ["price"]}

    @node
    def approve(state: Order, ctx: NodeContext):
        if "offer" not in ctx.cache:
            effects.do("offer")
            ctx.cache["offer"] = 42
        answer = interrupt(f"Approve {ctx.cache['offer']}?", id="ok")
        holds("answered")
        effects.do(f"approved:{answer}")
        holds("after the effect")
        return {"log": [f"approved {answer}"]}

    @node
    async def pay(state: Order, ctx: NodeContext):
        async def charge():
            effects.do("charge")
            return 42

        paid = await ctx.aonce("charge", charge)
        holds("after once")
        return {"paid": paid, "log": ["pay"]}

    def is_paid(state: Order) -> bool:
        holds("in the router")
        return state.paid > 0

    @node
    def ship(state: Order, ctx: NodeContext):
        effects.do(f"ship:{ctx.idempotency_key}")
        holds("in the last node")
        return {"log": ["ship"]}

    return Graph(Order, state_store=store).flow(
        START >> take >> [pack, price] >> approve >> pay >> when(is_paid, ship, otherwise=END), ship >> END
    )


def recorded(store: StateStore) -> set[str]:
    """The tasks whose outcome is recorded on its own."""
    facts = (fact for record in store.records(THREAD, "main") for fact in record_from_bytes(record.body))
    return {fact.task for fact in facts if isinstance(fact, TaskRecorded)}


def finish(graph: Graph[Order]) -> Order:
    """Take the thread to its end from wherever it stands."""
    for _ in range(3):
        paused = asyncio.run(graph.pending(THREAD)).items
        resume = Resume("yes") if paused else None
        done = graph.invoke(None, thread_id=THREAD, resume=resume)
        if done.status == "completed":
            return done.state
    raise AssertionError("it did not end")


def main(path: str, effects: str, hold: str, lease_s: str = "30") -> None:
    store = SQLiteStateStore(path, lease_s=float(lease_s))
    graph = build(store, Effects(effects), hold)
    try:
        if not asyncio.run(graph.exists(THREAD)):
            graph.invoke({}, thread_id=THREAD)
            if hold == "paused":
                say("inside")
                wait()
        say(" ".join(finish(graph).log))
    except Exception as error:
        say(type(error).__name__)


if __name__ == "__main__":
    main(*sys.argv[1:])
