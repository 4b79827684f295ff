"""Time limits of nodes and graphs. A plain node past its limit is left behind, and its context refuses it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from nodestep import END, START, GraphTimeoutError, NodeContext, NodeTimeoutError, Retry, interrupt

from .making import Log, both, does, forever, of, run, says, soon


@pytest.fixture
def release():
    """Lets a node go that was left behind."""
    event = threading.Event()
    yield event
    event.set()


def test_an_async_node_past_its_timeout_is_cancelled():
    cancelled = []

    async def slow(state: Log):
        try:
            await forever()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    with pytest.raises(NodeTimeoutError, match="'slow'") as caught:
        both(of(START >> does("slow", slow, timeout=0.02) >> END), {})

    assert (caught.value.node_name, caught.value.timeout) == ("slow", 0.02)
    assert cancelled == [True, True]


def test_a_plain_node_past_its_timeout_is_left_behind(release):
    def slow(state: Log):
        soon(release)

    with pytest.raises(NodeTimeoutError, match="'slow'"):
        both(of(START >> does("slow", slow, timeout=0.02) >> END), {})

    assert not release.is_set()


def test_a_timeout_error_of_the_nodes_own_is_no_timeout_of_ours():
    async def fails(state: Log):
        raise TimeoutError("the service's")

    with pytest.raises(TimeoutError, match="the service's") as caught:
        both(of(START >> does("a", fails, timeout=30) >> END), {})
    assert type(caught.value) is TimeoutError


@pytest.mark.parametrize("is_async", [True, False])
def test_a_node_within_its_timeout_is_not_disturbed(is_async):
    async def quick(state: Log):
        return {"n": 1}

    body: Any = quick if is_async else (lambda state: {"n": 1})
    assert both(of(START >> does("a", body, timeout=30) >> END), {}).state.n == 1


def test_a_node_that_timed_out_runs_again_with_its_cache(store):
    seen = []

    async def slow(state: Log, ctx: NodeContext):
        seen.append(dict(ctx.cache))
        if not ctx.cache:
            ctx.cache["page"] = 7
            await forever()
        return {"n": ctx.cache["page"]}

    graph = of(START >> does("slow", slow, timeout=0.05) >> END, state_store=store)
    with pytest.raises(NodeTimeoutError):
        graph.invoke({}, thread_id="t")

    assert graph.invoke(None, thread_id="t").state.n == 7
    assert seen == [{}, {"page": 7}]


def test_each_attempt_has_the_nodes_whole_timeout():
    async def slow_once(state: Log, ctx: NodeContext):
        if ctx.attempt == 1:
            await forever()
        return {"n": ctx.attempt}

    graph = of(START >> does("a", slow_once, timeout=0.02, retry=Retry(2, initial_delay_s=0)) >> END)

    assert both(graph, {}).state.n == 2


def test_a_graph_past_its_timeout_stops_what_runs():
    with pytest.raises(GraphTimeoutError, match="'slow graph'") as caught:
        both(of(START >> does("a", forever_node) >> END, timeout=0.02, name="slow graph"), {})

    assert (caught.value.graph_name, caught.value.timeout) == ("slow graph", 0.02)


async def forever_node(state: Log):
    await forever()


def test_a_plain_node_is_left_behind_at_the_graphs_timeout(release):
    with pytest.raises(GraphTimeoutError):
        both(of(START >> does("a", lambda state: soon(release)) >> END, timeout=0.02), {})

    assert not release.is_set()


def test_what_finished_before_the_graphs_timeout_is_recorded(store):
    ran: list[str] = []
    stuck = [True]

    async def slow(state: Log):
        if stuck[0]:
            await forever()
        return {"log": ["slow"]}

    graph = of(
        START >> says("a", ran) >> [says("b", ran), does("slow", slow)] >> says("c", ran) >> END,
        timeout=0.2,
        state_store=store,
    )
    with pytest.raises(GraphTimeoutError):
        graph.invoke({}, thread_id="t")
    stuck[0] = False

    assert graph.invoke(None, thread_id="t").state.log == ["a", "b", "slow", "c"]
    assert ran == ["a", "b", "c"]


def test_a_pause_is_no_timeout(store):
    async def ask(state: Log):
        return {"n": interrupt("?", id="n")}

    graph = of(START >> does("ask", ask, timeout=30) >> END, timeout=30, state_store=store)

    assert run(graph.ainvoke({}, thread_id="t")).status == "interrupted"
