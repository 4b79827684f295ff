"""A real model over real HTTP: what the words of the wire format mean to a server that others wrote."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from nodestep import Resume, RunInterruptedError, SQLiteStateStore, build_react_agent, run_agent, tool
from nodestep.chat import ChatRequest, ChatResponse, ChatStreamChunk, HumanMessage, OpenAIChat, gathered, tool_call

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


class HeldToTheTool:
    """A model this small does not call tools by itself. Held to the arguments of the only tool, it fills them in."""

    def __init__(self, chat: OpenAIChat) -> None:
        self.model = chat.model
        self.turns = 0
        self._chat = chat

    async def complete(self, request: ChatRequest) -> ChatResponse:
        self.turns += 1
        if request.messages[-1].role == "tool":
            return await self._chat.complete(replace(request, tools=()))
        (wanted,) = request.tools
        filled = await self._chat.complete(replace(request, tools=(), output_schema=wanted.input_schema))
        return ChatResponse(tool_calls=[tool_call("c1", wanted.name, filled.content)], usage=filled.usage)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatStreamChunk]:
        yield ChatStreamChunk(content_delta=(await self.complete(request)).content)


def test_an_agent_refunds_what_the_model_wants_once_a_person_approves(chat: OpenAIChat, tmp_path: Path):
    paid: list[tuple[str, int]] = []

    @tool(needs_approval=True)
    def refund(order_id: str, amount: int) -> str:
        """Pays the money of an order back."""
        paid.append((order_id, amount))
        return "paid"

    async def run() -> str:
        held = HeldToTheTool(chat)
        agent = build_react_agent(held, tools=[refund], state_store=SQLiteStateStore(tmp_path / "agent.db"))
        question = "Order A-1001 is to be refunded with 80 dollars. Write the refund as JSON."
        with pytest.raises(RunInterruptedError) as paused:
            await run_agent(agent, question, thread_id="t")
        (asked,) = paused.value.interrupts.values()
        assert asked.payload.arguments == {"order_id": "A-1001", "amount": 80}
        assert (paid, held.turns) == ([], 1)
        answer = await run_agent(agent, None, thread_id="t", resume=Resume(True))
        assert held.turns == 2
        return answer

    assert asyncio.run(run())
    assert paid == [("A-1001", 80)]
