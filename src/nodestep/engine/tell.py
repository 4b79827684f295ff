"""The events that users read, from the facts of a commit and the checkpoint before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..model.event import (
    Answered,
    Cancelled,
    Continued,
    Expired,
    Fact,
    Forked,
    HistoryEvent,
    Paused,
    RunCompleted,
    RunFailed,
    Started,
    StateUpdated,
    SuperstepCompleted,
    TaskRecorded,
    instant,
)
from ..model.ids import event_id, interrupt_key
from ..model.json import Json
from ..model.outcome import Done
from ..model.position import Frame, Position
from .replay import Checkpoint


class Told(NamedTuple):
    """An event without its place in history."""

    type: str
    node: str | None = None
    data: Json = None
    error_type: str | None = None
    message: str | None = None


def tell(
    facts: Sequence[Fact],
    checkpoint: Checkpoint,
    *,
    thread_id: str,
    branch_id: str,
    branch_no: int,
    sequence: int,
    pause: int | None,
    at_ms: int,
) -> list[HistoryEvent]:
    """The events of one commit, in order, taking the checkpoint before it along. The last of them bears the commit's own
    id; it is where to load or fork."""
    told: list[Told] = []
    for fact in facts:
        told.extend(_tell(fact, checkpoint.position, pause))
        checkpoint.apply((fact,), pause, at_ms)
    created_at = instant(at_ms)
    last = len(told) - 1
    return [
        HistoryEvent(
            event_id(branch_no, sequence, None if part == last else part),
            thread_id,
            branch_id,
            sequence,
            event.type,
            created_at,
            event.node,
            event.data,
            event.error_type,
            event.message,
        )
        for part, event in enumerate(told)
    ]


def _tell(fact: Fact, position: Position, pause: int | None) -> Iterator[Told]:
    match fact:
        case Started(run_id, patch, _):
            yield Told("run_started", data={"run_id": run_id, "input": patch})
        case Continued(run_id):
            yield Told("run_started", data={"run_id": run_id, "continued": True})
        case Answered(answers, by, note, source):
            yield Told("answered", data={"answers": dict(answers), "by": by, "note": note, "source": source})
        case Expired(keys):
            yield Told("expired", data={"questions": list(keys)})
        case StateUpdated(patch):
            yield Told("state_updated", data=patch)
        case Cancelled(reason):
            yield Told("cancelled", message=reason)
        case Forked(origin):
            yield Told("forked", data={"from": origin})
        case TaskRecorded(task, outcome, path):
            frame = position.frames[path]
            yield from _superstep_start(frame)
            for id, reason in outcome.rejected.items():
                key = interrupt_key(path, task, id)
                yield Told("answer_rejected", _node_of(frame, task), {"question": key}, message=reason)
            if isinstance(outcome, Done):
                yield Told("node_completed", _node_of(frame, task), outcome.patch)
        case SuperstepCompleted(due, patch, _, path):
            frame = position.frames[path]
            yield from _superstep_start(frame)
            if len(frame.due) == 1 and not isinstance(frame.work_of(frame.due[0].id).outcome, Done):
                yield Told("node_completed", frame.due[0].node, patch)
            yield Told("superstep_completed", data={"superstep": frame.superstep, "next": [task.id for task in due]})
        case Paused():
            yield _interrupted(position, pause)
        case RunFailed(error_type, message, node, _):
            if pause is not None:
                yield _interrupted(position, pause)
            yield Told("superstep_failed", node, None, error_type, message)
        case RunCompleted():
            yield Told("run_completed")
        case _:
            return


def _superstep_start(frame: Frame) -> Iterator[Told]:
    if all(work.outcome is None for work in frame.work.values()):
        yield Told("superstep_started", data={"superstep": frame.superstep, "tasks": [task.id for task in frame.due]})


def _node_of(frame: Frame, task_id: str) -> str | None:
    return next((task.node for task in frame.due if task.id == task_id), None)


def _interrupted(position: Position, pause: int | None) -> Told:
    asked = position.asked()
    nodes = {found.task.node for found in asked.values()}
    data = {"pause": pause, "questions": {key: found.question.payload for key, found in asked.items()}}
    return Told("interrupted", nodes.pop() if len(nodes) == 1 else None, data)
