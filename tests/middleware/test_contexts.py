"""What hooks are shown: frozen contexts, each with a copy of its own."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from nodestep import END, START, BaseState, Graph, Middleware, NodeContext, Resume, Send, interrupt, node
from nodestep.middleware import GraphMiddlewareContext, NodeMiddlewareContext, Replacement
from tests.middleware.noting import Noting, chain


@pytest.fixture
def noting() -> Noting:
    return Noting("A", [])


def contexts(noting: Noting, hook: str) -> list[Any]:
    return [ctx for name, ctx in noting.seen if name == hook]


def test_graph_hooks_are_told_the_run(store, noting):
    chain(lambda state: {"got": 1}, middleware=[noting], store=store).invoke({"amount": 5}, thread_id="t")
    before, after, end = (contexts(noting, hook)[0] for hook in ("before_graph", "after_graph", "on_run_end"))
    for ctx in (before, after, end):
        assert isinstance(ctx, GraphMiddlewareContext)
        assert (ctx.graph_name, ctx.thread_id, ctx.branch_id) == ("noted", "t", "main")
        assert ctx.run_id == ctx.root_run_id == before.run_id
        assert ctx.resuming is False
    assert before.state == {"amount": 5}
    assert after.state == end.state == {"amount": 5, "got": 1}


@pytest.mark.parametrize("answered", ["in the call", "before"])
def test_graph_hooks_are_told_of_going_on(store, noting, answered):
    def ask(state):
        interrupt("?", id="a")

    graph = chain(ask, middleware=[noting], store=store)
    graph.invoke({}, thread_id="t")
    if answered == "before":
        asyncio.run(graph.answer("t", {"n0:a": 1}))
    graph.invoke(None, thread_id="t", resume=Resume(1) if answered != "before" else None)
    assert [ctx.resuming for ctx in contexts(noting, "before_graph")] == [False, True]
    assert len({ctx.run_id for ctx in contexts(noting, "before_graph")}) == 2
    graph.invoke({}, thread_id="t")
    assert contexts(noting, "before_graph")[-1].resuming is False


def test_node_hooks_are_told_the_task(store, noting):
    steps: list[tuple[Any, ...]] = []

    def body(state: dict, ctx: NodeContext) -> dict[str, Any]:
        steps.append((ctx.node, ctx.run_id, ctx.thread_id, ctx.step, ctx.task_id, ctx.root_run_id))
        return {"got": ctx.step}

    chain(body, body, middleware=[noting], store=store).invoke({}, thread_id="t")
    for hook in ("before_node", "after_node"):
        shown = contexts(noting, hook)
        assert all(isinstance(ctx, NodeMiddlewareContext) for ctx in shown)
        assert [
            (ctx.node_name, ctx.run_id, ctx.thread_id, ctx.step, ctx.task_id, ctx.root_run_id) for ctx in shown
        ] == steps
        assert {ctx.graph_name for ctx in shown} == {"noted"}
    assert [ctx.state for ctx in contexts(noting, "before_node")] == [{}, {"got": 0}]
    assert [ctx.update for ctx in contexts(noting, "before_node")] == [None, None]
    assert [ctx.update for ctx in contexts(noting, "after_node")] == [{"got": 0}, {"got": 1}]


def test_node_hooks_are_told_the_state_with_the_payload_of_a_send(noting):
    @node
    def judge(state):
        return None

    @node(goto=[judge])
    def split(state):
        return [Send(judge, {"item": item}) for item in "ab"]

    Graph(dict, middleware=[noting]).flow(START >> split, judge >> END).invoke({})
    judged = [ctx for ctx in contexts(noting, "before_node") if ctx.node_name == "judge"]
    assert sorted((ctx.task_id, ctx.state["item"]) for ctx in judged) == [("judge", "a"), ("judge[1]", "b")]


def test_the_state_is_of_the_graphs_state_type(noting):
    class Order(BaseState):
        amount: int = 0

    Graph(Order, middleware=[noting]).flow(START >> node(lambda state: {"amount": 2}, name="n") >> END).invoke({})
    assert [(hook, ctx.state) for hook, ctx in noting.seen if hook != "after_node"] == [
        ("before_graph", Order(amount=0)),
        ("before_node", Order(amount=0)),
        ("after_graph", Order(amount=2)),
        ("on_run_end", Order(amount=2)),
    ]


@pytest.mark.parametrize("hook", ["before_graph", "after_graph", "on_run_end", "before_node", "after_node"])
def test_what_a_hook_does_to_the_state_it_is_shown_reaches_nobody(hook):
    def change(self, ctx, *rest):
        ctx.state["items"].append("from the hook")
        ctx.state["new"] = True

    changing = type("Changing", (Middleware,), {hook: change})()
    done = chain(lambda state: {"seen": list(state["items"])}, middleware=[changing]).invoke({"items": ["a"]})
    assert done.data == {"items": ["a"], "seen": ["a"]}


def test_what_a_hook_does_to_the_update_it_is_shown_reaches_nobody():
    class Changing(Middleware):
        def after_node(self, ctx):
            ctx.update["items"].append("from the hook")

    given = {"items": ["a"]}
    done = chain(lambda state: given, middleware=[Changing()]).invoke({})
    assert done.data == {"items": ["a"]}
    assert given == {"items": ["a"]}


@pytest.mark.parametrize("hook", ["before_graph", "before_node"])
def test_a_context_cannot_be_changed(noting, hook):
    chain(lambda state: None, middleware=[noting]).invoke({})
    (ctx,) = contexts(noting, hook)
    with pytest.raises(dataclasses.FrozenInstanceError):
        ctx.state = {}


@pytest.mark.parametrize("hook", ["before_graph", "after_graph", "on_run_end"])
@pytest.mark.parametrize("answer", [Replacement({"amount": 0}), {"amount": 0}, "what", False])
def test_graph_hooks_only_look(hook, answer):
    looking = Noting("A", [], **{hook: answer})
    assert chain(lambda state: {"got": state["amount"]}, middleware=[looking]).invoke({"amount": 5}).data == {
        "amount": 5,
        "got": 5,
    }
