"""W7: two hundred threads of one file are taken to their question one after another, then each is answered."""

from __future__ import annotations

import time

import work
from commits import commits_of
from graphs import Resume, SQLiteStateStore, question
from harness import Clock, Row, file_bytes, new_path, quantiles, workload


def _pause(store: SQLiteStateStore, threads: int) -> Row:
    graph, calls = question(store), []
    with Clock() as clock:
        for number in range(threads):
            begun = time.perf_counter()
            result = graph.invoke({**work.small_input(), "answer": ""}, thread_id=f"t{number}")
            calls.append(time.perf_counter() - begun)
            assert result.status == "interrupted"
    return clock.row(threads, **quantiles(calls))


def _resume(store: SQLiteStateStore, threads: int) -> Row:
    graph, calls = question(store), []
    with Clock() as clock:
        for number in range(threads):
            begun = time.perf_counter()
            result = graph.invoke(None, thread_id=f"t{number}", resume=Resume("yes"))
            calls.append(time.perf_counter() - begun)
            assert (result.data["answer"], result.data["counter"]) == ("yes", 2)
    return clock.row(threads, **quantiles(calls))


@workload("W7.sync")
def pause_and_resume() -> list[Row]:
    path = new_path()
    with SQLiteStateStore(path) as store:
        paused = _pause(store, work.PAUSES)
        resumed = _resume(store, work.PAUSES)
    pausing = commits_of(lambda store: _pause(store, 1))
    both = commits_of(lambda store: (_pause(store, 1), _resume(store, 1)))
    return [
        {"workload": "W7.pause.sync", **paused, "commits": pausing},
        {"workload": "W7.resume.sync", **resumed, "commits": both - pausing, "bytes": file_bytes(path)},
    ]
