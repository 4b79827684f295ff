"""Events of a branch: a page of them, the branch that an event is of, and an event in one safe line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..engine.replay import Checkpoint, record_from_bytes
from ..engine.tell import tell
from ..errors import UnknownThreadError
from ..model.event import HistoryEvent
from ..model.ids import event_id, frame_path
from ..people.listing import check_limit
from ..people.reading import load_branch, sequence_of
from ..stores.base import Record, StateStore
from .questions import MAIN
from .safe_text import name, shown
from .times import iso
from .values import described

SHOWN_NAMES: Final = 8


@dataclass(frozen=True, slots=True)
class EventPage:
    """Whole commits in the order they happened. `earlier` is the event to ask for what came before, `None` where nothing
    did; `pruned` says that what came before was pruned."""

    events: tuple[HistoryEvent, ...]
    earlier: str | None
    pruned: bool


def events_before(store: StateStore, thread_id: str, branch_id: str, *, before: str | None, limit: int) -> EventPage:
    """The newest events of a branch, or those before the commit of an event; at most `limit`, save that a commit is told
    whole. Raises UnknownThreadError and UnknownEventError."""
    check_limit("history", limit)
    head = store.head(thread_id, branch_id)
    if head is None:
        raise UnknownThreadError(thread_id, branch_id)
    end = head.sequence if before is None else _commit_before(store, thread_id, branch_id, before)
    records = store.records(thread_id, branch_id, after=max(end - limit, 0), limit=limit)
    records = tuple(record for record in records if record.sequence <= end)
    if not records:
        return EventPage((), None, False)
    commits = _told(store, thread_id, branch_id, records)
    kept: list[list[HistoryEvent]] = []
    for commit in reversed(commits):
        if kept and sum(map(len, kept)) + len(commit) > limit:
            break
        kept.insert(0, commit)
    first = records[len(records) - len(kept)]
    (oldest,) = store.records(thread_id, branch_id, limit=1)
    earlier = event_id(first.branch_no, first.sequence) if oldest.sequence < first.sequence else None
    pruned = earlier is None and oldest.sequence > 1
    return EventPage(tuple(event for commit in kept for event in commit), earlier, pruned)


def _commit_before(store: StateStore, thread_id: str, branch_id: str, event: str) -> int:
    """The commit before that of an event; an event inside a commit stands for the commit before it already."""
    sequence = sequence_of(store, thread_id, branch_id, event)
    return sequence if "." in event else sequence - 1


def _told(store: StateStore, thread_id: str, branch_id: str, records: Iterable[Record]) -> list[list[HistoryEvent]]:
    """The events of consecutive commits, a list for each."""
    commits: list[list[HistoryEvent]] = []
    checkpoint: Checkpoint | None = None
    for record in records:
        if checkpoint is None:
            base = record.sequence - 1
            checkpoint = load_branch(store, thread_id, branch_id, sequence=base).checkpoint if base else Checkpoint()
        commits.append(
            tell(
                record_from_bytes(record.body),
                checkpoint,
                thread_id=thread_id,
                branch_id=branch_id,
                branch_no=record.branch_no,
                sequence=record.sequence,
                pause=record.pause,
                at_ms=record.at_ms,
            )
        )
    return commits


def branch_of(store: StateStore, thread_id: str, event: str) -> str:
    """The branch whose own the event is, by the number it begins with; `main` for one of none. Raises UnknownThreadError."""
    rows = store.branch_rows(thread_id)
    if not rows:
        raise UnknownThreadError(thread_id)
    number = event.partition("-")[0]
    return next((row.head.branch_id for row in rows if str(row.head.no) == number), MAIN)


def event_to_json(event: HistoryEvent) -> dict[str, Any]:
    """The event for a program."""
    return {
        "id": event.id,
        "sequence": event.sequence,
        "type": event.type,
        "node": event.node,
        "path": event.path,
        "data": event.data,
        "error_type": event.error_type,
        "message": event.message,
        "created_at": iso(event.created_at),
    }


def detail(event: HistoryEvent) -> str:
    """What an event says beside its type, on one safe line."""
    data: Mapping[str, Any] = event.data if isinstance(event.data, dict) else {}
    node = "" if event.node is None else name(frame_path(event.path, event.node))
    inside = f"{name(event.path)}: " if event.path else ""
    match event.type:
        case "run_started":
            return "goes on" if "continued" in data else f"input {_fields(data.get('input', {}))}"
        case "superstep_started":
            return f"{inside}superstep {data['superstep']}: {_names(data['tasks'])}"
        case "node_completed":
            return f"{node} wrote {_fields(data)}"
        case "superstep_completed":
            return f"{inside}superstep {data['superstep']}, next: {_names(data['next'])}"
        case "superstep_failed":
            return f"{node}{': ' if node else ''}{shown(f'{event.error_type}: {event.message}')}"
        case "interrupted":
            return f"pause {data['pause']}: {_names(data['questions'])}"
        case "answered":
            answers = "; ".join(f"{name(key)} = {described(value)}" for key, value in data["answers"].items())
            return answers + ("" if data["by"] is None else f", by {name(data['by'])}")
        case "answer_rejected":
            return f"{name(data['question'])}: {shown(event.message or '')}"
        case "expired":
            return _names(data["questions"])
        case "state_updated":
            return f"wrote {_fields(data)}"
        case "forked":
            return f"from {name(data['from'])}"
    return shown(event.message or "")


def _fields(patch: Mapping[str, Any]) -> str:
    """The fields that a patch writes, whatever it does to them."""
    return _names(dict.fromkeys(field for writes in patch.values() for field in writes))


def _names(names: Iterable[str]) -> str:
    every = [name(each) for each in names]
    more = f" and {len(every) - SHOWN_NAMES} more" if len(every) > SHOWN_NAMES else ""
    return ", ".join(every[:SHOWN_NAMES]) + more if every else "nothing"
