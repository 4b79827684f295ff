"""W12 on LangGraph: 200 durable threads of 5 nodes at once, each node waiting a millisecond, in one SQLite file.

    python benchmarks/crowd_langgraph.py [--only W12] [--tmp /tmp]

Each superstep is committed before the next one starts (`durability="sync"`). Needs langgraph and langgraph-checkpoint-sqlite.
"""

from __future__ import annotations

import asyncio
import sys
from importlib.metadata import version
from typing import Any, TypedDict

import aiosqlite
import work
from harness import Clock, Row, file_bytes, main, new_path, workload
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph


class Small(TypedDict):
    counter: int
    label: str
    total: float


async def slow_step(state: Small) -> dict[str, Any]:
    await asyncio.sleep(work.CROWD_SLEEP_S)
    return work.small_step(state["counter"], state["total"])


def row_of_nodes(saver: AsyncSqliteSaver) -> Any:
    graph = StateGraph(Small)
    before = START
    for number in range(work.CROWD_STEPS):
        graph.add_node(f"n{number}", slow_step)
        graph.add_edge(before, f"n{number}")
        before = f"n{number}"
    graph.add_edge(before, END)
    return graph.compile(checkpointer=saver)


async def run(path: str, statements: list[str] | None = None) -> Row:
    """One crowd; with `statements`, what SQLite ran is noted there."""
    connection = await aiosqlite.connect(path)
    saver = AsyncSqliteSaver(connection)
    await saver.setup()
    if statements is not None:
        await connection.set_trace_callback(statements.append)
    graph = row_of_nodes(saver)
    configs = [{"configurable": {"thread_id": f"t{number}"}} for number in range(work.DURABLE_CROWD)]
    with Clock() as clock:
        states = await asyncio.gather(
            *(graph.ainvoke(work.small_input(), config, durability="sync") for config in configs)
        )
    for state in states:
        work.check_small(state, work.CROWD_STEPS)
    await connection.close()
    return clock.row(work.DURABLE_CROWD * work.CROWD_STEPS)


@workload("W12.async")
def crowd() -> Row:
    path = new_path()
    row = asyncio.run(run(path))
    statements: list[str] = []
    asyncio.run(run(new_path(), statements))
    commits = sum(statement.startswith("COMMIT") for statement in statements)
    return {**row, "commits": commits, "commits_per_superstep": round(commits / row["n"], 4), "bytes": file_bytes(path)}


if __name__ == "__main__":
    sys.exit(main("langgraph", version("langgraph")))
