"""From the outcomes of a superstep to the next state: conflicts first, then every update in merge order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidUpdateError
from ..model.memory import changed_keys
from ..model.outcome import Done
from ..model.patch import NO_PATCH, Patch
from ..model.position import Frame, Task, merge_order
from ..model.schema import StateSchema, Update


def merge(
    schema: StateSchema[Any], values: dict[str, Any], frame: Frame, updates: Mapping[str, Update]
) -> tuple[dict[str, Any], Patch]:
    """The state after the superstep, and the patch of what custom reducers made of it. `updates` is by task id; tasks
    that wrote nothing are left out. Raises InvalidUpdateError or StateUpdateError, and then nothing merged."""
    if not updates:
        return values, NO_PATCH
    if len(frame.due) == 1:
        (update,) = updates.values()
        if update.plain:
            return {**values, **update.values}, NO_PATCH
        writers = list(frame.due)
    else:
        writers = [task for task in merge_order(frame.due) if task.id in updates]
        _check_conflicts(schema, frame, writers, updates)
    return schema.merge(values, [updates[task.id] for task in writers], lambda index: f"node {writers[index].node!r}")


def check_memory(frame: Frame, done: Mapping[str, Done]) -> None:
    """Refuse two tasks whose hooks changed one key of what a middleware keeps. Raises InvalidUpdateError."""
    writers: dict[tuple[str, str], str] = {}
    for task in frame.due:
        for name, key in changed_keys(done[task.id].memory):
            other = writers.setdefault((name, key), task.id)
            if other != task.id:
                raise InvalidUpdateError(f"{name}.memory[{key!r}]", [other, task.id], frame.superstep)


def _check_conflicts(
    schema: StateSchema[Any], frame: Frame, writers: list[Task], updates: Mapping[str, Update]
) -> None:
    """A field that one node wrote alone (replaced) must have no writer from another node. Tasks of one node are ordered,
    so the last of them wins."""
    nodes_of: dict[str, set[str]] = {}
    replaced: set[str] = set()
    for task in writers:
        update = updates[task.id]
        for name in update.values:
            nodes_of.setdefault(name, set()).add(task.node)
        replaced.update(schema.written_alone(update))
    for name in sorted(replaced):
        if len(nodes_of[name]) > 1:
            raise InvalidUpdateError(name, sorted(nodes_of[name]), frame.superstep)
