"""Blocking streams among threads, context variables and one another."""

from __future__ import annotations

import contextvars
from concurrent.futures import ThreadPoolExecutor

from nodestep import END, START, NodeContext, Resume, interrupt
from tests.running.making import Log, does, of, says


def parallel():
    return of(START >> says("a") >> [says("b"), says("c")] >> says("d") >> END)


def test_two_blocking_streams_may_be_read_in_turns():
    first, second = (parallel().stream({}, stream_mode="values") for _ in range(2))
    both = list(zip(first, second, strict=True))

    assert [event.mode for event, _ in both] == ["values", "values", "values", "final"]
    assert all(a.data == b.data for a, b in both[:-1])


def test_a_blocking_stream_may_be_read_by_another_thread_each_time():
    """As web frameworks do with a generator: each event in some thread of a pool, in a context of its own."""
    stream = parallel().stream({}, stream_mode="values")
    modes = []
    with ThreadPoolExecutor(4) as pool:
        while (event := pool.submit(contextvars.copy_context().run, lambda: next(stream, None)).result()) is not None:
            modes.append(event.mode)

    assert modes == ["values", "values", "values", "final"]


def test_a_blocking_stream_may_be_closed_in_another_context(store):
    graph = of(START >> says("a") >> [says("b"), says("c")] >> says("d") >> END, state_store=store)
    stream = graph.stream({}, stream_mode="values", thread_id="t")
    contextvars.copy_context().run(next, stream)
    contextvars.copy_context().run(stream.close)  # type: ignore[attr-defined]

    assert graph.invoke(None, thread_id="t").state.log == ["a", "b", "c", "d"]


def test_a_node_may_ask_while_it_reads_the_stream_of_another_graph(store):
    def reads(state: Log, ctx: NodeContext):
        answers = []
        for event in parallel().stream({}, stream_mode="values"):
            answers.append(interrupt(event.mode, id="ok"))
            break
        return {"log": answers}

    graph = of(START >> does("reads", reads) >> END, state_store=store)

    assert list(graph.invoke({}, thread_id="t").interrupts) == ["reads:ok"]
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["yes"]


def test_a_node_may_ask_while_it_reads_the_async_stream_of_another_graph(store):
    async def reads(state: Log):
        answers = []
        async for event in parallel().astream({}, stream_mode="values"):
            answers.append(interrupt(event.mode, id="ok"))
            break
        return {"log": answers}

    graph = of(START >> does("reads", reads) >> END, state_store=store)

    assert list(graph.invoke({}, thread_id="t").interrupts) == ["reads:ok"]
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["yes"]
