"""The pieces of a streamed response, put together."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import ModelProviderError
from .protocol import ChatResponse, ChatStreamChunk
from .reading import tool_call, whole_text


class _Call:
    """A call while its pieces come in."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []


def gathered(chunks: Iterable[ChatStreamChunk]) -> ChatResponse:
    """The response that the chunks of one stream make. Raises ModelProviderError for a call that never got a name."""
    content: list[str] = []
    refusal: list[str] = []
    calls: dict[int, _Call] = {}
    finish_reason = usage = model = None
    for chunk in chunks:
        content.append(chunk.content_delta)
        refusal.append(chunk.refusal_delta)
        if (delta := chunk.tool_call_delta) is not None:
            call = calls.setdefault(delta.index, _Call())
            call.id = call.id or delta.id or ""
            call.name = call.name or delta.name or ""
            call.arguments.append(delta.arguments)
        finish_reason = chunk.finish_reason or finish_reason
        usage = chunk.usage or usage
        model = chunk.model or model
    if any(not call.name for call in calls.values()):
        raise ModelProviderError("The model's stream holds a tool call without a name, so it cannot be run. Try again.")
    return ChatResponse(
        content=whole_text("".join(content)),
        refusal=whole_text("".join(refusal)) or None,
        tool_calls=tuple(tool_call(c.id, c.name, "".join(c.arguments)) for _, c in sorted(calls.items())),
        finish_reason=finish_reason,
        usage=usage,
        model=model,
    )
