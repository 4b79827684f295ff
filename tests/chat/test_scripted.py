"""ScriptedChat: what the script says, whole or in pieces."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep import ModelProviderError, ScriptedChat
from nodestep.chat import (
    Chat,
    ChatRequest,
    ChatResponse,
    ChatStreamChunk,
    HumanMessage,
    ToolCall,
    ToolCallDelta,
    Usage,
    gathered,
)

HELLO = ChatRequest(messages=[HumanMessage(content="Hello")])
CALLS = (ToolCall(id="a", name="look", arguments={"x": [1, "ü"]}), ToolCall(id="", name="now"))


def complete(chat: ScriptedChat, request: ChatRequest = HELLO) -> ChatResponse:
    return asyncio.run(chat.complete(request))


def streamed(chat: ScriptedChat) -> list[ChatStreamChunk]:
    async def all_chunks() -> list[ChatStreamChunk]:
        return [chunk async for chunk in chat.stream(HELLO)]

    return asyncio.run(all_chunks())


def test_it_is_a_chat():
    assert isinstance(ScriptedChat(), Chat)


def test_requests_are_answered_in_order_and_kept():
    chat = ScriptedChat(["one", ChatResponse(content="two")])
    assert [complete(chat).content, complete(chat).content] == ["one", "two"]
    assert chat.requests == [HELLO, HELLO]


def test_the_default_answers_what_the_script_does_not():
    chat = ScriptedChat(["one"], default=lambda request: request.messages[-1].content)
    assert [complete(chat).content for _ in range(3)] == ["one", "Hello", "Hello"]


def test_a_script_without_default_ends_with_an_error():
    chat = ScriptedChat(["one"])
    complete(chat)
    with pytest.raises(ModelProviderError, match="has 1 responses, and this is request 2"):
        complete(chat)


def test_an_exception_in_the_script_is_raised():
    with pytest.raises(ConnectionError, match="gone"):
        complete(ScriptedChat([ConnectionError("gone")]))
    with pytest.raises(ConnectionError, match="gone"):
        complete(ScriptedChat([lambda request: ConnectionError("gone")]))


def test_the_finish_reason_follows_from_the_response():
    chat = ScriptedChat(["one", ChatResponse(tool_calls=CALLS), ChatResponse(content="x", finish_reason="length")])
    assert [complete(chat).finish_reason for _ in range(3)] == ["stop", "tool_calls", "length"]


@pytest.mark.parametrize(
    "response",
    [
        ChatResponse(content="Hello  you\nthere "),
        ChatResponse(tool_calls=CALLS, usage=Usage(input_tokens=1, output_tokens=2)),
        ChatResponse(content="Well:", tool_calls=CALLS),
        ChatResponse(refusal="I cannot do that."),
        ChatResponse(),
    ],
)
def test_a_stream_gathers_to_what_complete_gives(response):
    assert gathered(streamed(ScriptedChat([response]))) == complete(ScriptedChat([response]))


def test_a_text_is_streamed_in_several_pieces():
    pieces = [chunk.content_delta for chunk in streamed(ScriptedChat(["a b c"]))]
    assert pieces == ["a", " b", " c", ""]


def test_a_broken_call_is_streamed_broken():
    broken = ToolCall(id="a", name="look", arguments_error="no valid JSON")
    (call,) = gathered(streamed(ScriptedChat([ChatResponse(tool_calls=[broken])]))).tool_calls
    assert call.arguments_error


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(TEXT, TEXT)
def test_any_text_survives_the_stream(content, refusal):
    response = ChatResponse(content=content, refusal=refusal or None)
    assert gathered(streamed(ScriptedChat([response]))) == complete(ScriptedChat([response]))


def test_pieces_of_calls_side_by_side_are_put_together_by_index():
    chunks = [
        ChatStreamChunk(tool_call_delta=ToolCallDelta(1, "b", "two", '{"n"')),
        ChatStreamChunk(tool_call_delta=ToolCallDelta(0, "a", "one", '{"n": 1')),
        ChatStreamChunk(tool_call_delta=ToolCallDelta(1, arguments=": 2}")),
        ChatStreamChunk(tool_call_delta=ToolCallDelta(0, arguments="}")),
    ]
    assert gathered(chunks).tool_calls == (
        ToolCall(id="a", name="one", arguments={"n": 1}),
        ToolCall(id="b", name="two", arguments={"n": 2}),
    )


def test_a_streamed_call_without_a_name_is_refused():
    with pytest.raises(ModelProviderError, match="without a name"):
        gathered([ChatStreamChunk(tool_call_delta=ToolCallDelta(0, "a", arguments="{}"))])
