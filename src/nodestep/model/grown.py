"""Lists that only grow, so that appending to a long one costs what is appended.

A `Grown` is a storage shared by all the lists that grew from one another, seen up to a length. What was seen never
changes: only the longest may append in place, every other one copies first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .messages import Edit, Positions, edit_messages, positions_of


class Grown:
    """A list as it was at one time. `positions` finds messages by id; `None` for a list of anything else."""

    __slots__ = ("_length", "_positions", "_storage")

    def __init__(self, storage: list[Any], positions: Positions | None = None) -> None:
        self._storage = storage
        self._length = len(storage)
        self._positions = positions

    def __len__(self) -> int:
        return self._length

    def items(self) -> list[Any]:
        """The items, in a list of their own."""
        return self._storage[: self._length]

    def grew_from(self, other: Grown) -> bool:
        """Whether it is the other with items appended, as far as can be told at once."""
        return self._storage is other._storage and self._length >= other._length

    def appended(self, items: Sequence[Any]) -> Grown:
        """The list with the items at its end."""
        storage = self._storage if len(self._storage) == self._length else self.items()
        storage.extend(items)
        return Grown(storage)

    def edited(self, edits: Sequence[Edit]) -> Grown:
        """The list of messages after the edits. Appending costs what is appended, other edits a copy."""
        positions = self._positions
        appended = {id for id, message in edits if message is not None}
        in_place = (
            positions is not None
            and len(self._storage) == self._length
            and len(appended) == len(edits)
            and positions.keys().isdisjoint(appended)
        )
        storage = self._storage if in_place else self.items()
        if not in_place or positions is None:
            positions = positions_of(storage)
        edit_messages(storage, positions, edits)
        return Grown(storage, positions)


def grown(value: Any) -> Grown:
    """The value of a growing field, from what it holds: a `Grown`, a list, or nothing yet."""
    if type(value) is Grown:
        return value
    return Grown(list(value or ()))


def plain(value: Any) -> Any:
    """What a field holds as the type it declares."""
    return value.items() if type(value) is Grown else value
