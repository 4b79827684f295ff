"""An assistant at your terminal that asks before it writes a file.

It talks to any endpoint that speaks like OpenAI. Say where it is and which model:

    OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_MODEL=qwen3:8b python examples/assistant.py

A key, where the endpoint asks for one, goes into OPENAI_API_KEY. The conversation is kept in assistant.db: stop the
program at any moment, even while it waits for your answer, and start it again.
"""

from __future__ import annotations

import asyncio
import os
from datetime import datetime
from pathlib import Path

from nodestep import (
    AgentState,
    Graph,
    Resume,
    RunInterruptedError,
    SQLiteStateStore,
    build_react_agent,
    run_agent,
    tool,
)
from nodestep.chat import Chat, OpenAIChat
from nodestep.middleware import ToolDecision

THREAD = "assistant"


@tool
def today() -> str:
    """The date of today, as YYYY-MM-DD."""
    return datetime.now().astimezone().date().isoformat()


@tool(needs_approval=True)
def write_note(name: str, text: str) -> str:
    """Write a note into a file in the folder notes. A note of the same name is replaced."""
    if not name.replace("-", "").replace("_", "").isalnum():
        raise ValueError("a name has letters, digits, - and _")
    folder = Path("notes")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return f"notes/{name}.txt"


def assistant(chat: Chat, path: str = "assistant.db") -> Graph[AgentState]:
    return build_react_agent(
        chat,
        tools=[today, write_note],
        name="assistant",
        system_prompt="You are a helpful assistant. Use the tools where they help, and answer briefly.",
        tool_errors="return",
        state_store=SQLiteStateStore(path),
    )


def decisions(paused: RunInterruptedError) -> Resume:
    """Show each call that waits, and ask about it."""
    answers: dict[str, object] = {}
    for key, question in paused.interrupts.items():
        call = question.payload if isinstance(question.payload, dict) else question.payload.model_dump()
        print(f"It wants to call {call['tool_name']} with {call['arguments']}")
        reason = input("Enter to allow it, or why not: ")
        answers[key] = ToolDecision(action="deny", message=reason) if reason else True
    return Resume(answers=answers)


async def answer(agent: Graph[AgentState], message: str | None, resume: Resume | None = None) -> str:
    while True:
        try:
            return await run_agent(agent, message, thread_id=THREAD, resume=resume)
        except RunInterruptedError as paused:
            message, resume = None, decisions(paused)


async def unfinished(agent: Graph[AgentState]) -> str | None:
    """What is still to be answered from the last time, finished first."""
    page = await agent.pending(THREAD)
    if not page.items:
        return None
    interrupts = {question.key: question for question in page.items}
    return await answer(agent, None, decisions(RunInterruptedError(THREAD, interrupts)))


async def main() -> None:
    model = os.environ.get("OPENAI_MODEL")
    if not model:
        raise SystemExit(__doc__)
    agent = assistant(OpenAIChat(model, os.environ.get("OPENAI_BASE_URL")))
    if text := await unfinished(agent):
        print(text)
    while message := input("> "):  # noqa: ASYNC250 - nothing else runs meanwhile
        print(await answer(agent, message))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (EOFError, KeyboardInterrupt):
        print()
