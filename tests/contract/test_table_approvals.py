"""The page's table "Rules and defaults", its rows about tool approvals; each test names its row."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import Resume, ScriptedChat, build_react_agent
from nodestep.chat import AIMessage, ChatResponse, HumanMessage, ToolMessage
from nodestep.middleware import (
    InterruptRule,
    ToolDecision,
    ToolInterrupt,
    ToolInterruptMiddleware,
    all_fields,
    any_field,
    eq,
    ge,
    gt,
    le,
    lt,
    matches,
    should_interrupt,
)
from tests.agents.acting import Shop, acting, answer, call, start, told


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.mark.parametrize(("tool", "asks"), [("refund", True), ("*", True), ("look_up", False)])
def test_row_interrupt_rule_tool(tool, asks):
    assert should_interrupt([InterruptRule(tool=tool)], "refund", {"amount": 1}) is asks


def test_row_interrupt_rule_match_none():
    rules = [InterruptRule(tool="refund", match=None)]
    assert all(should_interrupt(rules, "refund", arguments) for arguments in ({}, {"amount": 0}, {"amount": 1e9}))


@pytest.mark.parametrize(
    ("predicate", "asked", "passed"),
    [
        (gt("n", 1), 2, 1),
        (ge("n", 1), 1, 0),
        (lt("n", 1), 0, 1),
        (le("n", 1), 1, 2),
        (eq("n", 1), 1, 2),
        (matches("n", "^a"), "ab", "ba"),
        (all_fields({"n": "a", "m": "x"}), "a", "b"),
        (any_field({"n": "a", "m": "y"}), "a", "b"),
    ],
)
def test_row_predicates(predicate, asked, passed):
    rules = [InterruptRule("refund", match=predicate)]
    assert should_interrupt(rules, "refund", {"n": asked, "m": "x"})
    assert not should_interrupt(rules, "refund", {"n": passed, "m": "x"})


@pytest.mark.parametrize("arguments", [{}, {"amount": "a lot"}, {"amount": None}])
def test_row_a_predicate_that_raises(store, shop, arguments):
    assert should_interrupt([InterruptRule("refund", match=gt("amount", 100))], "refund", arguments)

    def broken(arguments: Any) -> bool:
        raise RuntimeError

    graph = acting(shop.tools, store, rules=[InterruptRule("refund", match=broken)])
    assert start(graph, call("refund", amount=1)).status == "interrupted"
    assert shop.ran == []


@pytest.mark.parametrize(
    ("call_id", "id"),
    [("call_1-A", "approve_call_1-A"), ("a b", "approve_a.20b"), ("x.y", "approve_x.2ey"), ("ü", "approve_.c3.bc")],
)
def test_row_approval_interrupt_id(store, shop, call_id, id):
    paused = start(acting(shop.tools, store, rules=[InterruptRule("refund")]), call("refund", call_id, amount=1))
    assert [found.id for found in paused.interrupts.values()] == [id]


def test_row_approval_payload(store, shop):
    graph = acting(shop.tools, store, rules=[InterruptRule("refund")])
    (found,) = start(graph, call("refund", amount=1)).interrupts.values()
    assert isinstance(found.payload, ToolInterrupt)
    assert (found.payload.tool_name, found.payload.tool_call_id) == ("refund", "call_1")
    assert found.payload.arguments == {"amount": 1.0, "note": ""}


@pytest.mark.parametrize("value", [True, ToolDecision(action="approve")])
def test_row_approve(store, shop, value):
    graph = acting(shop.tools, store, rules=[InterruptRule("refund")])
    start(graph, call("refund", amount=1))
    answer(graph, value=value)
    assert shop.ran == [("refund", 1.0, "")]


def test_row_edit(store, shop):
    graph = acting(shop.tools, store, rules=[InterruptRule("refund")])
    start(graph, call("refund", amount=1, note="kept"))
    answer(graph, value=ToolDecision(action="edit", arguments={"amount": 2}))
    assert shop.ran == [("refund", 2.0, "kept")]


@pytest.mark.parametrize("value", [False, "no", "yes", None, 1, {}, ToolDecision(action="deny", message="Not today.")])
def test_row_deny(store, shop, value):
    graph = acting(shop.tools, store, rules=[InterruptRule("refund")])
    start(graph, call("refund", amount=1))
    (content,) = told(answer(graph, value=value))
    assert "was not run" in content
    assert shop.ran == []
    assert not isinstance(value, ToolDecision) or "Not today." in content


@pytest.mark.parametrize(
    ("value", "ran"),
    [
        ({"action": "approve"}, [("refund", 1.0, "")]),
        ({"action": "edit", "arguments": {"amount": 2}}, [("refund", 2.0, "")]),
        ({"action": "deny", "message": "no"}, []),
    ],
)
def test_row_decision_as_a_dict(store, shop, value, ran):
    graph = acting(shop.tools, store, rules=[InterruptRule("refund")])
    start(graph, call("refund", amount=1))
    answer(graph, value=value)
    assert shop.ran == ran


def test_row_history_after_an_approval(store, shop):
    chat = ScriptedChat([ChatResponse(tool_calls=[call("refund", amount=1)]), "Done."])
    gate = ToolInterruptMiddleware(rules=[InterruptRule("refund")])
    agent = build_react_agent(chat, tools=shop.tools, middleware=[gate], state_store=store)
    agent.invoke({"messages": [HumanMessage(content="Refund.")]}, thread_id="t")
    edit = ToolDecision(action="edit", arguments={"amount": 2})
    _, made, ran, _ = agent.invoke(None, thread_id="t", resume=Resume(edit)).state.messages
    assert isinstance(made, AIMessage)
    assert isinstance(ran, ToolMessage)
    assert made.tool_calls[0].arguments == {"amount": 1}
    assert ran.arguments == {"amount": 2.0, "note": ""}
