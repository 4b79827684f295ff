"""A chat model that answers from a script: for tests, and for programs that run without a key."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import TypeAlias

from ..errors import ModelProviderError
from .protocol import ChatRequest, ChatResponse, ChatStreamChunk, ToolCallDelta

Scripted: TypeAlias = str | ChatResponse | Exception
"""One answer of a script: a text, a whole response, or an error to raise."""
Script: TypeAlias = Scripted | Callable[[ChatRequest], Scripted]
"""An answer, or a function that makes it of the request."""


class ScriptedChat:
    """Answers the n-th request with the n-th of `responses`, and further ones with `default`; without one it raises
    ModelProviderError. An answer is a text, a `ChatResponse`, an exception to raise, or a function of the request that gives
    one of these. `requests` holds every request in the order they came.

    A process that continues a thread has a new `ScriptedChat`, which begins at its first response. To answer by where the
    conversation stands, give a function that looks at `request.messages`.
    """

    def __init__(self, responses: Iterable[Script] = (), *, default: Script | None = None) -> None:
        self.model = "scripted"
        self.requests: list[ChatRequest] = []
        self._responses = tuple(responses)
        self._default = default

    async def complete(self, request: ChatRequest) -> ChatResponse:
        return self._answer(request)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatStreamChunk]:
        for chunk in _in_pieces(self._answer(request)):
            yield chunk

    def _answer(self, request: ChatRequest) -> ChatResponse:
        number = len(self.requests)
        self.requests.append(request)
        script = self._responses[number] if number < len(self._responses) else self._default
        if script is None:
            raise ModelProviderError(
                f"ScriptedChat has {len(self._responses)} responses, and this is request {number + 1}. Give it more "
                "responses, or default=... for all further requests."
            )
        answer = script(request) if callable(script) else script
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            answer = ChatResponse(content=answer)
        return ChatResponse(
            answer.content,
            answer.refusal,
            answer.tool_calls,
            answer.finish_reason or ("tool_calls" if answer.tool_calls else "stop"),
            answer.usage,
            answer.model or self.model,
            answer.raw,
        )


def _in_pieces(response: ChatResponse) -> Iterator[ChatStreamChunk]:
    """A response as a provider streams it: word by word, then its calls, then how it ended."""
    for word in re.findall(r"\s*\S+|\s+", response.content):
        yield ChatStreamChunk(content_delta=word, model=response.model)
    if response.refusal:
        yield ChatStreamChunk(refusal_delta=response.refusal, model=response.model)
    for index, call in enumerate(response.tool_calls):
        text = json.dumps(call.arguments) if call.arguments_error is None else "{"
        first, rest = text[: len(text) // 2], text[len(text) // 2 :]
        yield ChatStreamChunk(tool_call_delta=ToolCallDelta(index, call.id, call.name, first), model=response.model)
        yield ChatStreamChunk(tool_call_delta=ToolCallDelta(index, arguments=rest), model=response.model)
    yield ChatStreamChunk(finish_reason=response.finish_reason, usage=response.usage, model=response.model)
