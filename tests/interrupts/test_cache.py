"""`ctx.cache`: what a task has found out survives its pauses, failures, timeouts and restarts, and reaches no other task."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    LimitExceededError,
    NodeContext,
    NodeTimeoutError,
    Resume,
    Retry,
    Send,
    StateStoreError,
    interrupt,
    node,
    when,
)
from tests.asking import lone


def test_it_survives_several_pauses_and_restarts(store, reopened):
    priced: list[int] = []

    def body(state: dict, ctx: NodeContext) -> dict[str, Any]:
        if "price" not in ctx.cache:
            priced.append(1)
            ctx.cache["price"] = 42
        first = interrupt("First?", id="a")
        ctx.cache["steps"] = [*ctx.cache.get("steps", []), first]
        second = interrupt("Second?", id="b")
        return {"got": [ctx.cache["price"], ctx.cache["steps"], second]}

    lone(body, store).invoke({}, thread_id="t")
    lone(body, reopened()).invoke(None, thread_id="t", resume=Resume(1))
    done = lone(body, reopened()).invoke(None, thread_id="t", resume=Resume(2))
    assert done.data == {"got": [42, [1, 1], 2]}
    assert priced == [1]


def test_it_survives_a_failure(store, reopened):
    seen: list[Any] = []

    def body(state: dict, ctx: NodeContext) -> None:
        seen.append(dict(ctx.cache))
        ctx.cache["tries"] = ctx.cache.get("tries", 0) + 1
        if ctx.cache["tries"] < 3:
            raise OSError("no disk")

    for opened in (store, reopened()):
        with pytest.raises(OSError, match="no disk"):
            lone(body, opened).invoke({} if not seen else None, thread_id="t")
    lone(body, reopened()).invoke(None, thread_id="t")
    assert seen == [{}, {"tries": 1}, {"tries": 2}]


def test_it_survives_a_timeout(store):
    seen: list[Any] = []

    async def body(state: dict, ctx: NodeContext) -> None:
        seen.append(dict(ctx.cache))
        ctx.cache["price"] = 42
        if len(seen) == 1:
            await asyncio.Event().wait()

    graph = Graph(dict, state_store=store).flow(START >> node(body, name="ask", timeout=0.02) >> END)
    with pytest.raises(NodeTimeoutError):
        graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t")
    assert seen == [{}, {"price": 42}]


def test_it_survives_the_timeout_of_a_plain_node(store):
    seen: list[Any] = []
    release = threading.Event()

    def body(state: dict, ctx: NodeContext) -> None:
        seen.append(dict(ctx.cache))
        ctx.cache["price"] = 42
        if len(seen) == 1:
            release.wait(10)

    graph = Graph(dict, state_store=store).flow(START >> node(body, name="ask", timeout=0.05) >> END)
    with pytest.raises(NodeTimeoutError):
        graph.invoke({}, thread_id="t")
    release.set()
    graph.invoke(None, thread_id="t")
    assert seen == [{}, {"price": 42}]


def test_every_try_of_a_node_sees_what_the_last_one_left(store):
    def body(state: dict, ctx: NodeContext) -> dict[str, Any]:
        ctx.cache["tries"] = ctx.cache.get("tries", 0) + 1
        if ctx.attempt < 3:
            raise OSError("no disk")
        return {"got": ctx.cache["tries"]}

    asking = node(body, name="ask", retry=Retry(3, initial_delay_s=0))
    graph = Graph(dict, state_store=store).flow(START >> asking >> END)
    assert graph.invoke({}, thread_id="t").data == {"got": 3}


def test_a_loop_that_comes_round_starts_with_an_empty_one(store):
    seen: list[Any] = []

    @node
    def ask(state: dict, ctx: NodeContext) -> dict[str, Any]:
        seen.append(dict(ctx.cache))
        ctx.cache["price"] = 42
        return {"got": interrupt("Go on?", id="go")}

    graph = Graph(dict, name="loop", state_store=store).flow(
        START >> ask >> when(lambda state: state["got"] == "on", ask, otherwise=END)
    )
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("on"))
    graph.invoke(None, thread_id="t", resume=Resume("stop"))
    assert seen == [{}, {"price": 42}, {}, {"price": 42}]


def test_a_new_turn_starts_with_an_empty_one(store):
    seen: list[Any] = []

    def body(state: dict, ctx: NodeContext) -> None:
        seen.append(dict(ctx.cache))
        ctx.cache["price"] = 42
        if len(seen) == 1:
            raise OSError("no disk")

    graph = lone(body, store)
    with pytest.raises(OSError, match="no disk"):
        graph.invoke({}, thread_id="t")
    graph.invoke({}, thread_id="t")
    assert seen == [{}, {}]


def test_every_task_of_a_superstep_has_its_own(store, reopened):
    @node
    def judge(state: dict, ctx: NodeContext) -> dict[str, Any]:
        ctx.cache.setdefault("item", state["item"])
        answers = [interrupt(state["item"], id="once")]
        if state["item"] != "b":
            answers.append(interrupt(state["item"], id="again"))
        return {state["item"]: [ctx.cache["item"], *answers]}

    @node(goto=[judge])
    def split(state):
        return [Send(judge, {"item": item}) for item in "abc"]

    def graph(store) -> Graph:
        return Graph(dict, name="items", state_store=store).flow(START >> split, judge >> END)

    graph(store).invoke({}, thread_id="t")
    first = {"judge:once": 1, "judge[1]:once": 2, "judge[2]:once": 3}
    paused = graph(reopened()).invoke(None, thread_id="t", resume=Resume(answers=first))
    assert list(paused.interrupts) == ["judge:again", "judge[2]:again"]
    second = {"judge:again": 4, "judge[2]:again": 5}
    done = graph(reopened()).invoke(None, thread_id="t", resume=Resume(answers=second))
    assert done.data == {"a": ["a", 1, 4], "b": ["b", 2], "c": ["c", 3, 5]}


def test_what_is_taken_out_stays_out(store):
    seen: list[Any] = []

    def body(state: dict, ctx: NodeContext) -> None:
        seen.append(dict(ctx.cache))
        ctx.cache["price"] = 42
        interrupt("First?", id="a")
        ctx.cache.clear()
        interrupt("Second?", id="b")

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(1))
    graph.invoke(None, thread_id="t", resume=Resume(2))
    assert seen == [{}, {"price": 42}, {}]


@pytest.mark.parametrize(
    ("value", "error"),
    [(print, StateStoreError), (float("nan"), LimitExceededError), ("x" * (1 << 20), LimitExceededError)],
    ids=["function", "nan", "over 1 MiB"],
)
def test_a_cache_that_cannot_be_stored_fails_the_pause_and_names_the_node(store, value, error):
    def body(state: dict, ctx: NodeContext) -> None:
        ctx.cache["what"] = value
        interrupt("?", id="a")

    graph = lone(body, store)
    with pytest.raises(error, match=r"ctx\.cache of node 'ask'"):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.pending("t")).items == ()


def test_a_cache_that_cannot_be_stored_does_not_hide_the_nodes_own_error(store):
    def body(state: dict, ctx: NodeContext) -> None:
        ctx.cache["what"] = print
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk") as failed:
        lone(body, store).invoke({}, thread_id="t")
    assert any("ctx.cache" in note for note in failed.value.__notes__)


def test_a_node_that_finishes_may_keep_anything_in_it(store):
    def body(state: dict, ctx: NodeContext) -> dict[str, Any]:
        ctx.cache["call"] = print
        return {"done": True}

    assert lone(body, store).invoke({}, thread_id="t").data == {"done": True}


def test_without_a_store_it_lasts_as_long_as_the_task():
    def body(state: dict, ctx: NodeContext) -> dict[str, Any]:
        ctx.cache["tries"] = ctx.cache.get("tries", 0) + 1
        if ctx.attempt < 2:
            raise OSError("no disk")
        return {"got": ctx.cache["tries"]}

    asking = node(body, name="ask", retry=Retry(2, initial_delay_s=0))
    assert Graph(dict).flow(START >> asking >> END).invoke({}).data == {"got": 2}
