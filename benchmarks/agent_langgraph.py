"""W14 on LangGraph's ready-made agent: 100 turns of a scripted model, with one call of a tool in each, and with ten.

    python benchmarks/agent_langgraph.py [--only W14]

Needs langgraph; the agent is `langgraph.prebuilt.create_react_agent`.
"""

from __future__ import annotations

import asyncio
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import work
from harness import Clock, Row, main, workload
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent


class Scripted(BaseChatModel):
    """Answers from a script, with as little of its own as it can."""

    script: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise AssertionError("unreachable: the agent is run with ainvoke")

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=next(self.script))])


def script(turns: int, calls: int) -> Iterator[AIMessage]:
    for turn in range(turns):
        wanted = [ToolCall(name="look", args={"n": n}, id=f"c{turn}-{n}") for n in range(calls)]
        yield AIMessage(content="", tool_calls=wanted)
    yield AIMessage(content="done")


@tool
async def look(n: int) -> int:
    """Looks."""
    return n + 1


async def run(calls: int, saver: Any = None) -> Row:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = create_react_agent(Scripted(script=script(work.AGENT_TURNS, calls)), [look], checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 10 * work.AGENT_TURNS}
    with Clock() as clock:
        state = await agent.ainvoke({"messages": [("user", "go")]}, config)
    assert len(state["messages"]) == 2 + work.AGENT_TURNS * (1 + calls), len(state["messages"])
    return clock.row(work.AGENT_TURNS)


@workload("W14.turns")
def turns() -> Row:
    return asyncio.run(run(1))


@workload("W14.calls")
def calls() -> Row:
    return asyncio.run(run(work.AGENT_CALLS))


@workload("W14.turns.memory")
def turns_in_memory() -> Row:
    return asyncio.run(run(1, InMemorySaver()))


@workload("W14.calls.memory")
def calls_in_memory() -> Row:
    return asyncio.run(run(work.AGENT_CALLS, InMemorySaver()))


if __name__ == "__main__":
    sys.exit(main("langgraph", version("langgraph")))
