"""Turns whose calls an edit changed while they waited: what was recorded of a call is not taken for another."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import Graph, ToolContext, ToolExecutionError, interrupt, tool
from nodestep.chat import ToolCall
from tests.agents.acting import OVER_100, Shop, acting, answer, call, start, told


@pytest.fixture
def shop() -> Shop:
    return Shop()


def change(graph: Graph[Any], *calls: ToolCall) -> None:
    """Put other calls in the place of those that wait."""
    asyncio.run(graph.update_state("t", {"tool_calls": [one.model_dump() for one in calls]}))


def test_a_changed_call_of_the_same_id_runs_although_the_first_had_ended(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("look_up", "a", order="1"), call("refund", "b", amount=150))
    change(graph, call("look_up", "a", order="2"), call("refund", "b", amount=150))
    assert told(answer(graph, value=True)) == ['{"result":"order 2"}', '{"result":"refunded 150.0"}']
    assert sorted(shop.ran) == [("look_up", "1"), ("look_up", "2"), ("refund", 150.0, "")]


def test_a_call_that_stayed_the_same_is_not_run_again_beside_a_changed_one(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("look_up", "a", order="1"), call("refund", "b", amount=150))
    change(graph, call("look_up", "a", order="1"), call("refund", "b", amount=5))
    assert told(answer(graph, value=True)) == ['{"result":"order 1"}', '{"result":"refunded 5.0"}']
    assert shop.ran == [("look_up", "1"), ("refund", 5.0, "")]


def test_a_call_that_was_taken_out_leaves_no_message(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("look_up", "a", order="1"), call("refund", "b", amount=150))
    change(graph, call("refund", "b", amount=150))
    assert told(answer(graph, value=True)) == ['{"result":"refunded 150.0"}']


def test_a_call_that_was_put_in_is_asked_for_where_it_must_be(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("refund", "b", amount=150))
    change(graph, call("refund", "b", amount=150), call("refund", "c", amount=500))
    again = answer(graph, value=True)
    assert list(again.interrupts) == ["act:approve_c"]
    assert shop.ran == [("refund", 150.0, "")]


def test_another_tool_under_the_same_id_and_arguments_is_asked_for_anew(store):
    ran = []

    @tool(needs_approval=True)
    def keep(what: str) -> None:
        """Keep it."""
        ran.append(("keep", what))

    @tool(needs_approval=True)
    def drop(what: str) -> None:
        """Drop it."""
        ran.append(("drop", what))

    graph = acting([keep, drop], store)
    start(graph, call("keep", what="it"))
    change(graph, call("drop", what="it"))
    again = answer(graph, value=True)
    assert again.interrupts["act:approve_call_1..2"].payload.tool_name == "drop"
    assert ran == []


def test_a_changed_call_has_another_idempotency_key(store, shop):
    keys = []

    @tool
    def pay(amount: float, ctx: ToolContext) -> None:
        """Pay."""
        keys.append(ctx.idempotency_key)
        interrupt("Go on?", id="go")

    graph = acting([pay], store)
    start(graph, call("pay", amount=1))
    change(graph, call("pay", amount=2))
    answer(graph, value=True)
    assert len(set(keys)) == len(keys) == 2


def test_the_question_of_a_call_that_is_gone_is_closed(store):
    @tool
    def choose() -> str:
        """Choose."""
        return interrupt("Which?", id="which")

    @tool
    def fail() -> None:
        """Fail."""
        raise ValueError

    graph = acting([choose, fail], store)
    with pytest.raises(ToolExecutionError):
        start(graph, call("choose", "a"), call("fail", "b"))
    assert [listed.question.key for listed in store.questions("t")] == ["act/a:which"]
    change(graph, call("choose", "c"))
    paused = graph.invoke(None, thread_id="t")
    assert list(paused.interrupts) == ["act/c:which"]
    assert [listed.question.key for listed in store.questions("t")] == ["act/c:which"]
    assert told(answer(graph, value="red")) == ['{"result":"red"}']
