"""Ending and clearing threads: cancel, delete, prune."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine.replay import record_from_bytes, record_to_bytes, snapshot_to_bytes
from ..errors import GraphConfigError, ResumeError, ThreadBusyError, UnknownThreadError
from ..model.event import Cancelled, SuperstepCompleted
from ..model.limits import check_id, check_json
from ..model.position import ROOT
from ..stores.base import Fenced, ListedBranch, Receipt, StateStore, Status, Write
from .reading import load_branch

PAGE = 1000
TRIES = 3


def cancel(store: StateStore, thread_id: str, branch_id: str = "main", *, reason: str | None = None) -> None:
    """End a branch where it stands. A run that works on it stops at its next write with ThreadCancelledError."""
    check_id("thread_id", thread_id)
    check_id("branch_id", branch_id)
    if reason is not None and not isinstance(reason, str):
        raise TypeError(f"reason= takes a text, not {type(reason).__name__}.")
    check_json(reason, what="reason=")
    record = record_to_bytes([Cancelled(reason)])
    for _ in range(TRIES):
        head = store.head(thread_id, branch_id)
        if head is None:
            raise UnknownThreadError(thread_id, branch_id)
        if head.status in (Status.COMPLETED, Status.CANCELLED):
            raise ResumeError(f"Thread {thread_id!r} is {head.status.value} already: there is nothing to cancel.")
        (answer,) = store.commit([Write(thread_id, branch_id, Fenced(head.no), Status.CANCELLED, record)])
        if isinstance(answer, Receipt):
            return
    raise ThreadBusyError(f"Thread {thread_id!r} changed while it was cancelled. It was not; try again.")


def delete(store: StateStore, thread_id: str) -> None:
    """Drop a thread with all its branches and their audit. Raises ThreadBusyError while a run works on one of them."""
    check_id("thread_id", thread_id)
    heads = store.delete_rows(thread_id)
    if not heads:
        raise UnknownThreadError(thread_id)
    busy = [head.branch_id for head in heads if head.live]
    if busy:
        raise ThreadBusyError(
            f"A run works on branch {busy[0]!r} of thread {thread_id!r} right now. Nothing was deleted; cancel the thread, or "
            "delete it when the run has ended."
        )


def prune(store: StateStore, thread_id: str, branch_id: str = "main", *, keep: int) -> None:
    """Free what is older than the newest `keep` supersteps of a branch. What stands, open questions, forks and the audit
    stay as they are."""
    if not isinstance(keep, int) or isinstance(keep, bool) or keep < 1:
        raise GraphConfigError(f"prune(keep=...) takes a whole number of supersteps from 1 up, not {keep!r}.")
    check_id("thread_id", thread_id)
    for _ in range(TRIES):
        rows = store.branch_rows(thread_id)
        row = next((row for row in rows if row.head.branch_id == branch_id), None)
        if row is None:
            raise UnknownThreadError(thread_id, branch_id)
        start = _start(store, row, keep)
        if start is None:
            return
        points = {point for point in _fork_points(rows, row.head.no) if _first_held(row) <= point < start}
        snapshots = []
        for sequence in sorted({*points, start}):
            checkpoint = load_branch(store, thread_id, branch_id, sequence=sequence).checkpoint
            snapshots.append((sequence, snapshot_to_bytes(checkpoint)))
        if store.prune_rows(row.head.no, start + 1, snapshots):
            return
    raise ThreadBusyError(
        f"Thread {thread_id!r} was forked again and again while it was pruned. It was not; try again."
    )


def _first_held(row: ListedBranch) -> int:
    """The first record that the branch itself holds: those up to its fork are its parent's."""
    return max(row.first, (row.fork_sequence or 0) + 1)


def _start(store: StateStore, row: ListedBranch, keep: int) -> int | None:
    """The last commit to free: that of the superstep before the newest `keep`, if the branch itself holds one."""
    commits: list[int] = []
    after = _first_held(row) - 1
    while records := store.records(row.head.thread_id, row.head.branch_id, after=after, limit=PAGE):
        for record in records:
            facts = record_from_bytes(record.body)
            if any(isinstance(fact, SuperstepCompleted) and fact.path == ROOT for fact in facts):
                commits.append(record.sequence)
        after = records[-1].sequence
    return commits[-keep - 1] if len(commits) > keep else None


def _fork_points(rows: Sequence[ListedBranch], no: int) -> set[int]:
    """The records of a branch at which other branches of the thread leave it, through however many forks."""
    by_no = {row.head.no: row for row in rows}
    points = set()
    for row in rows:
        last: int | None = None
        while row.parent_no is not None and row.fork_sequence is not None:
            last = row.fork_sequence if last is None else min(last, row.fork_sequence)
            if row.parent_no == no:
                points.add(last)
                break
            row = by_no[row.parent_no]
    return points
