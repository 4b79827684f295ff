"""`ctx.idempotency_key`: the same on every attempt of a task, different for every other task, and fit for a header."""

from __future__ import annotations

import re

import pytest

from nodestep import END, START, Graph, InMemoryStateStore, NodeContext, Resume, Retry, Send, interrupt, node, when
from tests.asking import lone


def test_it_is_the_same_over_retries_pauses_failures_and_restarts(store, reopened):
    keys: list[str] = []

    def body(state: dict, ctx: NodeContext) -> None:
        keys.append(ctx.idempotency_key)
        if len(keys) in (1, 2):
            raise OSError("no disk")
        interrupt("?", id="a")

    def graph(store) -> Graph:
        trying = node(body, name="ask", retry=Retry(2, initial_delay_s=0))
        return Graph(dict, name="g", state_store=store).flow(START >> trying >> END)

    with pytest.raises(OSError, match="no disk"):
        graph(store).invoke({}, thread_id="t")
    graph(reopened()).invoke(None, thread_id="t")
    graph(reopened()).invoke(None, thread_id="t", resume=Resume(1))
    assert len(keys) == 4
    assert len(set(keys)) == 1
    assert re.fullmatch(r"[0-9a-f]{32}", keys[0])


def test_it_differs_between_the_tasks_of_a_superstep_the_rounds_of_a_loop_turns_and_threads(store):
    keys: list[str] = []

    @node
    def work(state: dict, ctx: NodeContext) -> dict:
        keys.append(ctx.idempotency_key)
        return {"rounds": state.get("rounds", 0) + 1}

    @node(goto=[work])
    def split(state):
        return [Send(work, {}), Send(work, {})]

    graph = Graph(dict, name="g", state_store=store).flow(
        START >> split, work >> when(lambda state: state["rounds"] < 2, split, otherwise=END)
    )
    for thread in ("one", "two", "one"):
        graph.invoke({"rounds": 0}, thread_id=thread)
    assert len(keys) == 12
    assert len(set(keys)) == 12


def test_it_differs_between_stores():
    keys: list[str] = []

    def body(state: dict, ctx: NodeContext) -> None:
        keys.append(ctx.idempotency_key)

    for _ in range(2):
        with InMemoryStateStore() as store:
            lone(body, store).invoke({}, thread_id="t")
    assert len(set(keys)) == 2


def test_without_a_store_it_differs_between_runs_and_not_between_tries():
    keys: list[str] = []

    def body(state: dict, ctx: NodeContext) -> None:
        keys.append(ctx.idempotency_key)
        if ctx.attempt == 1:
            raise OSError("no disk")

    graph = Graph(dict).flow(START >> node(body, name="ask", retry=Retry(2, initial_delay_s=0)) >> END)
    graph.invoke({})
    graph.invoke({})
    assert keys[0] == keys[1] != keys[2] == keys[3]
