"""Branches of a thread: a fork is a row that knows where its parent stood; it copies no events."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from ..engine.fork import fork_entry
from ..errors import GraphConfigError, ThreadBusyError, UnknownThreadError
from ..model.event import instant
from ..model.ids import event_id
from ..model.limits import check_id
from ..model.records import BranchRecord
from ..stores.base import ForkOf, ListedBranch, Receipt, StateStore, Write
from .reading import load_branch, sequence_of
from .rows import question_row

TRIES = 3


def branches(store: StateStore, thread_id: str) -> list[BranchRecord]:
    """The branches of a thread, oldest first. Raises UnknownThreadError."""
    check_id("thread_id", thread_id)
    rows = store.branch_rows(thread_id)
    if not rows:
        raise UnknownThreadError(thread_id)
    by_no = {row.head.no: row for row in rows}
    return [_record(row, by_no) for row in rows]


def fork(
    store: StateStore, thread_id: str, branch_id: str = "main", *, from_: str, name: str | None = None
) -> BranchRecord:
    """A new branch that stands where this one stood at an event. Without a name it is `fork-1`, `fork-2` and so on."""
    check_id("thread_id", thread_id)
    check_id("branch_id", branch_id)
    if name is not None:
        check_id("branch_id", name)
    for _ in range(TRIES):
        sequence = sequence_of(store, thread_id, branch_id, from_)
        found = store.records(thread_id, branch_id, after=sequence - 1, limit=1)
        if not found or found[0].sequence != sequence:
            continue
        loaded = load_branch(store, thread_id, branch_id, sequence=sequence)
        origin = event_id(found[0].branch_no, sequence)
        record, status, questions = fork_entry(loaded.checkpoint.position, origin)
        opens = tuple(question_row(found, listing) for found, listing in questions)
        branch = _free_name(store, thread_id, name)
        guard = ForkOf(loaded.head.no, sequence)
        (answer,) = store.commit([Write(thread_id, branch, guard, status, record, opens=opens)])
        if isinstance(answer, Receipt):
            return BranchRecord(branch, thread_id, branch_id, origin, instant(answer.at_ms))
    raise ThreadBusyError(f"Thread {thread_id!r} changed while it was forked. Nothing was forked; try again.")


def _free_name(store: StateStore, thread_id: str, name: str | None) -> str:
    taken = {row.head.branch_id for row in store.branch_rows(thread_id)}
    if name is None:
        return next(free for number in count(1) if (free := f"fork-{number}") not in taken)
    if name in taken:
        raise GraphConfigError(
            f"Thread {thread_id!r} has a branch {name!r} already. Choose another name; nothing was forked."
        )
    return name


def _record(row: ListedBranch, by_no: Mapping[int, ListedBranch]) -> BranchRecord:
    head = row.head
    return BranchRecord(
        head.branch_id, head.thread_id, row.parent_branch_id, _origin(row, by_no), instant(head.created_at_ms)
    )


def _origin(row: ListedBranch, by_no: Mapping[int, ListedBranch]) -> str | None:
    """The event at which a fork left its parent; the commit itself may be held by a branch further up."""
    sequence = row.fork_sequence
    if row.parent_no is None or sequence is None:
        return None
    holder = by_no[row.parent_no]
    while holder.parent_no is not None and holder.fork_sequence is not None and sequence <= holder.fork_sequence:
        holder = by_no[holder.parent_no]
    return event_id(holder.head.no, sequence)
