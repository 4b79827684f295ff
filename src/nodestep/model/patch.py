"""What a write does to a state, as data.

A patch maps an operation to the fields it touches and their JSON: `{"set": {"n": 1}, "append": {"log": ["x"]}}`. Applying
one needs neither the graph nor user code, and costs what was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from .json import Json, JsonObject
from .messages import Positions, edit_messages, positions_of

Patch: TypeAlias = Mapping[str, Mapping[str, Json]]
NO_PATCH: Patch = MappingProxyType({})

SET = "set"
"""The field holds the value from now on."""
APPEND = "append"
"""The items are appended to the field's list."""
MERGE = "merge"
"""The keys take the place of those of the same name in the field's dict."""
MESSAGES = "messages"
"""Each dict is appended to the field's list, or takes the place of the one with the same `id`; a text removes the message
with that id."""
REDUCE = "reduce"
"""What the user's own reducer is called with. Applying leaves it out: its result follows as `set`."""

FieldPositions: TypeAlias = dict[str, Positions]
"""Where each message stands, by field and id. It saves a replay from looking for every id."""


def apply(state: JsonObject, patch: Patch, positions: FieldPositions | None = None) -> None:
    """Apply the patch to a state that the caller owns. Nothing of the patch becomes part of the state.

    `positions`, kept by the caller from one patch to the next of one state (begin with `{}`), makes the cost of messages
    that of the patch; without it each patch with messages reads the ids of the whole list.
    """
    for operation, writes in patch.items():
        for field, value in writes.items():
            if operation == SET:
                state[field] = _own(value) if type(value) in _CONTAINERS else value
                if positions:
                    positions.pop(field, None)
            elif operation == APPEND:
                state.setdefault(field, []).extend(map(_own, value))
            elif operation == MERGE:
                state.setdefault(field, {}).update(_own(value))
            elif operation == MESSAGES:
                _apply_messages(state, field, value, positions)
            elif operation != REDUCE:
                raise ValueError(f"unknown operation {operation!r} in a patch")


def _apply_messages(state: JsonObject, field: str, value: list[Json], positions: FieldPositions | None) -> None:
    messages: list[Json] = state.setdefault(field, [])
    at = None if positions is None else positions.get(field)
    if at is None:
        at = positions_of(messages)
    edit_messages(messages, at, [(m, None) if isinstance(m, str) else (m["id"], _own(m)) for m in value])
    if positions is not None:
        positions[field] = at


def without_reduce(patch: Patch) -> Patch:
    """The patch without what only a user's reducer can read."""
    return {operation: writes for operation, writes in patch.items() if operation != REDUCE}


def followed_by(first: Patch, second: Patch) -> Patch:
    """One patch for two, where no field is in both (save as `reduce` in the first): what the second sets comes last."""
    if not first or not second:
        return second or first
    joined = {operation: dict(writes) for operation, writes in first.items()}
    for operation, writes in second.items():
        joined[operation] = {**joined.get(operation, {}), **writes}
    return joined


def _own(value: Json) -> Json:
    kind = type(value)
    if kind is dict:
        return {key: _own(item) if type(item) in _CONTAINERS else item for key, item in value.items()}
    if kind is list:
        return [_own(item) if type(item) in _CONTAINERS else item for item in value]
    return value


_CONTAINERS = frozenset({list, dict})
