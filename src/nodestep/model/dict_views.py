"""Views of a dict: a task's own copy of the state whose large fields are copied on first read.

The keys of unread fields stand in the dict from the start, with a placeholder for the value that no reader of Python sees;
pydantic asks it for the value. Other C code that reads a dict behind its back (orjson, for one) finds the placeholder and
fails with its name, rather than miss a field: `dict(state)` is what to give such code. Once everything has been read the
overrides are gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, ItemsView, Iterator, ValuesView
from typing import Any, Final

from pydantic_core import SchemaSerializer
from pydantic_core.core_schema import any_schema, plain_serializer_function_ser_schema

from .locks import whole_over_forks

Copier = Callable[[str], Any]
"""Makes a view's own copy of a field, by its name."""

filling: Final = whole_over_forks(threading.RLock())
"""Held while fields are copied, so that the threads of one node get one copy."""


class _SerializerOfUnread:
    """How pydantic gets a field's value, made when it first asks."""

    def __get__(self, instance: object, owner: type) -> SchemaSerializer:
        made = SchemaSerializer(
            any_schema(serialization=plain_serializer_function_ser_schema(lambda unread: unread.read()))
        )
        owner.__pydantic_serializer__ = made  # type: ignore[attr-defined]
        return made


class UnreadFieldOfStateUseDictOfState:
    """The placeholder of a field; its name is what an error of C code shows. `read` makes the copy, once."""

    __slots__ = ("_copier", "_name", "_value")

    __pydantic_serializer__ = _SerializerOfUnread()

    def __init__(self, copier: Copier, name: str) -> None:
        self._copier: Copier | None = copier
        self._name = name
        self._value: Any = None

    def read(self) -> Any:
        with filling:
            if self._copier is not None:
                self._value = self._copier(self._name)
                self._copier = None
            return self._value

    def __repr__(self) -> str:
        return f"<field {self._name!r} was not read yet; give this code dict(state)>"


Unread = UnreadFieldOfStateUseDictOfState


class State(dict[str, Any]):
    """A view whose fields have all been read. Its copies, deep ones and pickled ones included, are plain dicts."""

    __slots__ = ()

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        return dict, (dict(self),)


class UnreadState(State):
    """A view in which some values are placeholders. `fill` copies what is left of them."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        value = dict.__getitem__(self, key)
        if type(value) is Unread:
            value = value.read()
            dict.__setitem__(self, key, value)
        return value

    def fill(self) -> State:
        """Copy every unread field; the view then is a plain dict in all but name."""
        with filling:
            if type(self) is UnreadState:
                for key, value in dict.items(self):
                    if type(value) is Unread:
                        dict.__setitem__(self, key, value.read())
                self.__class__ = State  # type: ignore[assignment]
        return self

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def pop(self, key: str, *default: Any) -> Any:
        if key in self:
            self[key]
        return dict.pop(self, key, *default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else dict.setdefault(self, key, default)

    def __iter__(self) -> Iterator[str]:  # overridden so that dict(view) asks items by item
        return dict.__iter__(self)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        return dict.items(self.fill())

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        return dict.values(self.fill())

    def popitem(self) -> tuple[str, Any]:
        return dict.popitem(self.fill())

    def copy(self) -> dict[str, Any]:
        return dict(self.fill())

    def __copy__(self) -> dict[str, Any]:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        return dict.__eq__(self.fill(), other.fill() if type(other) is UnreadState else other)

    def __ne__(self, other: object) -> bool:
        return dict.__ne__(self.fill(), other.fill() if type(other) is UnreadState else other)

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Any:
        return dict.__or__(self.copy(), other)

    def __ror__(self, other: Any) -> Any:
        return dict.__ror__(self.copy(), other)

    def __repr__(self) -> str:
        return dict.__repr__(self.fill())
