"""Own copies of typed values, and whether two values are the same: equal, with the same types, all the way down.

A copy shares only what cannot change. Two values are the same when no reader could tell them apart, so `1`, `1.0` and
`True` are three different values, and a field that a dataclass leaves out of `==` counts.
"""

from __future__ import annotations

import copy
import datetime
import decimal
import fractions
import ipaddress
import pathlib
import re
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from operator import is_
from typing import Any, Final

from pydantic import BaseModel

from .frozen import FrozenDict, FrozenList

ATOMS: Final[frozenset[type]] = frozenset(
    {str, int, float, bool, type(None), bytes, complex, decimal.Decimal, fractions.Fraction, uuid.UUID, re.Pattern}
    | {datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone}
    | {pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath, pathlib.WindowsPath}
    | {ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network}
    | {FrozenDict, FrozenList}
)
"""Types whose values never change, so that a copy may share them."""


MODEL: Final = "__pydantic_root_model__"
"""An attribute of every pydantic model's class and of no other; asking for it is faster than `issubclass`."""


def is_flat(values: Iterable[Any]) -> bool:
    """Whether none of the values can change."""
    return ATOMS.issuperset(map(type, values))


def copy_json(value: Any) -> Any:
    """A copy of a value made of the exact types of JSON."""
    kind = type(value)
    if kind is dict:
        own = value.copy()
        for key, item in value.items():
            if type(item) in _JSON_CONTAINERS:
                own[key] = copy_json(item)
        return own
    if kind is list:
        return value.copy() if is_flat(value) else list(map(copy_json, value))
    return value


_JSON_CONTAINERS: Final = frozenset({list, dict})


def same_json(one: Any, other: Any) -> bool:
    """What `same` tells, of a value made of the exact types of JSON and what became of a copy of it."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict:
        for key, item in one.items():
            found = other.get(key, _NOTHING)
            if found is not item and not same_json(item, found):
                return False
        return len(one) == len(other) and list(one) == list(other)
    if kind is list:
        return len(one) == len(other) and (all(map(is_, one, other)) or all(map(same_json, one, other)))
    return _equal(one, other)


_NOTHING: Final = object()


def own_copy(value: Any) -> Any:
    """A copy that shares nothing that can change with the value."""
    return _copier_of(type(value))(value)


def _copier_of(kind: Any) -> Callable[[Any], Any]:
    copier = _COPIERS.get(kind)
    if copier is not None:
        return copier
    if hasattr(kind, MODEL) and kind.__deepcopy__ is BaseModel.__deepcopy__:
        return _copy_frozen_model if kind.model_config.get("frozen") else _copy_model
    return copy.deepcopy


def _itself(value: Any) -> Any:
    return value


def _copy_list(value: list[Any]) -> list[Any]:
    kinds = set(map(type, value))
    if ATOMS.issuperset(kinds):
        return value.copy()
    if len(kinds) == 1:
        return list(map(_copier_of(kinds.pop()), value))
    return [own_copy(item) for item in value]


def _copy_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    if not is_flat(value):
        return {own_copy(key): own_copy(item) for key, item in value.items()}
    return value.copy() if is_flat(value.values()) else {key: own_copy(item) for key, item in value.items()}


def _copy_tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    if is_flat(value):
        return value
    own = tuple(map(own_copy, value))
    return value if all(map(is_, own, value)) else own


def _copy_model(value: BaseModel) -> BaseModel:
    own = object.__new__(type(value))
    extra, private = _get_extra(value), _get_private(value)
    _set_dict(own, _copy_dict(_get_dict(value)))
    _set_fields_set(own, _get_fields_set(value).copy())
    _set_extra(own, None if extra is None else _copy_dict(extra))
    _set_private(own, None if private is None else _copy_dict(private))
    return own


def _copy_frozen_model(value: BaseModel) -> BaseModel:
    if not _get_extra(value) and not _get_private(value):
        held = _get_dict(value)
        if is_flat(held.values()) or all(map(is_, map(own_copy, held.values()), held.values())):
            return value
    return _copy_model(value)


def model_with(value: BaseModel, name: str, item: Any) -> BaseModel:
    """A model that holds another item in one field and is otherwise the same, its parts shared."""
    own = object.__new__(type(value))
    extra, private = _get_extra(value), _get_private(value)
    _set_dict(own, {**_get_dict(value), name: item})
    _set_fields_set(own, {*_get_fields_set(value), name})
    _set_extra(own, extra and extra.copy())
    _set_private(own, private and private.copy())
    return own


def _slot(name: str) -> tuple[Callable[[Any], Any], Callable[[Any, Any], None]]:
    """Read and write an attribute of a model without asking its `__getattr__` and `__setattr__`."""
    descriptor: Any = BaseModel.__dict__[name]
    return descriptor.__get__, descriptor.__set__


_get_dict, _set_dict = _slot("__dict__")
_get_fields_set, _set_fields_set = _slot("__pydantic_fields_set__")
_get_extra, _set_extra = _slot("__pydantic_extra__")
_get_private, _set_private = _slot("__pydantic_private__")

_COPIERS: Final[dict[type, Callable[[Any], Any]]] = {
    **dict.fromkeys(ATOMS, _itself),
    list: _copy_list,
    dict: _copy_dict,
    tuple: _copy_tuple,
    set: lambda value: set(map(own_copy, value)),
    frozenset: lambda value: frozenset(map(own_copy, value)),
}


def same(one: Any, other: Any) -> bool:
    """Whether the values are equal and of the same types, at every level, order of items and of keys included."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in ATOMS:
        return _equal(one, other)
    if kind is dict:
        return _same_items(one, other) and _same_items(one.values(), other.values())
    if kind is list or kind is tuple:
        return _same_items(one, other)
    if hasattr(kind, MODEL):
        return _same_models(one, other)
    return _same_objects(one, other)


def _same_items(one: Collection[Any], other: Collection[Any]) -> bool:
    return len(one) == len(other) and (all(map(is_, one, other)) or all(map(same, one, other)))


def _same_models(one: BaseModel, other: BaseModel) -> bool:
    for get in (_get_dict, _get_extra, _get_private):
        held, others = get(one), get(other)
        if (held or others) and not same(held or {}, others or {}):
            return False
    return True


def _same_objects(one: Any, other: Any) -> bool:
    if is_dataclass(one):
        names = [field.name for field in dataclass_fields(one)]
        return all(same(getattr(one, name, None), getattr(other, name, None)) for name in names)
    if isinstance(one, set | frozenset):
        return _same_sets(one, other)
    if isinstance(one, deque):
        return one.maxlen == other.maxlen and _same_items(one, other)
    if isinstance(one, defaultdict) and one.default_factory is not other.default_factory:
        return False
    if isinstance(one, dict):
        return _same_items(one, other) and _same_items(one.values(), other.values()) and _equal(one, other)
    if isinstance(one, tuple | list):
        return _same_items(one, other) and _equal(one, other)
    try:
        return _equal(one, other)
    except Exception:
        return False


def _same_sets(one: Any, other: Any) -> bool:
    if one != other:
        return False
    kinds = {item: type(item) for item in one}
    return all(kinds[item] is type(item) for item in other)


def _equal(one: Any, other: Any) -> bool:
    if one != other:
        return False
    told_apart = _TOLD_APART.get(type(one))
    return told_apart is None or told_apart(one) == told_apart(other)


_TOLD_APART: Final[dict[type, Callable[[Any], Any]]] = {
    float: lambda value: value or repr(value),
    decimal.Decimal: decimal.Decimal.as_tuple,
    datetime.datetime: datetime.datetime.utcoffset,
    datetime.time: datetime.time.utcoffset,
}
"""What tells two equal values of a type apart: the sign of zero, trailing zeros, the offset of an instant."""
