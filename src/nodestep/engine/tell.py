"""The events that users read, from the facts of a commit and the checkpoint before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ..model.event import (
    Answered,
    CallsOpened,
    Cancelled,
    Continued,
    Expired,
    Fact,
    Forked,
    FrameOpened,
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
from ..model.ids import event_id, interrupt_key, is_within
from ..model.json import Json
from ..model.outcome import Done, Failed
from ..model.position import ROOT, Frame, Position
from .replay import Checkpoint


class Told(Struct, frozen=True):
    """An event without its place in history."""

    type: str
    node: str | None = None
    data: Json = None
    error_type: str | None = None
    message: str | None = None
    path: str = ROOT


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
            event.path,
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
        case StateUpdated(patch, path):
            yield Told("state_updated", data=patch, path=path)
        case Cancelled(reason):
            yield Told("cancelled", message=reason)
        case Forked(origin):
            yield Told("forked", data={"from": origin})
        case FrameOpened(path) | CallsOpened(path):
            yield from _superstep_start(position, position.outer_of(path))
        case TaskRecorded(task, outcome, path):
            frame = position.frames[path]
            yield from _superstep_start(position, path)
            for id, reason in outcome.rejected.items():
                asked = {"question": interrupt_key(path, task, id)}
                node, graph = _node_of(frame, task), position.graph_of(path)
                yield Told("answer_rejected", node, asked, message=reason, path=graph)
            if isinstance(outcome, Done) and not frame.holds_calls:
                yield Told("node_completed", _node_of(frame, task), outcome.patch, path=path)
        case SuperstepCompleted(due, patch, _, path):
            frame = position.frames[path]
            yield from _superstep_start(position, path)
            if len(frame.due) == 1 and not isinstance(frame.work_of(frame.due[0].id).outcome, Done):
                yield Told("node_completed", frame.due[0].node, patch, path=path)
            data = {"superstep": frame.superstep, "next": [task.id for task in due]}
            yield Told("superstep_completed", data=data, path=path)
        case Paused():
            yield _interrupted(position, pause)
        case RunFailed(error_type, message):
            if pause is not None:
                yield _interrupted(position, pause)
            path, node = _failed_at(position, fact)
            yield Told("superstep_failed", node, None, error_type, message, path)
        case RunCompleted():
            yield Told("run_completed")
        case _:
            return


def _superstep_start(position: Position, path: str) -> Iterator[Told]:
    """The start of a frame's superstep, with the first thing that is recorded of it: an outcome, or a frame inside it. Tool
    calls are told by the task that runs them."""
    frame = position.frames[path]
    if frame.holds_calls:
        return
    begun = any(work.outcome is not None for work in frame.work.values())
    if not begun and not any(inner != path and is_within(inner, path) for inner in position.frames):
        data = {"superstep": frame.superstep, "tasks": [task.id for task in frame.due]}
        yield Told("superstep_started", data=data, path=path)


def _node_of(frame: Frame, task_id: str) -> str | None:
    return next((task.node for task in frame.due if task.id == task_id), None)


def _interrupted(position: Position, pause: int | None) -> Told:
    asked = position.asked()
    nodes = {(position.graph_of(found.path), found.task.node) for found in asked.values()}
    data = {"pause": pause, "questions": {key: found.question.payload for key, found in asked.items()}}
    path, node = nodes.pop() if len(nodes) == 1 else (ROOT, None)
    return Told("interrupted", node, data, path=path)


def _failed_at(position: Position, failure: RunFailed) -> tuple[str, str | None]:
    """The frame and the node that an error comes from: the innermost that failed with it."""
    failed = [
        (path, task)
        for path, frame in position.frames.items()
        for task in (() if frame.holds_calls else frame.due)
        if isinstance(outcome := frame.work_of(task.id).outcome, Failed)
        and (outcome.error_type, outcome.message) == (failure.error_type, failure.message)
    ]
    outer = next((task.id for path, task in failed if path == ROOT and task.node == failure.node), None)
    inside = [(path, task.node) for path, task in failed if outer is not None and path and is_within(path, outer)]
    return max(inside, key=lambda at: at[0].count("/"), default=(ROOT, failure.node))
