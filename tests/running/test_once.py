"""`ctx.once` beside other work of the same run."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from nodestep import END, START, GraphExecutionError, InMemoryStateStore, NodeContext
from tests.watching import Watched

from .making import Log, does, of, run, says, soon


def once_recorded(facts) -> bool:
    return any(type(fact).__name__ == "OnceRecorded" for fact in facts)


def test_parallel_plain_nodes_may_record_at_the_same_time(store):
    met = threading.Barrier(8)

    def pays(state: Log, ctx: NodeContext):
        met.wait(20)
        return {"log": [f"{ctx.node}{ctx.once('pay', lambda: ctx.node)}"]}

    graph = of(START >> [does(f"n{i}", pays) for i in range(8)] >> says("end") >> END, state_store=store)

    expected = [f"n{i}n{i}" for i in range(8)] + ["end"]
    assert graph.invoke({}, thread_id="t").state.log == expected
    assert run(graph.ainvoke({}, thread_id="u")).state.log == expected


def test_plain_once_works_in_an_async_node(store):
    async def pays(state: Log, ctx: NodeContext):
        return {"n": ctx.once("pay", lambda: 5)}

    async def refunds(state: Log, ctx: NodeContext):
        async def refund():
            return "refunded"

        return {"log": [await ctx.aonce("refund", refund)]}

    graph = of(START >> [does("a", pays), does("b", refunds)] >> says("end") >> END, state_store=store)

    assert run(graph.ainvoke({}, thread_id="t")).state == Log(n=5, log=["refunded", "end"])


def test_plain_once_of_an_async_function_is_told_to_be_aonce(store):
    async def refund():
        return "refunded"

    async def pays(state: Log, ctx: NodeContext):
        return {"log": [ctx.once("refund", refund)]}

    with pytest.raises(GraphExecutionError, match=r"'refund'.*coroutine.*await ctx.aonce\('refund'"):
        of(START >> does("a", pays) >> END, state_store=store).invoke({}, thread_id="t")


def test_an_id_twice_in_one_run_of_a_task_is_an_error(store):
    def twice(state: Log, ctx: NodeContext):
        ctx.once("pay", lambda: 1)
        ctx.once("pay", lambda: 2)

    with pytest.raises(GraphExecutionError, match="'pay' twice"):
        of(START >> does("a", twice) >> END, state_store=store).invoke({}, thread_id="t")


def test_two_nodes_may_record_while_the_consumer_of_a_stream_is_slow():
    meeting = threading.Barrier(2)

    def before(facts):
        if once_recorded(facts):
            # Two commits at the same time meet here; one that comes alone goes on soon.
            with suppress(threading.BrokenBarrierError):
                meeting.wait(0.3)

    go, done = threading.Event(), threading.Semaphore(0)

    def pays(state: Log, ctx: NodeContext):
        ctx.emit(ctx.node)
        soon(go)
        try:
            return {"log": [ctx.once("pay", lambda: ctx.node)]}
        finally:
            done.release()

    store = Watched(InMemoryStateStore(), before)
    graph = of(START >> [does("a", pays), does("b", pays)] >> says("c") >> END, state_store=store)
    stream = graph.stream({}, stream_mode="custom", thread_id="t")
    next(stream)
    go.set()
    for _ in range(2):
        done.acquire(timeout=2)

    assert list(stream)[-1].data.state["log"] == ["a", "b", "c"]
