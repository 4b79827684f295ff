"""W11, W12: many threads at once in one event loop, without a store and in one SQLite file."""

from __future__ import annotations

import asyncio

import work
from commits import commits_of
from graphs import InMemoryStateStore, SQLiteStateStore, Store, row_of_nodes
from harness import Clock, Row, file_bytes, new_path, workload


def _run(threads: int, store: Store) -> Row:
    async def measured() -> Row:
        graph = row_of_nodes(work.CROWD_STEPS, store)
        with Clock() as clock:
            results = await asyncio.gather(
                *(graph.ainvoke(work.small_input(), thread_id=f"t{number}") for number in range(threads))
            )
        for result in results:
            work.check_small(result.data, work.CROWD_STEPS)
        return clock.row(threads * work.CROWD_STEPS)

    row = asyncio.run(measured())
    ideal_s = work.CROWD_STEPS * work.CROWD_SLEEP_S
    return {**row, "ideal_s": ideal_s, "overhead": round(row["seconds"] / ideal_s, 1)}


@workload("W11.none")
def without_a_store() -> Row:
    return _run(work.CROWD, None)


@workload("W11.memory")
def in_memory() -> Row:
    return _run(work.CROWD, InMemoryStateStore())


@workload("W12.async")
def in_a_file() -> Row:
    path = new_path()
    with SQLiteStateStore(path) as store:
        row = _run(work.DURABLE_CROWD, store)
    commits = commits_of(lambda store: _run(work.DURABLE_CROWD, store))
    return {**row, "commits": commits, "commits_per_superstep": round(commits / row["n"], 4), "bytes": file_bytes(path)}
