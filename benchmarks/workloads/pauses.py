"""W7: two hundred threads of one file are taken to their question one after another, then each is answered; the same
with the question three graphs deep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import work
from commits import commits_of
from graphs import Graph, Resume, SQLiteStateStore, question, three_deep
from harness import Clock, Row, file_bytes, new_path, quantiles, workload

Make = Callable[[SQLiteStateStore], Graph[Any]]


def _pause(store: SQLiteStateStore, threads: int, make: Make) -> Row:
    graph, calls = make(store), []
    with Clock() as clock:
        for number in range(threads):
            begun = time.perf_counter()
            result = graph.invoke({**work.small_input(), "answer": ""}, thread_id=f"t{number}")
            calls.append(time.perf_counter() - begun)
            assert result.status == "interrupted"
    return clock.row(threads, **quantiles(calls))


def _resume(store: SQLiteStateStore, threads: int, make: Make) -> Row:
    graph, calls = make(store), []
    with Clock() as clock:
        for number in range(threads):
            begun = time.perf_counter()
            result = graph.invoke(None, thread_id=f"t{number}", resume=Resume("yes"))
            calls.append(time.perf_counter() - begun)
            assert (result.data["answer"], result.data["counter"]) == ("yes", 2)
    return clock.row(threads, **quantiles(calls))


@workload("W7.sync")
def pause_and_resume() -> list[Row]:
    return _rows(question, "sync")


@workload("W7.nested")
def pause_and_resume_three_deep() -> list[Row]:
    return _rows(lambda store: three_deep(question(), store), "nested")


def _rows(make: Make, variant: str) -> list[Row]:
    path = new_path()
    with SQLiteStateStore(path) as store:
        paused = _pause(store, work.PAUSES, make)
        resumed = _resume(store, work.PAUSES, make)
    pausing = commits_of(lambda store: _pause(store, 1, make))
    both = commits_of(lambda store: (_pause(store, 1, make), _resume(store, 1, make)))
    return [
        {"workload": f"W7.pause.{variant}", **paused, "commits": pausing},
        {"workload": f"W7.resume.{variant}", **resumed, "commits": both - pausing, "bytes": file_bytes(path)},
    ]
