"""A stored branch, read: its row, its checkpoint, and where that lets a call go on."""

from __future__ import annotations

import re

from msgspec import Struct

from ..engine.replay import Checkpoint, record_from_bytes, snapshot_from_bytes
from ..errors import UnknownEventError, UnknownThreadError
from ..model.event import HistoryEvent
from ..model.limits import check_id
from ..stores.base import Head, Record, StateStore, Status, Stored

_EVENT_ID = r"([1-9][0-9]{0,17})-([1-9][0-9]{0,9})(?:\.(0|[1-9][0-9]{0,9}))?"


class Loaded(Struct, frozen=True):
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
    commit happens as a whole. Raises UnknownThreadError or UnknownEventError."""
    if store.head(thread_id, branch_id) is None:
        raise UnknownThreadError(thread_id, branch_id)
    match = re.fullmatch(_EVENT_ID, event) if isinstance(event, str) else None
    if match is not None:
        branch_no, sequence, part = int(match[1]), int(match[2]), match[3]
        found = store.records(thread_id, branch_id, after=sequence - 1, limit=1)
        if found and found[0].branch_no == branch_no and found[0].sequence == sequence:
            if part is None:
                return sequence
            before = store.records(thread_id, branch_id, after=sequence - 2, limit=1) if sequence > 1 else ()
            is_kept = bool(before) and before[0].sequence == sequence - 1
            if is_kept and int(part) < _parts(store, thread_id, branch_id, found[0]):
                return sequence - 1
    if store.head(thread_id, branch_id) is None:  # deleted while its records were looked for
        raise UnknownThreadError(thread_id, branch_id)
    raise UnknownEventError(
        f"Branch {branch_id!r} of thread {thread_id!r} has no event {event!r} to go back to, or it was pruned. The ids are "
        f"in (await graph.history(thread_id)).checkpoints.{_outer_hint(event)}"
    )


def _outer_hint(event: object) -> str:
    outer, _, path = event.partition("/") if isinstance(event, str) else ("", "", "")
    if not path or not re.fullmatch(_EVENT_ID, outer):
        return ""
    return f" It names the state of an inner graph, which load(thread, at=...) shows; the event is {outer!r}."


def _parts(store: StateStore, thread_id: str, branch_id: str, record: Record) -> int:
    """How many events stand inside a commit, before its last."""
    before = load_branch(store, thread_id, branch_id, sequence=record.sequence - 1).checkpoint
    return len(tell_record(record, before, thread_id, branch_id)) - 1


def tell_record(record: Record, checkpoint: Checkpoint, thread_id: str, branch_id: str) -> list[HistoryEvent]:
    """The events of one record, taking the checkpoint before it along."""
    from ..engine.tell import tell

    return tell(
        record_from_bytes(record.body),
        checkpoint,
        thread_id=thread_id,
        branch_id=branch_id,
        branch_no=record.branch_no,
        sequence=record.sequence,
        pause=record.pause,
        at_ms=record.at_ms,
    )
