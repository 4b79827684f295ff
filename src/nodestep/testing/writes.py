"""Writes to a store, each said in one line, for tests of stores."""

from __future__ import annotations

from typing import Any

from ..stores.base import (
    Append,
    ForkOf,
    Head,
    Holding,
    New,
    QuestionRow,
    Receipt,
    Refused,
    StateStore,
    Status,
    Stored,
    Unchanged,
    Write,
)
from .clock import ManualClock as ManualClock


def question(key: str = "ask:ok", **fields: Any) -> QuestionRow:
    return QuestionRow(key, key.rpartition(":")[2], "ask", "ask", fields.pop("payload", key), **fields)


def write(
    guard: Any, status: Status = Status.RUNNING, thread: str = "t", branch: str = "main", **rest: Any
) -> Write | Append:
    """An `Append` where an owner goes on and says nothing else."""
    record = rest.pop("record", b"[]")
    if isinstance(guard, Holding) and status is Status.RUNNING and not rest.keys() - {"snapshot"}:
        return Append(guard.no, guard.epoch, guard.sequence, record, **rest)
    return Write(thread, branch, guard, status, record, **rest)


def one(store: StateStore, item: Write | Append) -> Receipt | Refused:
    (answer,) = store.commit([item])
    return answer


def done(store: StateStore, item: Write | Append) -> Receipt:
    answer = one(store, item)
    assert isinstance(answer, Receipt), answer
    return answer


def refused(store: StateStore, item: Write | Append) -> Refused:
    answer = one(store, item)
    assert isinstance(answer, Refused), answer
    return answer


def begin(store: StateStore, thread: str = "t", status: Status = Status.RUNNING, **rest: Any) -> Receipt:
    return done(store, write(New(rest.pop("graph", "Refund")), status, thread, **rest))


def holding(receipt: Receipt) -> Holding:
    return Holding(receipt.no, receipt.epoch, receipt.sequence)


def unchanged(read: Receipt | Head) -> Unchanged:
    return Unchanged(read.no, read.epoch, read.sequence)


def go_on(
    store: StateStore, receipt: Receipt, status: Status = Status.RUNNING, thread: str = "t", **rest: Any
) -> Receipt:
    return done(store, write(holding(receipt), status, thread, **rest))


def pause(store: StateStore, *keys: str, thread: str = "t", **rest: Any) -> Receipt:
    """A new thread that stops at these questions."""
    started = begin(store, thread, **rest)
    opens = tuple(question(key) for key in keys or ("ask:ok",))
    return go_on(store, started, Status.INTERRUPTED, thread, opens=opens)


def fork(store: StateStore, parent: Head, sequence: int, branch: str, **rest: Any) -> Head:
    """A fork of `parent` at its record `sequence`, at rest after a first record of its own."""
    fields = {"thread": parent.thread_id, "record": b"fork", **rest}
    status = fields.pop("status", Status.UNFINISHED)
    done(store, write(ForkOf(parent.no, sequence), status, branch=branch, **fields))
    return seen(store, parent.thread_id, branch).head


def seen(store: StateStore, thread: str = "t", branch: str = "main", upto: int | None = None) -> Stored:
    stored = store.read(thread, branch, upto)
    assert stored is not None
    return stored


def bodies(stored: Stored) -> list[bytes]:
    return [record.body for record in stored.records]
