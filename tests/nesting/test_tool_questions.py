"""A question of a tool belongs to the graph whose task runs the tool, also inside another graph."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    AgentState,
    Graph,
    GraphInterrupt,
    ScriptedChat,
    UnknownEventError,
    build_react_agent,
    interrupt,
    subgraph,
    tool,
)
from nodestep.chat import ChatResponse, HumanMessage, ToolCall


@tool
def refund(amount: int) -> str:
    """Pay money back."""
    return f"paid: {interrupt(f'Refund {amount}?', id='sure')}"


def agent(**options: Any) -> Graph[AgentState]:
    call = ToolCall(id="c1", name="refund", arguments={"amount": 5})
    chat = ScriptedChat([ChatResponse(content="", tool_calls=[call]), ChatResponse(content="done")])
    return build_react_agent(chat, tools=[refund], **options)


def test_a_tools_question_is_told_by_its_key_and_names_no_inner_state(store):
    graph = agent(state_store=store)
    with pytest.raises(GraphInterrupt) as caught:
        asyncio.run(graph.run({"messages": [HumanMessage(content="hi")]}, checkpoint_id="t"))

    assert (caught.value.key, caught.value.prompt, caught.value.node_id) == ("act/c1:sure", "Refund 5?", "act")
    assert caught.value.nested_checkpoint_id is None
    asked = asyncio.run(graph.history("t")).events[-1]
    assert (asked.type, asked.path, asked.node) == ("interrupted", "", "act")
    with pytest.raises(UnknownEventError, match="no graph at work at 'act'"):
        asyncio.run(graph.load("t", at=f"{asked.id}/act"))
    assert asyncio.run(graph.run(None, checkpoint_id="t", resume="yes")).final_text == "done"


def test_a_tools_question_inside_a_graph_names_that_graph(store):
    inner = agent()
    outer = Graph(AgentState, name="outer", state_store=store).flow(
        START >> subgraph("helper", inner, share=["messages", "final_text"]) >> END
    )
    with pytest.raises(GraphInterrupt) as caught:
        asyncio.run(outer.run({"messages": [HumanMessage(content="hi")]}, checkpoint_id="t"))

    assert caught.value.key == "helper/act/c1:sure"
    nested = caught.value.nested_checkpoint_id
    assert nested is not None
    assert nested.partition("/")[2] == "helper"
    assert len(asyncio.run(outer.load("t", at=nested))["messages"]) == 2
    asked = asyncio.run(outer.history("t")).events[-1]
    assert (asked.path, asked.node) == ("helper", "act")
    assert asyncio.run(outer.run(None, checkpoint_id="t", resume={"helper/act/c1:sure": "yes"})).final_text == "done"
