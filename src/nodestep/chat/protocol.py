"""What a chat model is asked and what it answers, and the protocol that a provider writes: two methods.

These values live within a run. What a thread keeps of them is an `AIMessage`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from .messages import Message, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model is told of it. `input_schema` is the JSON Schema of its arguments, an object."""

    name: str
    description: str
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One turn of the model. `tool_choice` is `"auto"`, `"required"`, `"none"` or the name of a tool; `None` leaves it to the
    provider. `output_schema` is a JSON Schema that the answer's content should fit, its `title` the schema's name."""

    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    tool_choice: str | None = None
    output_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ChatResponse:
    """What the model answered. `model` is the model that did, `raw` the provider's own object; neither is stored."""

    content: str = ""
    refusal: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    raw: Any = None


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of the call at `index` (from 0) of the response. `arguments` is a piece of its JSON text; `id` and `name` come
    whole, with the first piece."""

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ChatStreamChunk:
    """A piece of a response. `"tokens"` events of a stream carry these. `finish_reason` and `usage` come late, and once."""

    content_delta: str = ""
    refusal_delta: str = ""
    tool_call_delta: ToolCallDelta | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    raw: Any = None


@runtime_checkable
class Chat(Protocol):
    """A chat model: write these two methods for another provider. Both raise ModelProviderError for whatever goes wrong
    with the provider, and neither changes the request."""

    @property
    def model(self) -> str:
        """The name of the model, for people."""

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """The whole response."""

    def stream(self, request: ChatRequest) -> AsyncIterator[ChatStreamChunk]:
        """The response in pieces, an async generator. It ends when the response is whole, and raises when it is cut off."""
