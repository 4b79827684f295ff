"""Views of a dict: a task's own copy of the state whose large fields are copied on first read.

The keys of unread fields stand in the dict from the start, with a placeholder for the value that no reader of Python sees.
C code that reads a dict without asking it (some JSON encoders, pydantic's validators) finds the placeholder and fails with
its name, rather than miss a field; `dict(state)` is what to give such code. Once everything has been read the overrides are
gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, ItemsView, Iterator, ValuesView
from typing import Any, Final

Copier = Callable[[str], Any]
"""Makes the view's own copy of a field, by its name."""

filling: Final = threading.RLock()
"""Held while fields are copied, so that the threads of one node get one copy."""


class UnreadFieldOfStateUseDictOfState:
    """The placeholder. Its name is what an error of C code shows."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<a field that was not read yet; give this code dict(state)>"


UNREAD: Final = UnreadFieldOfStateUseDictOfState()


class State(dict[str, Any]):
    """A view whose fields have all been read. Its copies, deep ones and pickled ones included, are plain dicts."""

    __slots__ = ("_copier",)

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        return dict, (dict(self),)


class UnreadState(State):
    """A view with fields that `copier` copies when they are read. `fill` copies all that are left."""

    __slots__ = ()

    def __init__(self, held: dict[str, Any], copier: Copier) -> None:
        dict.update(self, held)
        self._copier = copier

    def __getitem__(self, key: str) -> Any:
        value = dict.__getitem__(self, key)
        return self._read(key) if value is UNREAD else value

    def _read(self, key: str) -> Any:
        with filling:
            value = dict.__getitem__(self, key)
            if value is UNREAD:
                value = self._copier(key)
                dict.__setitem__(self, key, value)
            return value

    def fill(self) -> State:
        """Copy every unread field; the view then is a plain dict in all but name."""
        with filling:
            if type(self) is UnreadState:
                for key, value in dict.items(self):
                    if value is UNREAD:
                        dict.__setitem__(self, key, self._copier(key))
                self.__class__ = State  # type: ignore[assignment]
                del self._copier
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
        return dict.__eq__(self.fill(), other)

    def __ne__(self, other: object) -> bool:
        return dict.__ne__(self.fill(), other)

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Any:
        return dict.__or__(self.copy(), other)

    def __ror__(self, other: Any) -> Any:
        return dict.__ror__(self.copy(), other)

    def __repr__(self) -> str:
        return dict.__repr__(self.fill())
