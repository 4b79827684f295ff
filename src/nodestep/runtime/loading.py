"""A stored state as typed values, for the thread it belongs to."""

from __future__ import annotations

from typing import Any

from ..engine.plan import check_fits, graphs_at
from ..engine.replay import Checkpoint
from ..errors import GraphChangedError
from ..model.blueprint import Blueprint
from ..model.event import Fact, StateUpdated
from ..model.json import JsonObject
from ..model.patch import SET
from ..model.position import ROOT
from ..model.schema import StateSchema


def typed_state(
    blueprint: Blueprint, checkpoint: Checkpoint, thread_id: str, *, to_go_on: bool = False
) -> dict[str, Any]:
    """The values of a stored state. Raises GraphChangedError, naming the thread, where the state no longer fits its type;
    `to_go_on`, also where the tasks that are due no longer fit the graph."""
    try:
        if to_go_on:
            check_fits(blueprint, checkpoint.position)
            for path, graph in graphs_at(blueprint, checkpoint.position).items():
                if path != ROOT:
                    graph.schema.load(checkpoint.inner[path])
        return blueprint.schema.load(checkpoint.state)
    except GraphChangedError as error:
        raise GraphChangedError(f"Thread {thread_id!r} no longer fits the graph. {error}") from None


def new_fields(schema: StateSchema[Any], state: JsonObject, values: dict[str, Any], path: str = ROOT) -> list[Fact]:
    """The defaults of fields that the state type has gained since a frame's state was stored, to be stored before anything
    is merged onto them."""
    gained = {name: value for name, value in values.items() if name not in state}
    return [StateUpdated({SET: schema.dump(gained)}, path)] if gained else []


def dropped_fields(schema: StateSchema[Any], state: JsonObject) -> JsonObject:
    """What is stored of fields that the state type no longer has; it stays stored."""
    return {name: value for name, value in state.items() if not schema.has_field(name)}
