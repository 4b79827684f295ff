"""The blocking forms and the async ones: where nodes run, and what reaches them."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nodestep import END, START, GraphConfigError, NodeContext, Resume, Retry, interrupt, node

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
