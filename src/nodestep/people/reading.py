"""A stored branch, read: its row, its checkpoint, and where that lets a call go on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..engine.replay import Checkpoint, record_from_bytes, snapshot_from_bytes
from ..errors import UnknownEventError, UnknownThreadError
from ..model.limits import check_id
from ..stores.base import Head, StateStore, Status, Stored

_EVENT_ID = re.compile(r"(\d{1,18})-(\d{1,10})(\.\d{1,10})?")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A branch at one of its commits."""

    head: Head
    checkpoint: Checkpoint
    sequence: int


def standing(head: Head) -> Status:
    """Where a branch stands, by its row; one that runs without a live lease was cut off."""
    return Status.UNFINISHED if head.status is Status.RUNNING and not head.live else head.status


def replayed(stored: Stored) -> Checkpoint:
    """The checkpoint that a branch's snapshot and records amount to."""
    checkpoint = Checkpoint() if stored.snapshot is None else snapshot_from_bytes(stored.snapshot)
    for record in stored.records:
        checkpoint.apply(record_from_bytes(record.body), record.pause, record.at_ms)
    return checkpoint


def load_branch(
    store: StateStore, thread_id: str, branch_id: str, at: str | None = None, *, sequence: int | None = None
) -> Loaded:
    """The branch now, or as it was at an event or a commit. Raises UnknownThreadError or UnknownEventError."""
    check_id("thread_id", thread_id)
    check_id("branch_id", branch_id)
    if at is not None:
        sequence = sequence_of(store, thread_id, branch_id, at)
    stored = store.read(thread_id, branch_id, sequence)
    if stored is None:
        raise UnknownThreadError(thread_id, branch_id)
    return Loaded(stored.head, replayed(stored), stored.head.sequence if sequence is None else sequence)


def sequence_of(store: StateStore, thread_id: str, branch_id: str, event: str) -> int:
    """The commit at which an event left the branch. An event inside a commit stands for the commit before it, since a
    commit happens as a whole."""
    match = _EVENT_ID.fullmatch(event) if isinstance(event, str) else None
    if match is not None:
        branch_no, sequence, part = int(match[1]), int(match[2]), match[3]
        found = store.records(thread_id, branch_id, after=sequence - 1, limit=1) if sequence > 0 else ()
        if found and found[0].branch_no == branch_no and found[0].sequence == sequence:
            last = sequence if part is None else sequence - 1
            if last > 0:
                return last
    raise UnknownEventError(
        f"Branch {branch_id!r} of thread {thread_id!r} has no event {event!r} to go back to, or it was pruned. The ids are "
        "in (await graph.history(thread_id)).checkpoints."
    )
