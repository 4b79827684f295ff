"""How an update meets what a field holds: the reducers that users name in `Annotated`, and the marks that steer them.

Each is a plain function of what the field holds (`None` where it is absent) and the update, and changes neither. The
schema knows these four by identity and applies them as data; any other callable is a reducer of the user's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from .messages import edit_messages, message_id, positions_of
from .value import locked_value

T = TypeVar("T")


@locked_value
class Replace(Generic[T]):
    """An update that bypasses the field's reducer: the field then holds `value`."""

    value: T


@locked_value
class RemoveMessage:
    """In an update of an `add_messages` field: removes the message with this id; does nothing where there is none."""

    id: str


def replace(_current: Any, update: T) -> T:
    """The update takes the place of what was there. The reducer of a field that names none."""
    return update


def add(current: Sequence[T] | None, update: Sequence[T]) -> list[T]:
    """The update's items are appended. The update is a list."""
    return [*(current or ()), *update]


def merge_dict(current: Mapping[str, T] | None, update: Mapping[str, T]) -> dict[str, T]:
    """The update's keys replace those of the same name, one level deep; the others stay."""
    return {**(current or {}), **update}


def add_messages(current: Sequence[Any] | None, update: Sequence[Any]) -> list[Any]:
    """Messages are appended; one with the id of a present message takes its place, `RemoveMessage(id)` removes it.

    A message is a dict with the key `id`, or an object with that attribute. In a graph, a message without an id gets one
    derived from its task and its place in the update; called by hand, `add_messages` appends it as it is.
    """
    messages = list(current or ())
    positions = positions_of(messages)
    for message in update:
        id = message_id(message)
        if id is None:
            messages.append(message)
        else:
            edit_messages(messages, positions, [(id, None if isinstance(message, RemoveMessage) else message)])
    return messages
