"""`locked_value`: a frozen dataclass with slots, for values that users hold, that is finished when the first one is made.

A dataclass writes its methods as text and compiles them, which costs more than all else that its module does when it is
imported. Most values of a program are never used in most of its runs, so here that is done at first use. The values that
the engine makes in every superstep are structs of msgspec, which are made in C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field
from inspect import get_annotations
from threading import RLock
from typing import Any, Final, NoReturn, TypeVar, dataclass_transform

from .locks import whole_over_forks
from .value_init import init_of

T = TypeVar("T")

_FINISHED_LATER: Final = (
    "__repr__",
    "__eq__",
    "__hash__",
    "__dataclass_fields__",
    "__dataclass_params__",
)
_finishing: Final = whole_over_forks(RLock())


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def locked_value(cls: type[T]) -> type[T]:
    """The class with slots, equal and hashed by its fields, whose dataclass methods come later. Most values are made and read,
    and never compared or shown, so `__init__` comes by itself."""
    return _locked(cls, has_own_init=False)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def locked_object(cls: type[T]) -> type[T]:
    """The same for a class without slots, whose own `__init__` puts the fields into its `__dict__`."""
    return _locked(cls, has_own_init=True)


def _locked(cls: type[T], *, has_own_init: bool) -> type[T]:
    names = tuple(get_annotations(cls))
    written = {name: item for name, item in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    later = tuple(name for name in _FINISHED_LATER if name not in written)
    finished: set[str] = set()

    def finish() -> None:
        with _finishing:
            if "methods" in finished:
                return
            # The methods are those of a twin without slots, where the defaults can stand.
            twin = dataclass(frozen=True)(_class_like(cls, dict(written)))
            for name in later:
                setattr(made, name, vars(twin)[name])
            finished.add("methods")

    def finish_init() -> None:
        with _finishing:
            if "init" not in finished:
                setattr(made, "__init__", init_of(made, names, written))  # noqa: B010 - mypy
                finished.add("init")

    members = {name: item for name, item in written.items() if name not in names}
    given = tuple(name for name in names if getattr(written.get(name), "init", True))
    members |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion, "__match_args__": given}
    members |= {name: _Later(finish, name) for name in later}
    if not has_own_init:
        members |= {"__slots__": names, "__getstate__": _state, "__setstate__": _set_state}
        members["__init__"] = _Later(finish_init, "__init__")
    made = _class_like(cls, members)
    return made


class Instruction:
    """What tells a run what to do, such as a Command. It is no data, so it is never taken for an answer or stored."""

    __slots__ = ()


class _Later:
    """A member of a value's class until the class is finished."""

    __slots__ = ("_finish", "_name")

    def __init__(self, finish: Callable[[], None], name: str) -> None:
        self._finish = finish
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        self._finish()
        return getattr(owner if instance is None else instance, self._name)


def _class_like(cls: type[T], members: dict[str, Any]) -> type[T]:
    make: Any = type(cls)
    made: type[T] = make(cls.__name__, cls.__bases__, members)
    return made


def _refuse_assignment(_self: object, name: str, _value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__slots__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)
