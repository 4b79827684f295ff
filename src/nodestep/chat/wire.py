"""The wire format of chat completions, as the API reference of OpenAI has it and others speak it: requests to it, and
responses and chunks from it. What does not have this form is refused with ValueError, never guessed at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, Field

from ..model.json import JsonObject
from .messages import AIMessage, Message, ToolCall, ToolMessage, Usage
from .protocol import ChatRequest, ChatResponse, ChatStreamChunk, ToolCallDelta
from .reading import tool_call

_CHOICES = ("auto", "required", "none")


def request_to_wire(request: ChatRequest) -> JsonObject:
    """The parts of a request's body that a `ChatRequest` knows."""
    body: JsonObject = {"messages": [_message_to_wire(message) for message in request.messages]}
    if request.tools:
        body["tools"] = [
            _function(name=tool.name, description=tool.description, parameters=dict(tool.input_schema))
            for tool in request.tools
        ]
    if request.tool_choice is not None:
        choice = request.tool_choice
        body["tool_choice"] = choice if choice in _CHOICES else _function(name=choice)
    if request.output_schema is not None:
        schema = dict(request.output_schema)
        name = re.sub(r"[^a-zA-Z0-9_-]", "_", str(schema.get("title", "")))[:64] or "output"
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}
    return body


def _function(**function: Any) -> JsonObject:
    return {"type": "function", "function": function}


def _message_to_wire(message: Message) -> JsonObject:
    wire: JsonObject = {"role": message.role, "content": message.content}
    if isinstance(message, ToolMessage):
        wire["tool_call_id"] = message.tool_call_id
    if isinstance(message, AIMessage):
        wire["content"] = message.content or message.refusal or ("" if not message.tool_calls else None)
        if message.tool_calls:
            wire["tool_calls"] = [_call_to_wire(call) for call in message.tool_calls]
    return wire


def _call_to_wire(call: ToolCall) -> JsonObject:
    text = json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"))
    return {"id": call.id, **_function(name=call.name, arguments=text)}


class _Function(BaseModel):
    name: str | None = None
    arguments: str | None = None


class _Call(BaseModel):
    index: int = 0
    id: str | None = None
    function: _Function = Field(default_factory=_Function)


class _Said(BaseModel):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def usage(self) -> Usage:
        return Usage(input_tokens=self.prompt_tokens or 0, output_tokens=self.completion_tokens or 0)


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Tokens | None = None
    model: str | None = None


class _ChunkChoice(BaseModel):
    delta: _Said | None = None
    finish_reason: str | None = None


class _Chunk(BaseModel):
    choices: list[_ChunkChoice] = []
    usage: _Tokens | None = None
    model: str | None = None


def response_from_wire(body: Mapping[str, Any], raw: Any) -> ChatResponse:
    """The response that a completion's body says; of several choices, the first."""
    completion = _Completion.model_validate(body)
    choice = completion.choices[0]
    said = choice.message
    return ChatResponse(
        content=said.content or "",
        refusal=said.refusal or None,
        tool_calls=tuple(map(_call_from_wire, said.tool_calls or ())),
        finish_reason=choice.finish_reason,
        usage=completion.usage.usage() if completion.usage else None,
        model=completion.model,
        raw=raw,
    )


def _call_from_wire(call: _Call) -> ToolCall:
    if not call.function.name:
        raise ValueError("a tool call without a name")
    return tool_call(call.id or "", call.function.name, call.function.arguments or "")


def chunks_from_wire(body: Mapping[str, Any], raw: Any) -> Iterator[ChatStreamChunk]:
    """What one chunk's body says, a piece at a time: it may hold pieces of several calls."""
    chunk = _Chunk.model_validate(body)
    choice = chunk.choices[0] if chunk.choices else _ChunkChoice()
    said = choice.delta or _Said()
    for call in said.tool_calls or ():
        function = call.function
        delta = ToolCallDelta(call.index, call.id, function.name, function.arguments or "")
        yield ChatStreamChunk(tool_call_delta=delta, model=chunk.model, raw=raw)
    usage = chunk.usage.usage() if chunk.usage else None
    if said.content or said.refusal or choice.finish_reason or usage:
        yield ChatStreamChunk(
            content_delta=said.content or "",
            refusal_delta=said.refusal or "",
            finish_reason=choice.finish_reason,
            usage=usage,
            model=chunk.model,
            raw=raw,
        )
