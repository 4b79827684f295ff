"""OpenAIChat over real HTTP: what is sent, what comes back, and what every failure becomes."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from nodestep import GraphConfigError, ModelProviderError
from nodestep.chat import (
    AIMessage,
    Chat,
    ChatRequest,
    ChatResponse,
    ChatStreamChunk,
    HumanMessage,
    Message,
    OpenAIChat,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    Usage,
    gathered,
)
from tests.chat.endpoint import (
    USAGE,
    Endpoint,
    answer,
    call,
    cut_off,
    delta,
    hung_up,
    refused,
    said,
    serving,
    silent,
    streamed,
)

KEY = "sk-very-secret"
HELLO = ChatRequest(messages=[HumanMessage(content="Hello")])
LOOK = ToolDefinition("look", "Looks.", {"type": "object", "properties": {"n": {"type": "integer"}}})


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client wanted to wait before each retry; it does not."""
    asked: list[float] = []

    async def noted(delay_s: float) -> None:
        asked.append(delay_s)

    monkeypatch.setattr("anyio.sleep", noted)
    return asked


def chat_at(endpoint: Endpoint, **settings) -> OpenAIChat:
    return OpenAIChat("tiny", endpoint.url, api_key=KEY, **settings)


def complete(endpoint: Endpoint, request: ChatRequest = HELLO, **settings) -> ChatResponse:
    return asyncio.run(chat_at(endpoint, **settings).complete(request))


def stream(endpoint: Endpoint, request: ChatRequest = HELLO, **settings) -> list[ChatStreamChunk]:
    async def all_chunks() -> list[ChatStreamChunk]:
        return [chunk async for chunk in chat_at(endpoint, **settings).stream(request)]

    return asyncio.run(all_chunks())


def failed(endpoint: Endpoint, way=complete, **settings) -> ModelProviderError:
    with pytest.raises(ModelProviderError) as caught:
        way(endpoint, **settings)
    assert KEY not in str(caught.value)
    return caught.value


class TestRequests:
    def test_every_kind_of_message_has_its_wire_form(self):
        history: list[Message] = [
            SystemMessage(content="Be brief."),
            HumanMessage(content="Look twice."),
            AIMessage(tool_calls=(ToolCall(id="a", name="look", arguments={"n": 1, "ü": None}),)),
            ToolMessage(content='{"result":1}', name="look", tool_call_id="a"),
            AIMessage(content="Seen."),
            AIMessage(refusal="I will not."),
        ]
        with serving(said("ok")) as endpoint:
            complete(endpoint, ChatRequest(messages=history))
        assert endpoint.requests[0]["model"] == "tiny"
        assert endpoint.requests[0]["messages"] == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Look twice."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [call("a", "look", '{"n":1,"ü":null}')],
            },
            {"role": "tool", "content": '{"result":1}', "tool_call_id": "a"},
            {"role": "assistant", "content": "Seen."},
            {"role": "assistant", "content": "I will not."},
        ]

    def test_what_was_not_asked_for_is_not_sent(self):
        with serving(said("ok")) as endpoint:
            complete(endpoint)
        assert set(endpoint.requests[0]) == {"model", "messages"}

    @pytest.mark.parametrize(
        ("choice", "sent"),
        [
            ("auto", "auto"),
            ("required", "required"),
            ("none", "none"),
            ("look", {"type": "function", "function": {"name": "look"}}),
        ],
    )
    def test_tools_and_their_choice_are_sent(self, choice, sent):
        with serving(said("ok")) as endpoint:
            complete(endpoint, ChatRequest(HELLO.messages, [LOOK], choice))
        function = {"name": "look", "description": "Looks.", "parameters": LOOK.input_schema}
        assert endpoint.requests[0]["tools"] == [{"type": "function", "function": function}]
        assert endpoint.requests[0]["tool_choice"] == sent

    @pytest.mark.parametrize(("title", "name"), [("Order", "Order"), ("Page[Order]", "Page_Order_"), (None, "output")])
    def test_an_output_schema_is_sent_under_a_name_that_the_format_allows(self, title, name):
        schema = {"type": "object", "properties": {}, **({"title": title} if title else {})}
        with serving(said("{}")) as endpoint:
            complete(endpoint, ChatRequest(HELLO.messages, output_schema=schema))
        assert endpoint.requests[0]["response_format"] == {
            "type": "json_schema",
            "json_schema": {"name": name, "schema": schema},
        }

    def test_parameters_go_along_with_every_request(self):
        with serving(said("ok")) as endpoint:
            complete(endpoint, temperature=0, extra_body={"min_p": 0.1})
        assert (endpoint.requests[0]["temperature"], endpoint.requests[0]["min_p"]) == (0, 0.1)

    def test_the_key_is_sent_and_shown_nowhere(self):
        with serving(said("ok")) as endpoint:
            complete(endpoint)
            assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
            assert KEY not in repr(chat_at(endpoint))

    def test_connections_are_kept_within_an_event_loop_and_closed_with_it(self):
        async def twice(chat: OpenAIChat) -> None:
            await chat.complete(HELLO)
            await chat.complete(HELLO)

        with serving(said("ok")) as endpoint:
            chat = chat_at(endpoint)
            asyncio.run(twice(chat))
            assert len(endpoint.connections) == 1
            asyncio.run(twice(chat))
            assert len(endpoint.connections) == 2
            assert chat._clients == {}


class TestResponses:
    def test_a_text_comes_back_with_what_it_cost(self):
        with serving(said("Hello!")) as endpoint:
            response = complete(endpoint)
        assert (response.content, response.finish_reason, response.model) == ("Hello!", "stop", "tiny-1")
        assert response.usage == Usage(input_tokens=5, output_tokens=7)
        assert response.raw.id == "c-1"

    def test_parallel_calls_come_back_in_order(self):
        calls = [call("a", "look", '{"n": 1}'), call("b", "look", '{"n": 2}'), call("b", "now", "")]
        with serving(said(calls=calls, finish_reason="tool_calls")) as endpoint:
            response = complete(endpoint)
        assert response.tool_calls == (
            ToolCall(id="a", name="look", arguments={"n": 1}),
            ToolCall(id="b", name="look", arguments={"n": 2}),
            ToolCall(id="b", name="now"),
        )

    def test_broken_arguments_are_told_beside_a_call_that_is_whole(self):
        calls = [call("a", "look", '{"n": '), call("b", "look", '{"n": 2}')]
        with serving(said(calls=calls)) as endpoint:
            broken, whole = complete(endpoint).tool_calls
        assert (broken.id, broken.arguments) == ("a", {})
        assert "no valid JSON" in (broken.arguments_error or "")
        assert whole.arguments == {"n": 2}

    def test_a_refusal_comes_back_as_one(self):
        with serving(said(None, refusal="I will not.")) as endpoint:
            response = complete(endpoint)
        assert (response.content, response.refusal) == ("", "I will not.")


class TestStreams:
    def test_pieces_arrive_one_by_one_and_gather_to_the_response(self):
        chunks = [delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo!"), delta("stop"), USAGE]
        with serving(streamed(*chunks)) as endpoint:
            pieces = stream(endpoint)
        assert [piece.content_delta for piece in pieces] == ["Hel", "lo!", "", ""]
        assert endpoint.requests[0]["stream"] is True
        assert gathered(pieces) == ChatResponse(
            content="Hello!", finish_reason="stop", usage=Usage(input_tokens=5, output_tokens=7), model="tiny-1"
        )

    def test_parallel_calls_in_pieces_are_put_together(self):
        first = {"index": 0, **call("a", "look", "")}
        second = {"index": 1, **call("b", "look", '{"n"')}
        chunks = [
            delta(tool_calls=[first]),
            delta(tool_calls=[{"index": 0, "function": {"arguments": '{"n": 1}'}}, second]),
            delta(tool_calls=[{"index": 1, "function": {"arguments": ": 2}"}}]),
            delta("tool_calls"),
        ]
        with serving(streamed(*chunks)) as endpoint:
            response = gathered(stream(endpoint))
        assert response.tool_calls == (
            ToolCall(id="a", name="look", arguments={"n": 1}),
            ToolCall(id="b", name="look", arguments={"n": 2}),
        )
        assert response.finish_reason == "tool_calls"

    def test_a_streamed_refusal_comes_back_as_one(self):
        with serving(streamed(delta(refusal="I will "), delta(refusal="not."), delta("stop"))) as endpoint:
            assert gathered(stream(endpoint)).refusal == "I will not."

    def test_an_emoji_in_two_pieces_is_one_character_again(self):
        halves = [
            b'{"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}',
            b'{"choices":[{"index":0,"delta":{"content":"\\ude00"}}]}',
        ]
        with serving(streamed(*halves, delta("stop"))) as endpoint:
            assert gathered(stream(endpoint)).content == "😀"

    def test_a_stream_that_is_left_early_lets_its_connection_go(self):
        async def first_piece(chat: OpenAIChat) -> str:
            pieces = chat.stream(HELLO)
            async for piece in pieces:
                await pieces.aclose()  # type: ignore[attr-defined]
                return piece.content_delta
            return ""

        with serving(streamed(delta(content="a"), delta(content="b"), delta("stop"))) as endpoint:
            assert asyncio.run(first_piece(chat_at(endpoint))) == "a"

    def test_a_stream_that_ends_before_the_response_does_is_an_error(self):
        with serving(streamed(delta(content="Hel"), done=False)) as endpoint:
            assert "broke off" in str(failed(endpoint, stream))

    def test_a_connection_that_is_cut_in_a_stream_is_an_error_and_no_retry(self):
        beginning = b"data: " + json.dumps(delta(content="Hel")).encode() + b"\n\ndata: {"
        with serving(cut_off(beginning)) as endpoint:
            assert "Connection error" in str(failed(endpoint, stream))
            assert len(endpoint.requests) == 1

    def test_an_error_in_a_stream_is_an_error(self):
        with serving(streamed(delta(content="Hel"), b'{"error": {"message": "out of memory"}}')) as endpoint:
            assert "out of memory" in str(failed(endpoint, stream))

    def test_a_piece_that_is_no_json_is_an_error(self):
        with serving(streamed(delta(content="Hel"), b"{nonsense")) as endpoint:
            assert "no chat completion" in str(failed(endpoint, stream))

    def test_a_piece_of_another_form_is_an_error(self):
        with serving(streamed(b'{"choices": "many"}')) as endpoint:
            assert "no chat completion" in str(failed(endpoint, stream))

    def test_a_refused_stream_is_an_error_with_its_status(self):
        with serving(refused(400, "too many tokens")) as endpoint:
            error = failed(endpoint, stream)
        assert "too many tokens" in str(error)
        assert error.status_code == 400


class TestFailures:
    def test_a_refused_request_says_what_the_endpoint_said_and_is_not_sent_again(self):
        with serving(refused(404, "no model 'tiny'")) as endpoint:
            error = failed(endpoint)
            assert len(endpoint.requests) == 1
        assert f"OpenAIChat('tiny', '{endpoint.url}') answered with status 404: no model 'tiny'" in str(error)
        assert error.status_code == 404

    def test_a_key_in_what_the_endpoint_says_is_not_passed_on(self):
        with serving(refused(401, f"wrong key {KEY}")) as endpoint:
            assert "wrong key ***" in str(failed(endpoint))

    def test_a_rate_limit_waits_as_long_as_the_endpoint_says_and_tries_again(self, waits):
        with serving(refused(429, retry_after="7"), said("ok")) as endpoint:
            assert complete(endpoint).content == "ok"
        assert waits == [7.0]

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_what_does_not_pass_is_tried_so_often_and_no_more(self, status, waits):
        with serving(refused(status, "busy")) as endpoint:
            error = failed(endpoint, max_retries=3)
            assert len(endpoint.requests) == 4
        assert error.status_code == status
        assert len(waits) == 3

    def test_a_connection_that_goes_before_the_response_is_tried_again(self, waits):
        with serving(hung_up, said("ok")) as endpoint:
            assert complete(endpoint).content == "ok"

    def test_an_endpoint_that_is_not_there_is_an_error(self, waits):
        with serving() as endpoint:
            pass
        assert "Connection error" in str(failed(endpoint, max_retries=0))

    def test_an_endpoint_that_stays_silent_is_an_error(self):
        with serving() as endpoint:
            endpoint.replies = [silent(endpoint)]
            assert "silent for longer than 0.05 s" in str(failed(endpoint, timeout_s=0.05, max_retries=0))

    @pytest.mark.parametrize(
        "body",
        [b"{", b"", b"[]", b"7", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": 7}}]}'],
    )
    def test_a_response_of_another_form_is_an_error(self, body):
        with serving(answer(200, body)) as endpoint:
            assert "no chat completion" in str(failed(endpoint, max_retries=0))

    def test_a_web_page_in_the_place_of_a_response_is_an_error(self):
        with serving(answer(200, b"<html>", content_type="text/html")) as endpoint:
            assert "base_url is right" in str(failed(endpoint))

    def test_a_call_without_a_name_is_an_error(self):
        with serving(said(calls=[{"id": "a", "type": "function", "function": {"arguments": "{}"}}])) as endpoint:
            assert "no chat completion" in str(failed(endpoint))

    def test_a_very_long_reason_is_shortened(self):
        with serving(refused(400, "x" * 10_000)) as endpoint:
            assert len(str(failed(endpoint))) < 1_000


class TestMaking:
    @pytest.fixture(autouse=True)
    def bare_environment(self, monkeypatch):
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)

    def test_it_is_a_chat(self):
        assert isinstance(OpenAIChat("tiny", api_key=KEY), Chat)

    def test_key_and_endpoint_come_from_the_environment_where_they_are_not_given(self, monkeypatch):
        with serving(said("ok")) as endpoint:
            monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
            monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
            asyncio.run(OpenAIChat("tiny").complete(HELLO))
        assert endpoint.headers[0]["authorization"] == "Bearer sk-of-the-environment"

    def test_an_endpoint_of_ones_own_needs_no_key(self):
        with serving(said("ok")) as endpoint:
            assert asyncio.run(OpenAIChat("tiny", endpoint.url).complete(HELLO)).content == "ok"

    def test_no_key_at_all_is_refused(self):
        with pytest.raises(GraphConfigError, match="OPENAI_API_KEY"):
            OpenAIChat("tiny")

    def test_a_misspelt_parameter_is_refused(self):
        with pytest.raises(GraphConfigError, match="Did you mean 'temperature'"):
            OpenAIChat("tiny", api_key=KEY, temprature=0)

    def test_without_the_extra_it_says_what_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "openai.resources.chat.completions", None)
        with pytest.raises(GraphConfigError, match=r"nodestep\[openai\]"):
            OpenAIChat("tiny", api_key=KEY)

    def test_a_password_in_the_address_is_not_shown(self):
        chat = OpenAIChat("tiny", "http://ann:hunter2@localhost:1/v1?token=x", api_key=KEY)
        assert repr(chat) == "OpenAIChat('tiny', 'http://localhost:1/v1')"
