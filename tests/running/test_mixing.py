"""Context variables, plain and async nodes, threads and event loops: what may be mixed."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nodestep import END, START, NodeContext, Resume, interrupt, node

from .making import Log, does, of, run, says

TENANT: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="nobody")


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_context_variables_of_the_caller_reach_every_node(parallel, asynchronous):
    def plain(state: Log):
        return {"log": [f"plain {TENANT.get()}"]}

    async def coroutine(state: Log):
        return {"log": [f"async {TENANT.get()}"]}

    a, b = does("a", plain), does("b", coroutine)
    graph = of(START >> [a, b] >> says("c") >> END) if parallel else of(START >> a >> b >> says("c") >> END)

    def call():
        TENANT.set("acme")
        return run(graph.ainvoke({})) if asynchronous else graph.invoke({})

    assert contextvars.copy_context().run(call).state.log == ["plain acme", "async acme", "c"]


def test_plain_and_async_nodes_mix_in_one_graph_and_each_form_can_go_on_after_the_other(store):
    @node
    async def first(state: Log):
        await asyncio.sleep(0)
        return {"log": ["async"]}

    @node
    def ask(state: Log):
        return {"log": [interrupt("plain?", id="p")]}

    @node
    async def ask_too(state: Log):
        return {"log": [interrupt("async?", id="a")]}

    graph = of(START >> first >> ask >> ask_too >> END, state_store=store)

    run(graph.ainvoke({}, thread_id="t"))
    graph.invoke(None, thread_id="t", resume=Resume("from invoke"))
    done = run(graph.ainvoke(None, thread_id="t", resume=Resume("from ainvoke")))

    assert done.state.log == ["async", "from invoke", "from ainvoke"]


def test_one_graph_may_be_invoked_from_many_threads_at_once(store):
    met = threading.Barrier(8)

    def body(state: Log):
        met.wait(20)
        return {"n": state.n * 2}

    graph = of(START >> does("a", body) >> END, state_store=store)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: graph.invoke({"n": n}, thread_id=f"t{n}"), range(8)))

    assert [result.state.n for result in results] == [n * 2 for n in range(8)]


def test_several_event_loops_may_share_a_store(store):
    async def pays(state: Log, ctx: NodeContext):
        async def pay():
            return state.n

        return {"n": await ctx.aonce("pay", pay), "log": ["paid"]}

    graph = of(START >> [does("a", pays), says("b")] >> says("c") >> END, state_store=store)

    async def many(loop: int) -> list[int]:
        results = await asyncio.gather(*(graph.ainvoke({"n": n}, thread_id=f"{loop}.{n}") for n in range(20)))
        return [result.state.n for result in results]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda loop: run(many(loop)), range(4))) == [list(range(20))] * 4
