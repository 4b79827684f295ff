"""W7: two hundred threads of one file are taken to their question one after another, then each is answered."""

from __future__ import annotations

import time

import work
from commits import Commits
from graphs import Resume, SQLiteStateStore, question
from harness import Clock, Row, file_bytes, new_path, quantiles, workload


@workload("W7.sync")
def pause_and_resume() -> list[Row]:
    path = new_path()
    pauses: list[float] = []
    resumes: list[float] = []
    with Commits() as commits, SQLiteStateStore(path) as store:
        graph = question(store)
        opened = commits.count
        with Clock() as pausing:
            for number in range(work.PAUSES):
                begun = time.perf_counter()
                result = graph.invoke({**work.small_input(), "answer": ""}, thread_id=f"t{number}")
                pauses.append(time.perf_counter() - begun)
                assert result.status == "interrupted"
        paused = commits.count
        with Clock() as resuming:
            for number in range(work.PAUSES):
                begun = time.perf_counter()
                result = graph.invoke(None, thread_id=f"t{number}", resume=Resume("yes"))
                resumes.append(time.perf_counter() - begun)
                assert result.state.answer == "yes"
                assert result.state.counter == 2
        resumed = commits.count
    return [
        pausing.row(work.PAUSES, workload="W7.pause.sync", **quantiles(pauses), commits=paused - opened),
        resuming.row(
            work.PAUSES,
            workload="W7.resume.sync",
            **quantiles(resumes),
            commits=resumed - paused,
            bytes=file_bytes(path),
        ),
    ]
