"""Own copies of typed values, and whether two values are the same: equal, with the same types, all the way down.

A copy shares only what cannot change. Two values are the same when no reader could tell them apart, so `1`, `1.0` and
`True` are three different values, and a field that a dataclass leaves out of `==` counts.
"""

from __future__ import annotations

import copy
import datetime
import decimal
import enum
import fractions
import ipaddress
import operator
import pathlib
import re
import uuid
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import Any, Final

from pydantic import BaseModel

ATOMS: Final[frozenset[type]] = frozenset(
    {str, int, float, bool, type(None), bytes, complex, decimal.Decimal, fractions.Fraction, uuid.UUID, re.Pattern}
    | {datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone}
    | {pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath, pathlib.WindowsPath}
    | {ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network}
)
"""Types whose values never change, so that a copy may share them."""


def own_copy(value: Any) -> Any:
    """A copy that shares nothing that can change with the value."""
    kind = type(value)
    if kind in ATOMS:
        return value
    copier = _COPIERS.get(kind)
    if copier is not None:
        return copier(value)
    if isinstance(value, enum.Enum | type):
        return value
    if isinstance(value, BaseModel) and kind.__deepcopy__ is BaseModel.__deepcopy__:
        return _copy_model(value)
    return copy.deepcopy(value)


def _copy_list(value: list[Any]) -> list[Any]:
    return [item if type(item) in ATOMS else own_copy(item) for item in value]


def _copy_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    return {
        key if type(key) in ATOMS else own_copy(key): item if type(item) in ATOMS else own_copy(item)
        for key, item in value.items()
    }


def _copy_tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    own = tuple(map(own_copy, value))
    return value if all(map(operator.is_, own, value)) else own


_COPIERS: Final[dict[type, Callable[[Any], Any]]] = {
    list: _copy_list,
    dict: _copy_dict,
    tuple: _copy_tuple,
    set: lambda value: set(map(own_copy, value)),
    frozenset: lambda value: frozenset(map(own_copy, value)),
}

_set = object.__setattr__


def _copy_model(value: BaseModel) -> BaseModel:
    held = value.__dict__
    copied = _copy_dict(held)
    frozen = value.model_config.get("frozen") and not value.__pydantic_private__ and not value.__pydantic_extra__
    if frozen and all(map(operator.is_, copied.values(), held.values())):
        return value
    own = object.__new__(type(value))
    _set(own, "__dict__", copied)
    _set(own, "__pydantic_fields_set__", set(value.__pydantic_fields_set__))
    extra = value.__pydantic_extra__
    _set(own, "__pydantic_extra__", None if extra is None else _copy_dict(extra))
    private = value.__pydantic_private__
    _set(own, "__pydantic_private__", None if private is None else _copy_dict(private))
    return own


def same(one: Any, other: Any) -> bool:
    """Whether the values are equal and of the same types, at every level, order of items and of keys included."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in ATOMS:
        return _equal(one, other)
    if kind is list or kind is tuple:
        return len(one) == len(other) and all(map(same, one, other))
    if kind is dict or kind is OrderedDict:
        return _same_dicts(one, other)
    if isinstance(one, set | frozenset):
        return _same_sets(one, other)
    return _same_objects(one, other)


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


def _same_dicts(one: dict[Any, Any], other: dict[Any, Any]) -> bool:
    return len(one) == len(other) and all(map(same, one, other)) and all(map(same, one.values(), other.values()))


def _same_sets(one: Any, other: Any) -> bool:
    if one != other:
        return False
    kinds = {item: type(item) for item in one}
    return all(kinds[item] is type(item) for item in other)


def _same_objects(one: Any, other: Any) -> bool:
    if isinstance(one, deque):
        return one.maxlen == other.maxlen and same(list(one), list(other))
    if isinstance(one, defaultdict) and one.default_factory is not other.default_factory:
        return False
    if isinstance(one, dict):
        return _same_dicts(one, other) and _equal(one, other)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other)) and _equal(one, other)
    if isinstance(one, BaseModel):
        return (
            same(one.__dict__, other.__dict__)
            and same(one.__pydantic_extra__ or {}, other.__pydantic_extra__ or {})
            and same(one.__pydantic_private__ or {}, other.__pydantic_private__ or {})
        )
    if is_dataclass(one):
        names = [field.name for field in dataclass_fields(one)]
        return all(same(getattr(one, name, None), getattr(other, name, None)) for name in names)
    try:
        return _equal(one, other)
    except Exception:
        return False
