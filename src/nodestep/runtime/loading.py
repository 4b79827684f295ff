"""A stored state as typed values, for the thread it belongs to."""

from __future__ import annotations

from typing import Any

from ..engine.plan import check_fits
from ..engine.replay import Checkpoint
from ..errors import GraphChangedError
from ..model.blueprint import Blueprint
from ..model.event import Fact, StateUpdated
from ..model.json import JsonObject
from ..model.patch import SET
from ..model.position import ROOT
from ..model.schema import StateSchema


def typed_state(blueprint: Blueprint, checkpoint: Checkpoint, thread_id: str) -> dict[str, Any]:
    """The values of a stored state. Raises GraphChangedError, naming the thread, where the state no longer fits its type."""
    try:
        return blueprint.schema.load(checkpoint.state)
    except GraphChangedError as error:
        raise _changed(thread_id, error) from None


def typed_states(blueprint: Blueprint, checkpoint: Checkpoint, thread_id: str) -> dict[str, dict[str, Any]]:
    """The values of every frame whose graph the blueprint tells, by path, to go on with. Raises GraphChangedError also
    where the tasks that are due no longer fit the graph."""
    try:
        graphs = check_fits(blueprint, checkpoint.position)
        return {path: graph.schema.load(checkpoint.state_at(path)) for path, graph in graphs.items()}
    except GraphChangedError as error:
        raise _changed(thread_id, error) from None


def _changed(thread_id: str, error: GraphChangedError) -> GraphChangedError:
    return GraphChangedError(f"Thread {thread_id!r} no longer fits the graph. {error}")


def new_fields(schema: StateSchema[Any], state: JsonObject, values: dict[str, Any], path: str = ROOT) -> list[Fact]:
    """The defaults of fields that the state type has gained since a frame's state was stored, to be stored before anything
    is merged onto them."""
    gained = {name: value for name, value in values.items() if name not in state}
    return [StateUpdated({SET: schema.dump(gained)}, path)] if gained else []


def dropped_fields(schema: StateSchema[Any], state: JsonObject) -> JsonObject:
    """What is stored of fields that the state type no longer has; it stays stored."""
    if state.keys() <= schema.fields.keys():
        return {}
    return {name: value for name, value in state.items() if not schema.has_field(name)}
