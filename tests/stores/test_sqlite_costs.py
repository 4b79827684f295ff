"""What the listings and a fork cost, counted in the steps of SQLite's machine, which do not depend on the machine below:
a page costs what it holds, however much the store does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from nodestep.stores.base import AuditRow, Holding, Listed, New, Status
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import begin, done, fork, question, seen, write

FEW, MANY = 60, 1200
ALIKE = 1.1
"""How far two counts may be apart: a deeper tree takes a few steps more."""


def filled(path: Path, threads: int) -> SQLiteStateStore:
    """Every fifth thread is paused; each has a decision."""
    store = SQLiteStateStore(path)
    for start in range(0, threads, 100):
        store.commit([of_thread(number) for number in range(start, min(start + 100, threads))])
    return store


def of_thread(number: int):
    status = Status.COMPLETED if number % 5 else Status.INTERRUPTED
    opens = () if number % 5 else (question("ask:ok", assignee="Ann"),)
    audits = (AuditRow("ask:ok", number, "api"),)
    return write(New(f"Graph {number % 2}"), status, f"t{number:05}", opens=opens, audits=audits)


def steps_of(store: SQLiteStateStore, call: Callable[[], object]) -> int:
    """The steps that SQLite takes for a call, without those of preparing it."""
    call()
    count = 0

    def step() -> bool:
        nonlocal count
        count += 1
        return False

    connections = [*store._file._readers, store._file._writing()]
    for connection in connections:
        connection.raw.set_progress_handler(step, 1)
    try:
        call()
    finally:
        for connection in connections:
            connection.raw.set_progress_handler(None)
    return count


CALLS: dict[str, Callable[[SQLiteStateStore], object]] = {
    "a page of questions": lambda store: store.questions(limit=10),
    "a later page of questions": lambda store: store.questions(limit=5, after=place(store.questions(limit=3)[-1])),
    "a page of one's questions": lambda store: store.questions(limit=10, assignee="Ann"),
    "the questions of a thread": lambda store: store.questions("t00020"),
    "a page of threads": lambda store: store.thread_rows(limit=10),
    "a later page of threads": lambda store: store.thread_rows(limit=10, after=40),
    "a page of a graph's threads": lambda store: store.thread_rows(limit=10, graph="Graph 1"),
    "a page of paused threads": lambda store: store.thread_rows(limit=10, status=Status.INTERRUPTED),
    "the branches of a thread": lambda store: store.branch_rows("t00020"),
    "a page of the audit": lambda store: store.audit_rows(limit=10),
    "the audit of a thread": lambda store: store.audit_rows("t00020"),
}


def place(last: Listed) -> tuple[int, int, str]:
    assert last.question.pause is not None
    return last.question.pause, last.branch_no, last.question.key


def page_cost(path: Path, name: str, threads: int) -> int:
    with filled(path, threads) as store:
        return steps_of(store, partial(CALLS[name], store))


def fork_cost(path: Path, length: int) -> int:
    with SQLiteStateStore(path) as store:
        started = begin(store)
        guards = [Holding(started.no, started.epoch, sequence) for sequence in range(1, length)]
        store.commit([write(guard, snapshot=b"=" if guard.sequence % 10 == 0 else None) for guard in guards])
        done(store, write(Holding(started.no, started.epoch, length), Status.READY))
        head, names = seen(store).head, iter(("warm", "counted"))
        return steps_of(store, lambda: fork(store, head, 15, next(names)))


@pytest.mark.parametrize("name", CALLS)
def test_a_page_costs_the_same_however_many_threads_there_are(tmp_path: Path, name: str):
    few, many = page_cost(tmp_path / "few.db", name, FEW), page_cost(tmp_path / "many.db", name, MANY)
    assert 0 < many <= few * ALIKE


def test_a_fork_costs_the_same_however_long_its_parent_is(tmp_path: Path):
    short, long = fork_cost(tmp_path / "short.db", 20), fork_cost(tmp_path / "long.db", 2000)
    assert 0 < long <= short * ALIKE
