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


def typed_state(
    blueprint: Blueprint, checkpoint: Checkpoint, thread_id: str, *, to_go_on: bool = False
) -> dict[str, Any]:
    """The values of a stored state. Raises GraphChangedError, naming the thread, where the state no longer fits its type;
    `to_go_on`, also where the tasks that are due no longer fit the graph."""
    try:
        if to_go_on:
            check_fits(blueprint, checkpoint.position)
        return blueprint.schema.load(checkpoint.state)
    except GraphChangedError as error:
        raise GraphChangedError(f"Thread {thread_id!r} no longer fits the graph. {error}") from None


def new_fields(blueprint: Blueprint, checkpoint: Checkpoint, values: dict[str, Any]) -> list[Fact]:
    """The defaults of fields that the state type has gained since the state was stored, to be stored before anything is
    merged onto them."""
    gained = {name: value for name, value in values.items() if name not in checkpoint.state}
    return [StateUpdated({SET: blueprint.schema.dump(gained)})] if gained else []


def dropped_fields(blueprint: Blueprint, checkpoint: Checkpoint) -> JsonObject:
    """What is stored of fields that the state type no longer has; it stays stored."""
    return {name: value for name, value in checkpoint.state.items() if not blueprint.schema.has_field(name)}
