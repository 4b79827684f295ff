"""Signals that the engine did not raise itself pause nothing."""

from __future__ import annotations

import asyncio
import copy
import pickle

import pytest

from nodestep import (
    END,
    START,
    Graph,
    GraphConfigError,
    GraphExecutionError,
    GraphInterrupt,
    Interrupt,
    Resume,
    RunInterruptedError,
    interrupt,
    node,
)
from tests.asking import lone


@pytest.mark.parametrize("made", [GraphInterrupt("ask:approve"), type("Mine", (GraphInterrupt,), {})("ask:a")])
def test_a_graph_interrupt_raised_by_hand_fails_the_node(store, made):
    def body(state):
        raise made

    graph = lone(body, store)
    with pytest.raises(GraphExecutionError, match=r"'ask' raised a GraphInterrupt of its own making.*interrupt\("):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.pending("t")).items == ()


def test_the_engines_own_signal_raised_again_pauses(store):
    def body(state):
        try:
            return {"got": interrupt("A?", id="a")}
        except GraphInterrupt as signal:
            kept = signal
        raise kept

    graph = lone(body, store)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:a"]
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).data == {"got": 1}


def test_a_copy_of_the_engines_signal_is_made_by_hand(store):
    def body(state):
        try:
            interrupt("A?", id="a")
        except GraphInterrupt as signal:
            raise copy.copy(signal) from None

    with pytest.raises(GraphExecutionError, match="of its own making"):
        lone(body, store).invoke({}, thread_id="t")


def test_a_signal_kept_from_another_task_pauses_nothing(store):
    kept: list[GraphInterrupt] = []

    def keep(state):
        try:
            interrupt("A?", id="a")
        except GraphInterrupt as signal:
            kept.append(signal)
            raise

    lone(keep, store).invoke({}, thread_id="first")

    def reuse(state):
        raise kept[0]

    with pytest.raises(GraphExecutionError, match="of its own making"):
        lone(reuse, store).invoke({}, thread_id="t")


def paused_run() -> RunInterruptedError:
    asked = Interrupt("review:approve", "approve", "review", "review", {"amount": 5}, thread_id="inner")
    return RunInterruptedError("inner", {"review:approve": asked})


def test_the_pause_of_another_graph_told_as_an_error_fails_the_node(store):
    def body(state):
        raise paused_run()

    graph = lone(body, store)
    with pytest.raises(RunInterruptedError) as failed:
        graph.invoke({}, thread_id="t")
    assert (failed.value.thread_id, list(failed.value.interrupts)) == ("inner", ["review:approve"])
    assert asyncio.run(graph.pending("t")).items == ()
    assert [event.type for event in asyncio.run(graph.history("t")).events][-1] == "superstep_failed"


def test_the_pause_of_another_graph_told_as_an_error_is_an_exception_to_the_node(store):
    def body(state):
        try:
            raise paused_run()
        except Exception as error:
            return {"caught": type(error).__name__}

    assert lone(body, store).invoke({}, thread_id="t").data == {"caught": "RunInterruptedError"}


def test_the_pause_of_another_graph_in_a_group_fails_the_node(store):
    async def inner():
        raise paused_run()

    async def body(state):
        async with asyncio.TaskGroup() as group:
            group.create_task(inner())

    with pytest.raises((ExceptionGroup, RunInterruptedError)):
        lone(body, store).invoke({}, thread_id="t")


def test_a_graph_invoked_in_a_node_keeps_its_pause_to_itself(store):
    inner = Graph(dict, name="inner", state_store=store).flow(
        START >> node(lambda state: {"got": interrupt("Inner?", id="a")}, name="inside") >> END
    )

    def outer(state):
        return {"inner": inner.invoke({}, thread_id="inner").status}

    graph = lone(outer, store)
    assert graph.invoke({}, thread_id="t").data == {"inner": "interrupted"}
    assert [asked.thread_id for asked in asyncio.run(graph.pending()).items] == ["inner"]


def test_a_graph_invoked_in_a_node_without_a_store_fails_the_node_that_invoked_it(store):
    inner = Graph(dict, name="inner").flow(
        START >> node(lambda state: interrupt("Inner?", id="a"), name="inside") >> END
    )
    graph = lone(lambda state: inner.invoke({}).data, store)
    with pytest.raises(GraphConfigError, match=r"'inside' asks 'a'"):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.pending()).items == ()


def test_a_pause_turned_into_an_error_fails_the_node_and_asks_nobody(store):
    def body(state):
        try:
            return {"approved": interrupt("Approve?", id="a")}
        except GraphInterrupt as signal:
            raise ValueError("no answer") from signal

    graph = lone(body, store)
    with pytest.raises(Exception, match=r"no answer|'a'"):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.load("t")) == {}
    assert asyncio.run(graph.pending("t")).items == ()


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_signals_keep_their_attributes_when_copied(again):
    signal = GraphInterrupt("ask:a", "Approve?", "ask", "t")
    twin = again(signal)
    assert (twin.key, twin.prompt, twin.node_id, twin.checkpoint_id) == ("ask:a", "Approve?", "ask", "t")
    assert str(twin) == str(signal) == "workflow paused for input: Approve?"
    run = again(paused_run())
    assert (run.key, run.prompt, run.node_id) == ("review:approve", '{"amount":5}', "review")
