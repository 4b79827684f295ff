"""What a failing task does to the tasks beside it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from nodestep import END, START, NodeContext

from .making import Log, both, does, forever, of, run, says, soon


def fails(error: Exception | None = None):
    def body(state: Log):
        raise error or ValueError("no")

    return body


class Once:
    """Fails the first time it is asked."""

    def __init__(self, name: str = "again") -> None:
        self.name = name
        self.asked = 0

    def __call__(self, state: Log):
        self.asked += 1
        if self.asked == 1:
            raise ValueError("once")
        return {"log": [self.name]}


def test_the_first_failure_in_scheduling_order_is_raised_whichever_came_first():
    second_failed = threading.Event()

    def first(state: Log):
        soon(second_failed)
        raise LookupError("first in order")

    def second(state: Log):
        second_failed.set()
        raise ValueError("first in time")

    with pytest.raises(LookupError, match="first in order"):
        both(of(START >> [does("z", first), does("a", second)] >> says("c") >> END), {})


def test_a_failing_task_cancels_its_async_siblings():
    cancelled: list[str] = []

    async def waits(state: Log, ctx: NodeContext):
        try:
            await forever()
        except asyncio.CancelledError:
            cancelled.append(ctx.node)
            raise

    graph = of(START >> [does("a", waits), does("b", fails()), does("c", waits)] >> says("d") >> END)
    with pytest.raises(ValueError, match="no"):
        run(graph.ainvoke({}))

    assert sorted(cancelled) == ["a", "c"]


def test_plain_siblings_are_waited_for_and_recorded(store):
    ran: list[str] = []
    failed = threading.Event()
    once = Once("b")

    def slow(state: Log):
        ran.append("slow")
        soon(failed)
        return {"log": ["slow"]}

    def breaks(state: Log):
        failed.set()
        return once(state)

    graph = of(START >> [does("slow", slow), does("b", breaks)] >> says("c") >> END, state_store=store)
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")

    assert graph.invoke(None, thread_id="t").state.log == ["b", "slow", "c"]
    assert ran == ["slow"]


def test_an_async_sibling_that_ends_in_spite_of_being_cancelled_is_recorded(store):
    ran: list[str] = []
    once = Once("b")

    async def stubborn(state: Log):
        ran.append("stubborn")
        try:
            await forever()
        except asyncio.CancelledError:
            return {"log": ["stubborn"]}

    graph = of(
        START >> [does("a", stubborn), does("b", lambda state: once(state))] >> says("c") >> END, state_store=store
    )
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")

    assert graph.invoke(None, thread_id="t").state.log == ["stubborn", "b", "c"]
    assert ran == ["stubborn"]


def test_a_cancelled_sibling_runs_again(store):
    once, runs = Once("b"), []

    async def waits(state: Log):
        runs.append(1)
        if len(runs) == 1:
            await forever()
        return {"log": ["a"]}

    graph = of(START >> [does("a", waits), does("b", lambda state: once(state))] >> says("c") >> END, state_store=store)
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")

    assert graph.invoke(None, thread_id="t").state.log == ["a", "b", "c"]
