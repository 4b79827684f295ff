"""A call that is cancelled after any number of turns of its event loop is continued to the same end."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from nodestep import END, START, Command, Graph, InMemoryStateStore, NodeContext, Resume, interrupt
from tests.watching import Watched

from .making import Log, does, of, run, says

EXPECTED = ["a", "ask yes", "b", "c", "d", "b", "c", "d"]


def everything(store, paid: Counter[str]) -> Graph[Log]:
    """a -> [b, c (once), ask] -> d -> [b, c] -> d: async and plain nodes, a question, a loop, a join."""

    async def b(state: Log):
        await asyncio.sleep(0)
        return {"log": ["b"]}

    async def c(state: Log, ctx: NodeContext):
        async def pay():
            paid[ctx.idempotency_key] += 1
            return 1

        await ctx.aonce("pay", pay)
        await asyncio.sleep(0)
        return {"log": ["c"]}

    async def ask(state: Log):
        await asyncio.sleep(0)
        return {"log": [f"ask {interrupt('?', id='ok')}"]}

    def d(state: Log):
        return Command(update={"log": ["d"], "n": state.n + 1}, goto=["b", "c"] if state.n == 0 else END)

    return of(
        START >> says("a") >> [does("b", b), does("c", c), does("ask", ask)],
        ["b", "c"] >> does("d", d, goto=["b", "c"]),
        "ask" >> END,
        state_store=store,
    )


async def cancelled_after(turns: int, graph: Graph[Log], **call) -> bool:
    """Whether the call had ended before."""
    task = asyncio.ensure_future(graph.ainvoke(thread_id="t", **call))
    for _ in range(turns):
        await asyncio.sleep(0)
        if task.done():
            break
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return False
    return True


async def finish(graph: Graph[Log]) -> Log:
    """Take the thread to its end from wherever it stands."""
    if not await graph.exists("t"):
        await graph.ainvoke({}, thread_id="t")
    for _ in range(4):
        if (await graph.history("t")).events[-1].type == "run_completed":
            return (await graph.get_state("t")).value
        paused = (await graph.pending("t")).items
        await graph.ainvoke(None, thread_id="t", resume=Resume("yes") if paused else None)
    raise AssertionError("it did not end")


@pytest.mark.parametrize("instant", [True, False])
@pytest.mark.parametrize("part", ["first", "resume"])
def test_a_call_may_be_cancelled_at_any_turn(instant, part):
    async def once(turns: int) -> bool:
        paid: Counter[str] = Counter()
        with InMemoryStateStore() as inner:
            graph = everything(Watched(inner, instant=instant), paid)
            call: dict = {"initial_state": {}}
            if part == "resume":
                await graph.ainvoke({}, thread_id="t")
                call = {"resume": Resume("yes")}
            ended = await cancelled_after(turns, graph, **call)
            if ended and part == "resume":
                return True
            assert (await finish(graph)).log == EXPECTED, turns
            assert len(paid) == 2, turns
            return ended

    async def at_every_turn() -> None:
        turns = 0
        while not await once(turns):
            turns += 1 if instant else 3
            assert turns < 2000

    run(at_every_turn())
