"""The graph's timeout is one budget for the time inside the supersteps of a call."""

from __future__ import annotations

import asyncio
import time

import pytest

from nodestep import END, START, GraphTimeoutError, NodeContext

from .making import Log, does, of, says


def busy(seconds: float) -> None:
    """Work for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        continue


def works(name: str, seconds: float):
    def body(state: Log):
        busy(seconds)
        return {"log": [name]}

    return does(name, body)


def test_supersteps_share_the_budget():
    graph = of(START >> works("a", 0.8) >> works("b", 0.8) >> END, timeout=1.4)
    stream = graph.stream({}, stream_mode="updates")

    assert next(stream).node == "a"
    with pytest.raises(GraphTimeoutError):
        next(stream)


def test_time_that_a_consumer_takes_between_supersteps_does_not_count():
    graph = of(START >> says("a") >> says("b") >> says("c") >> END, timeout=1.2)
    for _ in graph.stream({}, stream_mode="updates"):
        busy(0.5)


@pytest.mark.parametrize("limit", ["node", "graph"])
def test_time_that_a_consumer_takes_inside_a_superstep_does_not_count(limit):
    async def talks(state: Log, ctx: NodeContext):
        for number in range(3):
            ctx.emit(number)
            for _ in range(20):
                await asyncio.sleep(0)
        return {"log": ["a"]}

    limits = {"node": ({"timeout": 0.9}, {}), "graph": ({}, {"timeout": 0.9})}
    of_node, of_graph = limits[limit]
    graph = of(START >> does("talks", talks, **of_node) >> END, **of_graph)
    for event in graph.stream({}, stream_mode="custom"):
        if event.mode == "custom":
            busy(0.4)


def test_each_call_has_a_budget_of_its_own(store):
    graph = of(START >> works("a", 0.5) >> works("b", 0.5) >> END, timeout=1.8, state_store=store)

    for _ in range(2):
        assert graph.invoke({}, thread_id="t").status == "completed"
