"""Streams of mode "tokens" carry what a model says, piece by piece."""

from __future__ import annotations

import pytest

from nodestep import END, START, AgentState, Graph, ModelProviderError, ScriptedChat, model_node, subgraph
from nodestep.chat import ChatRequest, ChatResponse, ChatStreamChunk, HumanMessage, ToolCall, gathered

HELLO = {"messages": [HumanMessage(content="Hello")]}


def think(chat: ScriptedChat, stream: bool = True) -> Graph[AgentState]:
    return Graph(AgentState).flow(START >> model_node("think", chat=chat, stream=stream) >> END)


def test_every_chunk_is_an_event_of_its_node_before_the_superstep_ends():
    response = ChatResponse(content="Good morning to you", tool_calls=[ToolCall(id="a", name="look")])
    events = list(think(ScriptedChat([response])).stream(HELLO, stream_mode=["tokens", "updates"]))
    tokens = [event for event in events if event.mode == "tokens"]
    assert [event.mode for event in events] == ["tokens"] * len(tokens) + ["updates", "final"]
    assert {(event.node, event.task_id, event.step, event.path) for event in tokens} == {("think", "think", 0, "")}
    assert all(isinstance(event.data, ChatStreamChunk) for event in tokens)
    assert gathered(event.data for event in tokens).content == "Good morning to you"


def test_the_state_is_the_same_as_without_streaming():
    whole, pieces = (think(ScriptedChat(["Good morning"]), stream).invoke(HELLO).state for stream in (False, True))
    assert whole.final_text == pieces.final_text == "Good morning"
    assert whole.messages[-1].model_copy(update={"id": None}) == pieces.messages[-1].model_copy(update={"id": None})


def test_a_node_that_does_not_stream_sends_no_tokens():
    events = think(ScriptedChat(["Hi"]), stream=False).stream(HELLO, stream_mode="tokens")
    assert [event.mode for event in events] == ["final"]


def test_a_model_inside_a_subgraph_is_heard_with_its_place():
    inner = subgraph("talk", think(ScriptedChat(["Hi there"])), share=["messages"])
    outer = Graph(AgentState).flow(START >> inner >> END)
    tokens = [event for event in outer.stream(HELLO, stream_mode="tokens") if event.mode == "tokens"]
    assert {event.path for event in tokens} == {"talk"}
    assert "".join(event.data.content_delta for event in tokens) == "Hi there"


def test_a_stream_that_breaks_off_fails_the_node_after_what_came():
    class Breaks(ScriptedChat):
        async def stream(self, request: ChatRequest):
            yield ChatStreamChunk(content_delta="Hel")
            raise ModelProviderError("cut")

    events = think(Breaks()).stream(HELLO, stream_mode="tokens")
    assert next(iter(events)).data.content_delta == "Hel"
    with pytest.raises(ModelProviderError, match="cut"):
        list(events)
