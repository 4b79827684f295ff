"""What the nodes of an agent read of the state: past its view, since messages and the calls in them never change."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from ..errors import GraphExecutionError
from ..model.grown import plain

T = TypeVar("T")


class ListField(Generic[T]):
    """A field of the state that holds a list of `kinds`; `adapter` reads what a state without types holds. `wrong` tells
    that there is no such list."""

    def __init__(self, name: str, kinds: frozenset[type], adapter: TypeAdapter[list[T]], wrong: str) -> None:
        self.name = name
        self._kinds = kinds
        self._adapter = adapter
        self._wrong = wrong

    def read(self, held: Any, begin: int = 0) -> list[T]:
        """The items of what the state holds, in a list of its own; the first ones are known. Raises GraphExecutionError."""
        value = plain(held)
        if type(value) is list and self._kinds.issuperset(map(type, value[begin:] if begin else value)):
            return value if value is not held else value.copy()
        try:
            return self._adapter.validate_python(value)
        except ValidationError:
            raise GraphExecutionError(self._wrong) from None
