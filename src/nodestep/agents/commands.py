"""A `Command` that a tool returned, kept with its call and carried out when the turn is over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import GraphExecutionError
from ..flow.edges import End
from ..flow.node import Node
from ..flow.options import target_name
from ..model.json import Json, JsonObject
from ..model.limits import to_json
from ..model.node import Command


def command_to_json(command: Command) -> JsonObject:
    """The form that is recorded with the call. Raises GraphExecutionError for a target that is neither a node, a name nor
    END, StateStoreError for an update without a JSON form."""
    goto = command.goto
    targets = None if goto is None else [_target(each) for each in (goto if isinstance(goto, list) else [goto])]
    return {"update": to_json(dict(command.update or {}), "The update of a tool's Command"), "goto": targets}


def _target(target: Any) -> str:
    if isinstance(target, Node | End | str):
        return target_name(target)
    raise GraphExecutionError(
        f"A tool returned Command(goto={type(target).__name__}). A tool goes to nodes, their names, or END; a node may Send."
    )


def joined_command(commands: Iterable[Json], update: Mapping[str, Any], messages_field: str) -> Any:
    """What the node returns for the turn: its own update with those of the commands, and the targets of all of them.
    Messages come after the turn's own; of another field that several commands write, the last one counts."""
    joined: dict[str, Any] = dict(update)
    targets: list[str] = []
    goes = False
    for command in commands:
        more = dict(command["update"])
        joined[messages_field] = [*joined[messages_field], *more.pop(messages_field, [])]
        joined.update(more)
        if command["goto"] is not None:
            goes = True
            targets += [target for target in command["goto"] if target not in targets]
    return Command(joined, targets if goes else None)
