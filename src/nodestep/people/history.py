"""What happened on a branch, and its state at any of its commits."""

from __future__ import annotations

from ..engine.replay import Checkpoint
from ..errors import ThreadBusyError, UnknownEventError, UnknownThreadError
from ..model.event import History, HistoryEvent
from ..model.json import JsonObject
from ..model.limits import check_id
from ..model.position import ROOT
from ..stores.base import StateStore
from .reading import load_branch, tell_record

PAGE = 1000
TRIES = 3


def exists(store: StateStore, thread_id: str, branch_id: str = "main") -> bool:
    """Whether the store has the branch."""
    check_id("thread_id", thread_id)
    check_id("branch_id", branch_id)
    return store.head(thread_id, branch_id) is not None


def history(store: StateStore, thread_id: str, branch_id: str = "main") -> History:
    """Every event of the branch that was not pruned, oldest first, those before its fork included. Raises
    UnknownThreadError."""
    check_id("thread_id", thread_id)
    check_id("branch_id", branch_id)
    for _ in range(TRIES):
        head = store.head(thread_id, branch_id)
        if head is None:
            raise UnknownThreadError(thread_id, branch_id)
        found = _read_all(store, thread_id, branch_id)
        now = store.head(thread_id, branch_id)
        if found is not None and now is not None and now.no == head.no:
            return found
    raise ThreadBusyError(f"Thread {thread_id!r} was pruned or made anew while its history was read; read it again.")


def _read_all(store: StateStore, thread_id: str, branch_id: str) -> History | None:
    """The history page by page, or `None` where one does not follow on the last."""
    events: list[HistoryEvent] = []
    checkpoints: list[str] = []
    first = store.records(thread_id, branch_id, limit=1)
    if not first:
        return None
    after = first[0].sequence - 1
    checkpoint = load_branch(store, thread_id, branch_id, sequence=after).checkpoint if after else Checkpoint()
    while records := store.records(thread_id, branch_id, after=after, limit=PAGE):
        if records[0].sequence != after + 1:
            return None
        for record in records:
            told = tell_record(record, checkpoint, thread_id, branch_id)
            events.extend(told)
            checkpoints.extend(event.id for event in told[-1:])
        after = records[-1].sequence
    return History(thread_id, branch_id, tuple(events), tuple(checkpoints))


def load(store: StateStore, thread_id: str, branch_id: str = "main", at: str | None = None) -> JsonObject:
    """The state as stored: JSON values by field. It needs neither the graph nor its types. `at` is an event, or
    `"<event>/<path>"` for the graph that was at work at that path then. Raises UnknownEventError for another path."""
    event, _, path = at.partition("/") if isinstance(at, str) else (at, "", ROOT)
    checkpoint = load_branch(store, thread_id, branch_id, event).checkpoint
    graphs = [inner for inner, frame in checkpoint.position.frames.items() if inner and not frame.holds_calls]
    if path and path not in graphs:
        known = ", ".join(map(repr, graphs)) or "none"
        raise UnknownEventError(
            f"Thread {thread_id!r} had no graph at work at {path!r} when event {event!r} was recorded. There were: {known}."
        )
    return checkpoint.state_at(path)
