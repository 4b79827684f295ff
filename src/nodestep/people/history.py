"""What happened on a branch, and its state at any of its commits."""

from __future__ import annotations

from ..engine.replay import Checkpoint, record_from_bytes
from ..engine.tell import tell
from ..errors import UnknownThreadError
from ..model.event import History, HistoryEvent
from ..model.json import JsonObject
from ..model.limits import check_id
from ..stores.base import StateStore
from .reading import load_branch

PAGE = 1000


def exists(store: StateStore, thread_id: str, branch_id: str = "main") -> bool:
    """Whether the store has the branch."""
    check_id("thread_id", thread_id)
    check_id("branch_id", branch_id)
    return store.head(thread_id, branch_id) is not None


def history(store: StateStore, thread_id: str, branch_id: str = "main") -> History:
    """Every event of the branch that was not pruned, oldest first, those before its fork included. Raises
    UnknownThreadError."""
    if not exists(store, thread_id, branch_id):
        raise UnknownThreadError(thread_id, branch_id)
    events: list[HistoryEvent] = []
    checkpoints: list[str] = []
    first = store.records(thread_id, branch_id, limit=1)
    after = first[0].sequence - 1 if first else 0
    pruned = after > 0
    checkpoint = load_branch(store, thread_id, branch_id, sequence=after).checkpoint if pruned else Checkpoint()
    while records := store.records(thread_id, branch_id, after=after, limit=PAGE):
        for record in records:
            told = tell(
                record_from_bytes(record.body),
                checkpoint,
                thread_id=thread_id,
                branch_id=branch_id,
                branch_no=record.branch_no,
                sequence=record.sequence,
                pause=record.pause,
                at_ms=record.at_ms,
            )
            events.extend(told)
            checkpoints.extend(event.id for event in told[-1:])
        after = records[-1].sequence
    return History(thread_id, branch_id, tuple(events), tuple(checkpoints))


def load(store: StateStore, thread_id: str, branch_id: str = "main", at: str | None = None) -> JsonObject:
    """The state as stored: JSON values by field. It needs neither the graph nor its types."""
    return load_branch(store, thread_id, branch_id, at).checkpoint.state
