"""`update_state`: an edit of a stored thread from outside a run, checked like an update and recorded like one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..engine.admit import refuse_running
from ..engine.replay import record_to_bytes
from ..errors import InvalidUpdateError, ThreadBusyError, UnknownThreadError
from ..model.blueprint import Blueprint
from ..model.event import StateUpdated
from ..model.ids import event_id
from ..model.limits import check_id
from ..model.outcome import Done
from ..model.position import Frame, Position
from ..people.reading import replayed, standing
from ..stores.base import New, Receipt, StateStore, Status, Unchanged, Write
from .loading import new_fields, typed_state

TRIES = 3
WRITER = "update_state"


def update_state(
    blueprint: Blueprint,
    store: StateStore,
    thread_id: str,
    values: Mapping[str, Any],
    branch_id: str = "main",
    *,
    create: bool = False,
) -> str:
    """Write values through the reducers; returns the id of the event. With `create` a thread that does not exist is made,
    completed, with these values as its state."""
    check_id("thread_id", thread_id)
    check_id("branch_id", branch_id)
    if not isinstance(values, Mapping):
        raise TypeError(
            f"update_state takes a dict from field to value, not {type(values).__name__}. Nothing was written."
        )
    for _ in range(TRIES):
        write = _edit(blueprint, store, thread_id, branch_id, values, create)
        (answer,) = store.commit([write])
        if isinstance(answer, Receipt):
            return event_id(answer.no, answer.sequence)
    raise ThreadBusyError(f"Thread {thread_id!r} changed while it was edited. Nothing was written; try again.")


def _edit(
    blueprint: Blueprint,
    store: StateStore,
    thread_id: str,
    branch_id: str,
    values: Mapping[str, Any],
    create: bool,
) -> Write:
    schema = blueprint.schema
    stored = store.read(thread_id, branch_id)
    if stored is None:
        if not create or branch_id != "main":
            raise UnknownThreadError(thread_id, branch_id)
        state = schema.dump(schema.first_state(values, writer=WRITER))
        record = record_to_bytes([StateUpdated({"set": state})])
        return Write(thread_id, branch_id, New(blueprint.name), Status.COMPLETED, record)
    head = stored.head
    if head.live:
        raise refuse_running(thread_id)
    checkpoint = replayed(stored)
    frame = checkpoint.position.root
    _check_unwritten(blueprint, frame, values)
    _check_unshared(blueprint, checkpoint.position, values)
    seed = f"{frame.superstep}/edit/{head.sequence}"
    before = typed_state(blueprint, checkpoint, thread_id)
    _, patch = schema.next_state(before, dict(values), seed, WRITER)
    facts = [*new_fields(schema, checkpoint.state, before), StateUpdated(patch)]
    guard = Unchanged(head.no, head.epoch, head.sequence)
    return Write(thread_id, branch_id, guard, standing(head), record_to_bytes(facts))


def _check_unwritten(blueprint: Blueprint, frame: Frame, values: Mapping[str, Any]) -> None:
    """A field that a finished task of the open superstep replaces must not be edited: one of the two would be lost."""
    for task in frame.due:
        outcome = frame.work_of(task.id).outcome
        if isinstance(outcome, Done) and outcome.patch:
            alone = blueprint.schema.written_alone(blueprint.schema.update_from_patch(outcome.patch))
            for name in values:
                if name in alone:
                    raise InvalidUpdateError.finished(name, task.node, WRITER, frame.superstep)


def _check_unshared(blueprint: Blueprint, position: Position, values: Mapping[str, Any]) -> None:
    """A field that an open inner frame shares is at work there: what comes out later was made from the value before."""
    for task in position.root.due:
        spec = blueprint.nodes.get(blueprint.name_now(task.node))
        if spec is not None and spec.inner is not None and task.id in position.frames:
            for name in values:
                if name in spec.inner.share:
                    raise InvalidUpdateError.shared(name, task.id, WRITER, position.root.superstep)
