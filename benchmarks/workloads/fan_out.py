"""W6: a plan that sends a thousand tasks, and a join. With a file, the result of each task is durable on its own."""

from __future__ import annotations

import asyncio

import work
from commits import commits_of
from graphs import InMemoryStateStore, SQLiteStateStore, Store, fan_out
from harness import Clock, Row, file_bytes, new_path, workload

RESULTS = [i * 2 for i in range(work.FAN_OUT)]


def _run(store: Store = None) -> Row:
    graph = fan_out(work.FAN_OUT, store, is_async=False)
    with Clock() as clock:
        result = graph.invoke({}, thread_id="t")
    assert result.state.results == RESULTS
    return clock.row(work.FAN_OUT)


def _arun(store: Store = None) -> Row:
    async def measured() -> Row:
        graph = fan_out(work.FAN_OUT, store, is_async=True)
        with Clock() as clock:
            result = await graph.ainvoke({}, thread_id="t")
        assert result.state.results == RESULTS
        return clock.row(work.FAN_OUT)

    return asyncio.run(measured())


def _in_a_file(*, is_async: bool) -> Row:
    run, path = _arun if is_async else _run, new_path()
    with SQLiteStateStore(path) as store:
        row = run(store)
    return {**row, "commits": commits_of(run), "bytes": file_bytes(path)}


@workload("W6.none.sync")
def without_a_store() -> Row:
    return _run()


@workload("W6.none.async")
def awithout_a_store() -> Row:
    return _arun()


@workload("W6.memory.sync")
def in_memory() -> Row:
    return _run(InMemoryStateStore())


@workload("W6.memory.async")
def ain_memory() -> Row:
    return _arun(InMemoryStateStore())


@workload("W6.sqlite.sync")
def in_a_file() -> Row:
    return _in_a_file(is_async=False)


@workload("W6.sqlite.async")
def ain_a_file() -> Row:
    return _in_a_file(is_async=True)
