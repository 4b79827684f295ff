"""The blocking forms and the async ones: where nodes run, and what reaches them."""

from __future__ import annotations

import asyncio
import functools
import threading

import pytest

from nodestep import END, START, GraphConfigError, NodeContext, Retry

from .making import Log, does, of, run, says


def notes_its_thread(threads: list[int], name: str = "a", **options):
    return does(name, lambda state: threads.append(threading.get_ident()), **options)


def test_a_lone_plain_node_runs_in_the_calling_thread():
    threads: list[int] = []
    of(START >> notes_its_thread(threads) >> END).invoke({})

    assert threads == [threading.get_ident()]


def test_a_lone_plain_node_needs_no_event_loop():
    def opens_its_own(state: Log):
        return {"n": asyncio.run(answer())}

    async def answer():
        return 5

    assert of(START >> does("a", opens_its_own) >> END).invoke({}).state.n == 5


@pytest.mark.parametrize("retry", [None, Retry(2, initial_delay_s=0)])
def test_a_lone_plain_node_runs_in_the_calling_thread_on_every_attempt(retry):
    threads: list[int] = []

    def body(state: Log, ctx: NodeContext):
        threads.append(threading.get_ident())
        if retry is not None and ctx.attempt == 1:
            raise ValueError

    of(START >> does("a", body, retry=retry) >> END).invoke({})

    assert set(threads) == {threading.get_ident()}


def test_plain_nodes_never_run_in_the_thread_of_a_callers_loop():
    threads: list[int] = []
    graph = of(START >> notes_its_thread(threads) >> [notes_its_thread(threads, "b"), says("c")] >> says("d") >> END)
    run(graph.ainvoke({}))

    assert len(threads) == 2
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("flow", ["two tasks", "a timeout of the node", "a timeout of the graph"])
def test_plain_nodes_that_are_not_alone_or_are_timed_run_in_a_thread_of_ours(flow):
    threads: list[int] = []
    daemons = []
    first = does(
        "a",
        lambda state: daemons.append(threading.current_thread().daemon) or threads.append(threading.get_ident()),  # type: ignore[func-returns-value]
        timeout=30 if flow == "a timeout of the node" else None,
    )
    targets = [first, says("b")] if flow == "two tasks" else [first]
    of(START >> targets >> says("c") >> END, timeout=30 if "graph" in flow else None).invoke({})

    assert threading.get_ident() not in threads
    assert daemons == [True]


def test_async_nodes_run_in_one_loop_over_a_whole_call():
    loops = []

    async def body(state: Log):
        loops.append(asyncio.get_running_loop())

    of(START >> does("a", body) >> says("x") >> does("b", body) >> END).invoke({})

    assert loops[0] is loops[1]
    assert loops[0].is_closed()


def test_async_nodes_run_in_the_callers_loop():
    loops = []

    async def body(state: Log):
        loops.append(asyncio.get_running_loop())

    async def call():
        await of(START >> does("a", body) >> END).ainvoke({})
        assert loops == [asyncio.get_running_loop()]

    run(call())


@pytest.mark.parametrize("form", ["invoke", "stream"])
def test_blocking_forms_refuse_to_run_inside_a_running_loop(form, store):
    ran: list[str] = []
    graph = of(START >> says("a", ran) >> END, state_store=store)

    blocking = graph.invoke if form == "invoke" else functools.partial(graph.stream, stream_mode=[])

    async def call():
        with pytest.raises(GraphConfigError, match=rf"running event loop.*graph\.a{form}"):
            blocking({}, thread_id="t")
        assert not await graph.exists("t")

    run(call())
    assert ran == []


def test_a_blocking_form_works_in_a_thread_beside_a_running_loop():
    graph = of(START >> [says("a"), says("b")] >> says("c") >> END)

    async def call():
        return await asyncio.to_thread(graph.invoke, {})

    assert run(call()).state.log == ["a", "b", "c"]


def test_a_node_may_call_another_graph_with_the_blocking_form():
    inner = of(START >> [says("x"), says("y")] >> says("z") >> END)

    def calls(state: Log):
        return {"log": inner.invoke({}).state.log}

    outer = of(START >> does("alone", calls) >> [does("one", calls), says("two")] >> says("end") >> END)

    expected = ["x", "y", "z", "x", "y", "z", "two", "end"]
    assert outer.invoke({}).state.log == expected
    assert run(outer.ainvoke({})).state.log == expected
