"""A process that holds a thread while it waits inside a node, and says what became of it.

python -m tests.persistence.programs.holder STORE plain|async|once|beside LEASE_S
"""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

from pydantic import Field

from nodestep import END, START, BaseState, Graph, NodeContext, SQLiteStateStore, add, node
from nodestep.stores.base import StateStore
from tests.persistence.programs.effects import say, wait


class Log(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)


def build(store: StateStore, who: str, kind: str = "", *, beside: bool = False) -> Graph[Log]:
    """first -> work -> last; `work` of a holding process waits for a word; `beside` it runs another node."""

    @node
    def first(state: Log):
        return {"log": [f"first of {who}"]}

    def plain(state: Log, ctx: NodeContext):
        if kind:
            say("inside")
            wait()
        if kind == "once":
            ctx.once("late", lambda: "late")
        return {"log": [f"work of {who}"]}

    async def coroutine(state: Log):
        say("inside")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            say("cancelled")
            raise

    @node
    def last(state: Log):
        return {"log": [f"last of {who}"]}

    @node
    def quick(state: Log):
        return None

    work = node(coroutine if kind == "async" else plain, name="work")
    due = [work, quick] if beside else work
    return Graph(Log, state_store=store).flow(START >> first >> due >> last >> END)


def main(path: str, kind: str, lease_s: str) -> None:
    graph = build(SQLiteStateStore(path, lease_s=float(lease_s)), "holder", kind, beside=kind == "beside")
    try:
        say(" ".join(graph.invoke({}, thread_id="t").state.log))
    except BaseException as error:
        say(type(error).__name__)


if __name__ == "__main__":
    main(*sys.argv[1:])
