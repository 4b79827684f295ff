"""Many threads of history and many nodes at once. Ids are those of the collection of cases."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from nodestep import END, START, NodeContext, Resume, interrupt
from tests.running.making import Log, does, of, run, says


def everyones(store):
    """Each thread has its own payload, cache, context and answer; a node calls another graph with them."""

    def inner_node(state: Log, ctx: NodeContext):
        return {"log": [f"inner {ctx.context} {state.n}"]}

    inner = of(START >> [does("p", inner_node), does("q", inner_node)] >> says("r") >> END)

    def asks(state: Log, ctx: NodeContext):
        mine = ctx.cache.setdefault("mine", state.n)
        answer = interrupt({"n": state.n}, id="ok")
        return {"log": [f"{state.n} {mine} {answer} {ctx.context} {ctx.thread_id}"]}

    async def coroutine(state: Log, ctx: NodeContext):
        await asyncio.sleep(0)
        return {"log": [f"async {ctx.context} {state.n}"]}

    def calls(state: Log, ctx: NodeContext):
        return {"log": inner.invoke({"n": state.n}, context=ctx.context).state.log}

    return of(START >> [does("ask", asks), does("co", coroutine)] >> does("calls", calls) >> END, state_store=store)


def expected(n: int) -> list[str]:
    of_inner = [f"inner c{n} {n}", f"inner c{n} {n}", "r"]
    return [f"{n} {n} a{n} c{n} t{n}", f"async c{n} {n}", *of_inner]


def test_cc_04_threads_of_one_graph_do_not_mix_in_one_loop(store):
    graph = everyones(store)

    async def one(n: int) -> list[str]:
        paused = await graph.ainvoke({"n": n}, thread_id=f"t{n}", context=f"c{n}")
        assert paused.interrupts["ask:ok"].payload == {"n": n}
        done = await graph.ainvoke(None, thread_id=f"t{n}", context=f"c{n}", resume=Resume(f"a{n}"))
        return done.state.log

    async def every() -> list[list[str]]:
        return await asyncio.gather(*(one(n) for n in range(100)))

    assert run(every()) == [expected(n) for n in range(100)]


def test_cc_04_threads_of_one_graph_do_not_mix_in_a_thread_pool(store):
    graph = everyones(store)

    def one(n: int) -> list[str]:
        graph.invoke({"n": n}, thread_id=f"t{n}", context=f"c{n}")
        return graph.invoke(None, thread_id=f"t{n}", context=f"c{n}", resume=Resume(f"a{n}")).state.log

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(one, range(100))) == [expected(n) for n in range(100)]


def test_cc_06_writes_of_many_nodes_that_end_together_are_all_there(store):
    met = threading.Barrier(50)

    def meets(n: int):
        def body(state: Log):
            met.wait(20)
            return {"log": [f"n{n:02}"]}

        return does(f"n{n:02}", body)

    def asks(state: Log):
        return {"log": [interrupt("?", id="ok")]}

    graph = of(START >> [does("ask", asks), *map(meets, range(50))] >> says("z") >> END, state_store=store)
    for thread in range(20):
        graph.invoke({}, thread_id=f"t{thread}")
        done = graph.invoke(None, thread_id=f"t{thread}", resume=Resume("yes"))
        assert done.state.log == ["yes", *(f"n{n:02}" for n in range(50)), "z"]
