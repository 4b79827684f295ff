"""How tasks and results see a state: as copies of the declared type, made field by field.

Small fields are copied at once, large ones on first read, so a view costs what is in its small fields however much the
rest holds. What a node changed in place is found by comparing the fields it read with the state's own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from operator import is_
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel

from ..errors import GraphExecutionError
from .copying import ATOMS, MODEL, is_flat
from .declared import Declared
from .dict_views import Unread, UnreadState
from .grown import Grown
from .model_views import Source, held_by, hidden_subclass, instances, leave_unread, unread_of

S = TypeVar("S")

_SMALL: Final = 32
"""How many values a field may hold to be copied at once; they must not hold others."""
_CONTAINERS: Final = frozenset({list, tuple, set, frozenset, deque})
_ABSENT: Final = object()


class Views(Generic[S]):
    """The views of one state type: of a pydantic model, or of a dict where `model` is `None`."""

    def __init__(self, model: Any, declared: Declared) -> None:
        self._model: type[BaseModel] | None = model
        self._instance: Callable[[dict[str, Any]], Any] | None = None if model is None else instances(model)
        self._declared = declared
        self._copied = [name for name, field in declared.by_name.items() if not field.is_atomic]
        self._hidden = hidden_subclass(model) if model is not None and self._copied else None
        self._at_once = {
            name for name in self._copied if model is not None and _always_there(model, self._hidden, name)
        }

    def view(self, values: Mapping[str, Any]) -> S:
        """A task's own copy, whose large fields are copied when they are read."""
        held = dict(values)
        unread: list[str] = []
        for name in values if self._declared.is_open else self._copied:
            value = held.get(name)
            if type(value) in ATOMS:
                continue
            if name in self._at_once or _is_small(value):
                held[name] = self._declared.of(name).copy(value)
            else:
                unread.append(name)
        return self._unread_view(values, held, unread) if unread else self._shown(held)

    def _unread_view(self, values: Mapping[str, Any], held: dict[str, Any], unread: list[str]) -> S:
        def copier(name: str) -> Any:
            return self._declared.of(name).copy(values[name])

        if self._hidden is None:
            for name in unread:
                held[name] = Unread(copier, name)
            return UnreadState(held)  # type: ignore[return-value]
        for name in unread:
            del held[name]
        view = self._shown(held)
        leave_unread(view, self._hidden, Source(copier, unread))
        return view

    def is_untouched(self, view: S, values: Mapping[str, Any]) -> bool:
        """Whether a view of these values holds the very same ones, so that nothing can have been changed in place."""
        held: dict[str, Any] = view if self._model is None else held_by(view)  # type: ignore[assignment]
        return len(held) == len(values) and all(map(is_, held.values(), values.values())) and list(held) == list(values)

    def changes(self, view: S, values: Mapping[str, Any]) -> dict[str, Any]:
        """What was changed in place on a view of these values, by field. Fields that were never read are not compared."""
        model = self._model
        held: dict[str, Any] = view if model is None else held_by(view)  # type: ignore[assignment]
        changed: dict[str, Any] = {}
        n_seen = 0
        for name in dict.keys(held) if model is None else model.__pydantic_fields__:
            value = dict.get(held, name, _ABSENT)
            if value is _ABSENT:
                continue
            n_seen += 1
            own = values.get(name, _ABSENT)
            if value is own or type(value) is Unread:
                continue
            if own is _ABSENT or not self._declared.of(name).same(own, value):
                changed[name] = value
        if changed or n_seen < len(values):
            self._check_removed(view, values, held)
        return changed

    def _check_removed(self, view: S, values: Mapping[str, Any], held: Mapping[str, Any]) -> None:
        unread = () if self._model is None else unread_of(view)
        for name in values:
            if name not in held and name not in unread:
                raise GraphExecutionError(
                    f"A node removed field {name!r} from the state it received. Fields cannot be removed; set it to None, "
                    "or return the update instead."
                )

    def result(self, values: Mapping[str, Any]) -> S:
        """A full copy as the declared type."""
        return self._shown(self.data(values))

    def _shown(self, held: dict[str, Any]) -> S:
        return held if self._instance is None else self._instance(held)  # type: ignore[return-value]

    def data(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """A full copy as a plain dict."""
        return {
            name: value if type(value) in ATOMS else self._declared.of(name).copy(value)
            for name, value in values.items()
        }


def _always_there(model: type[BaseModel], hidden: type[BaseModel] | None, name: str) -> bool:
    """Whether a field cannot be left out of an instance until it is read, since the class would answer for it."""
    return hidden is None or hasattr(model, name)


def _is_small(value: Any) -> bool:
    """Whether copying the value at once costs about what putting it off would."""
    kind = type(value)
    if kind is Grown:
        items: Any = value.items() if len(value) <= _SMALL else None
    elif kind is dict:
        items = value.values()
    elif kind in _CONTAINERS:
        items = value
    elif hasattr(kind, MODEL):
        items = value.__dict__.values()
    else:
        return isinstance(value, Enum)
    return items is not None and len(items) <= _SMALL and is_flat(items)
