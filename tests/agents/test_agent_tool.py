"""`agent_tool`: agents inside tool calls of another, in one thread."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import (
    END,
    START,
    AgentState,
    Graph,
    GraphConfigError,
    ScriptedChat,
    agent_tool,
    model_node,
    tool_runner,
    when,
)
from nodestep.chat import ChatResponse, ToolCall
from nodestep.middleware import InterruptRule, ToolInterruptMiddleware
from tests.agents.acting import Shop, acting, answer, call, start, told


def calls(*made: ToolCall) -> ChatResponse:
    return ChatResponse(tool_calls=made)


def agent(script: Any, tools: Any, name: str = "helper", **options: Any) -> Graph[AgentState]:
    """A model that thinks and acts in turns."""
    think = model_node("think", chat=ScriptedChat(script), tools=tools)
    act = tool_runner("act", tools=tools)
    return Graph(AgentState, name=name, **options).flow(
        START >> think, think >> when(lambda state: bool(state.tool_calls), act, otherwise=END), act >> think
    )


@pytest.fixture
def shop() -> Shop:
    return Shop()


def as_tool(graph: Graph[Any], name: str = "ask_helper") -> Any:
    return agent_tool(graph, name=name, description="Ask the helper.")


def test_an_agent_answers_a_call_with_its_final_text(shop):
    helper = agent([calls(call("look_up", order="1")), "It is order 1."], shop.tools)
    assert told(start(acting([as_tool(helper)]), call("ask_helper", message="Which?"))) == [
        '{"result":"It is order 1."}'
    ]
    assert shop.ran == [("look_up", "1")]


def test_the_model_is_shown_one_argument(shop):
    assert list(as_tool(agent(["x"], shop.tools)).input_schema()["properties"]) == ["message"]


def test_each_call_has_a_conversation_of_its_own(shop):
    helper = agent(
        [lambda request: request.messages[-1].content.upper(), lambda request: request.messages[-1].content.upper()], []
    )
    made = [call("ask_helper", "a", message="one"), call("ask_helper", "b", message="two")]
    assert told(start(acting([as_tool(helper)]), *made)) == ['{"result":"ONE"}', '{"result":"TWO"}']


def test_ag_04_two_calls_of_one_agent_ask_apart_and_each_answer_goes_to_its_own(store, shop):
    def think(request: Any) -> Any:
        messages = request.messages
        if len(messages) == 1:
            return calls(call("refund", "call_1", amount=float(messages[0].content)))
        return messages[-1].content

    helper = agent([think] * 4, shop.tools, middleware=[ToolInterruptMiddleware(rules=[InterruptRule("refund")])])
    graph = acting([as_tool(helper)], store)
    paused = start(graph, call("ask_helper", "x", message="1"), call("ask_helper", "y", message="2"))
    assert sorted(paused.interrupts) == ["act/x/agent/act:approve_call_1", "act/y/agent/act:approve_call_1"]
    done = answer(graph, {"act/x/agent/act:approve_call_1": True, "act/y/agent/act:approve_call_1": False})
    assert "refunded 1.0" in told(done)[0]
    assert "was not run" in told(done)[1]
    assert shop.ran == [("refund", 1.0, "")]


def test_ag_03_the_rules_of_the_outer_agent_cover_the_calls_of_the_inner_one(store, shop):
    helper = agent([calls(call("refund", amount=5)), "done"], shop.tools)
    graph = acting([as_tool(helper)], store, rules=[InterruptRule("refund")])
    paused = start(graph, call("ask_helper", "x", message="Refund."))
    assert list(paused.interrupts) == ["act/x/agent/act:approve_call_1"]
    assert shop.ran == []
    assert told(answer(graph, value=True)) == ['{"result":"done"}']


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        ("helper", "it takes a Graph"),
        (Graph(AgentState), "has no flow yet"),
        (Graph(dict), "has no flow yet"),
    ],
)
def test_what_is_no_agent_is_refused(graph, why):
    with pytest.raises(GraphConfigError, match=why):
        as_tool(graph)


def test_an_agent_with_a_store_of_its_own_is_refused(store, shop):
    with pytest.raises(GraphConfigError, match="a store of its own"):
        as_tool(agent(["x"], shop.tools, state_store=store))


def test_a_name_that_no_tool_may_have_is_refused(shop):
    with pytest.raises(GraphConfigError, match="1 to 64 of"):
        agent_tool(agent(["x"], shop.tools), name="ask the helper", description="")
