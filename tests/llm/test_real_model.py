"""A real model over real HTTP: what the words of the wire format mean to a server that others wrote."""

from __future__ import annotations

import asyncio
import json

import pytest

from nodestep.chat import ChatRequest, ChatResponse, ChatStreamChunk, HumanMessage, OpenAIChat, gathered

pytestmark = pytest.mark.llm

HELLO = ChatRequest(messages=[HumanMessage(content="Say hello.")])
REFUND = {
    "title": "Refund",
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "amount": {"type": "integer"}},
    "required": ["order_id", "amount"],
    "additionalProperties": False,
}


def test_it_says_the_same_at_once_and_in_pieces(chat: OpenAIChat):
    async def both() -> tuple[ChatResponse, list[ChatStreamChunk]]:
        return await chat.complete(HELLO), [chunk async for chunk in chat.stream(HELLO)]

    whole, pieces = asyncio.run(both())
    assert whole.content
    assert len(pieces) > 3
    assert gathered(pieces).content == whole.content
    assert gathered(pieces).usage == whole.usage
    assert whole.usage is not None
    assert whole.usage.output_tokens > 0


def test_it_keeps_to_an_output_schema(chat: OpenAIChat):
    question = "Order A-1001 is to be refunded with 80 dollars. Write the refund as JSON."
    request = ChatRequest(messages=[HumanMessage(content=question)], output_schema=REFUND)
    assert json.loads(asyncio.run(chat.complete(request)).content) == {"order_id": "A-1001", "amount": 80}
