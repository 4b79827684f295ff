"""Messages in a list, found by their ids: what `add_messages` does, on typed values and on their JSON alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from .copying import MODEL

Positions: TypeAlias = dict[str, int]
"""Where each message stands, by its id."""
Edit: TypeAlias = tuple[str, Any]
"""An id with the message that is appended or takes its place, or with `None` to remove it."""


def message_id(message: Any) -> Any:
    """The id of a message, a dict or an object; `None` where it has none."""
    kind = type(message)
    is_dict = kind is dict or (not hasattr(kind, MODEL) and isinstance(message, Mapping))
    return message.get("id") if is_dict else getattr(message, "id", None)


def positions_of(messages: Iterable[Any]) -> Positions:
    """Where each message of a list stands, by its id."""
    return {message_id(message): place for place, message in enumerate(messages)}


def edit_messages(messages: list[Any], positions: Positions, edits: Iterable[Edit]) -> None:
    """Apply the edits in place, to the list and to the positions of its messages, in time proportional to the edits; a
    removal reads the list once more. Removing an unknown id does nothing."""
    removed = False
    for id, message in edits:
        place = positions.get(id)
        if message is None:
            if place is not None:
                messages[place] = None
                del positions[id]
                removed = True
        elif place is None:
            positions[id] = len(messages)
            messages.append(message)
        else:
            messages[place] = message
    if removed:
        messages[:] = [message for message in messages if message is not None]
        for place, id in enumerate(sorted(positions, key=positions.__getitem__)):
            positions[id] = place
