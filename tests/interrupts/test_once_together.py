"""`ctx.once` and `ctx.aonce` in loops, in parallel tasks, in threads, and beside a pause."""

from __future__ import annotations

import asyncio
from typing import Any

from nodestep import END, START, Graph, NodeContext, Resume, interrupt, node, when
from tests.asking import lone
from tests.interrupts.charging import ask_then_return


def test_a_loop_that_comes_round_computes_anew(store, counter):
    @node
    def charge(state: dict, ctx: NodeContext) -> dict[str, Any]:
        ctx.once("charge", counter.charge)
        return {"rounds": state.get("rounds", 0) + 1}

    graph = Graph(dict, name="loop", state_store=store).flow(
        START >> charge >> when(lambda state: state["rounds"] < 3, charge, otherwise=END)
    )
    graph.invoke({}, thread_id="t")
    assert len(counter.calls) == 3


def test_tasks_that_run_at_once_each_have_their_own(store, counter):
    def charging(name: str):
        def charge(state: dict, ctx: NodeContext) -> dict[str, Any]:
            return {name: [ctx.once("charge", counter.charge, name), interrupt("?", id="a")]}

        return node(charge, name=name)

    left, right = charging("left"), charging("right")
    graph = Graph(dict, name="two", state_store=store).flow(
        START >> node(lambda state: None, name="start") >> [left, right], left >> END, right >> END
    )
    graph.invoke({}, thread_id="t")
    done = graph.invoke(None, thread_id="t", resume=Resume(answers={"left:a": 1, "right:a": 2}))
    assert done.data == {"left": ["receipt", 1], "right": ["receipt", 2]}
    assert sorted(counter.calls) == [("left",), ("right",)]


def test_several_at_once_are_each_recorded(store, reopened, counter):
    async def body(state: dict, ctx: NodeContext) -> Any:
        await asyncio.gather(*(ctx.aonce(f"charge{n}", counter.acharge, n) for n in range(5)))
        interrupt("?", id="a")

    lone(body, store).invoke({}, thread_id="t")
    lone(body, reopened()).invoke(None, thread_id="t", resume=Resume(1))
    assert sorted(counter.calls) == [(n,) for n in range(5)]


def test_one_whose_task_is_cancelled_by_a_pause_while_it_is_recorded_is_recorded(store, reopened, counter):
    async def body(state: dict, ctx: NodeContext) -> Any:
        charged = asyncio.Event()

        async def charge():
            charged.set()
            return counter.charge()

        async def charge_once():
            await ctx.aonce("charge", charge)
            charged.set()

        async def ask():
            await charged.wait()
            interrupt("?", id="a")

        async with asyncio.TaskGroup() as group:
            group.create_task(charge_once())
            group.create_task(ask())

    assert lone(body, store).invoke({}, thread_id="t").status == "interrupted"
    lone(body, reopened()).invoke(None, thread_id="t", resume=Resume(1))
    assert len(counter.calls) == 1


def test_it_works_in_a_thread_that_carries_the_nodes_context(store, counter):
    async def body(state: dict, ctx: NodeContext) -> Any:
        return {"got": await asyncio.to_thread(ctx.once, "charge", counter.charge)}

    assert lone(body, store).invoke({}, thread_id="t").data == {"got": "receipt"}


def test_it_works_for_a_plain_node_under_ainvoke(store, reopened, counter, charging):
    async def run():
        body = charging(ask_then_return)
        await lone(body, store).ainvoke({}, thread_id="t")
        return await lone(body, reopened()).ainvoke(None, thread_id="t", resume=Resume(1))

    assert asyncio.run(run()).data == {"got": ["receipt", 1]}
    assert len(counter.calls) == 1
