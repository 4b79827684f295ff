"""W1, W2, W3: one small step over and over, without a store, in memory, and in a SQLite file."""

from __future__ import annotations

import asyncio

import work
from commits import commits_of
from graphs import InMemoryStateStore, SQLiteStateStore, Store, chain
from harness import Clock, Row, file_bytes, new_path, workload


def _run(steps: int, store: Store = None) -> Row:
    graph = chain(steps, store)
    with Clock() as clock:
        result = graph.invoke(work.small_input(), thread_id="t")
    work.check_small(result.data, steps)
    return clock.row(steps)


def _arun(steps: int, store: Store = None) -> Row:
    async def measured() -> Row:
        graph = chain(steps, store, is_async=True)
        with Clock() as clock:
            result = await graph.ainvoke(work.small_input(), thread_id="t")
        work.check_small(result.data, steps)
        return clock.row(steps)

    return asyncio.run(measured())


@workload("W1.sync")
def without_a_store() -> Row:
    return _run(work.CHAIN_STEPS)


@workload("W1.async")
def awithout_a_store() -> Row:
    return _arun(work.CHAIN_STEPS)


@workload("W2.sync")
def in_memory() -> Row:
    return _run(work.CHAIN_STEPS, InMemoryStateStore())


@workload("W2.async")
def ain_memory() -> Row:
    return _arun(work.CHAIN_STEPS, InMemoryStateStore())


@workload("W3.sync")
def in_a_file() -> Row:
    return _in_a_file(is_async=False)


@workload("W3.async")
def ain_a_file() -> Row:
    return _in_a_file(is_async=True)


def _in_a_file(*, is_async: bool) -> Row:
    run, path = _arun if is_async else _run, new_path()
    with SQLiteStateStore(path) as store:
        row = run(work.DURABLE_STEPS, store)
    size = file_bytes(path)
    commits = commits_of(lambda store: run(work.DURABLE_STEPS, store))
    return {**row, "commits": commits, "bytes": size, "beyond_empty": size - empty_bytes()}


@workload("W3.empty")
def empty() -> Row:
    """A store that is made and closed."""
    path = new_path()
    with Clock() as clock:
        SQLiteStateStore(path).close()
    return clock.row(1, bytes=file_bytes(path))


def empty_bytes() -> int:
    """The size of a store with nothing in it."""
    path = new_path()
    SQLiteStateStore(path).close()
    return file_bytes(path)
