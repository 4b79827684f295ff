"""What the tests of history share: nodes that ask, and where in its history a thread said something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nodestep import END, START, Graph, HistoryEvent, interrupt
from nodestep.flow import Node
from tests.asking import kept
from tests.running.making import Log, does, of, run, says


def asks(name: str, ran: list[str] | None = None, id: str = "ok", **options: Any) -> Node:
    """A node that writes down what it was answered."""

    def body(state: Log) -> dict[str, Any]:
        if ran is not None:
            ran.append(name)
        return {"log": [f"{name}: {interrupt(f'{name}?', id=id, **options)}"]}

    return does(name, body)


def side_by_side(*tasks: Node, **options: Any) -> Graph[Log]:
    """A graph that runs these tasks at once, after a node `a`."""
    return of(START >> says("a") >> list(tasks), *(task >> END for task in tasks), **options)


def events(on: Any, thread: str = "t", branch: str = "main") -> tuple[HistoryEvent, ...]:
    return run(on.history(thread, branch_id=branch)).events


def told(on: Any, thread: str = "t", branch: str = "main") -> list[str]:
    """The types of a branch's events."""
    return [event.type for event in events(on, thread, branch)]


def point(on: Any, type: str, nth: int = 0, thread: str = "t", branch: str = "main") -> str:
    """The checkpoint of the commit that told its nth event of a type."""
    found = [event for event in events(on, thread, branch) if event.type == type]
    return found[nth].id.partition(".")[0]


def forked(on: Any, type: str, nth: int = 0, branch: str = "main", **options: Any) -> str:
    """The name of a new fork of thread `t` where that commit left it."""
    return run(on.fork("t", from_=point(on, type, nth, branch=branch), branch_id=branch, **options)).id


def open_keys(on: Any, thread: str | None = "t", **options: Any) -> list[str]:
    return [asked.key for asked in run(on.pending(thread, **options)).items]


@contextmanager
def untouched(store: Any, *branches: str, thread: str = "t") -> Iterator[None]:
    """What the store holds of these branches, `"main"` unless others are named, is the same afterwards."""
    names = branches or ("main",)
    before = [kept(store, thread, name) for name in names]
    yield
    assert [kept(store, thread, name) for name in names] == before
