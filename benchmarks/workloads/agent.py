"""W14: the ready-made agent, with a scripted model that calls one tool in each turn, or ten."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import work
from harness import Clock, Row, workload

from nodestep import InMemoryStateStore, ScriptedChat, build_react_agent, tool
from nodestep.chat import ChatResponse, HumanMessage, ToolCall


def _script(turns: int, calls: int) -> Iterator[ChatResponse]:
    for turn in range(turns):
        yield ChatResponse(
            tool_calls=[ToolCall(id=f"c{turn}-{n}", name="look", arguments={"n": n}) for n in range(calls)]
        )
    yield ChatResponse(content="done")


@tool
async def look(n: int) -> int:
    """Looks."""
    return n + 1


async def _run(calls: int, store: InMemoryStateStore | None = None) -> Row:
    turns = work.AGENT_TURNS
    agent = build_react_agent(
        ScriptedChat(_script(turns, calls)),
        tools=[look],
        max_steps=10 * turns,
        max_tool_calls=turns * calls,
        state_store=store,
    )
    with Clock() as clock:
        result = await agent.ainvoke({"messages": [HumanMessage(content="go")]}, thread_id="t")
    assert len(result.state.messages) == 2 + turns * (1 + calls), len(result.state.messages)
    return clock.row(turns)


@workload("W14.turns")
def turns() -> Row:
    return asyncio.run(_run(1))


@workload("W14.calls")
def calls() -> Row:
    return asyncio.run(_run(work.AGENT_CALLS))


@workload("W14.turns.memory")
def turns_in_memory() -> Row:
    return asyncio.run(_run(1, InMemoryStateStore()))


@workload("W14.calls.memory")
def calls_in_memory() -> Row:
    return asyncio.run(_run(work.AGENT_CALLS, InMemoryStateStore()))
