"""What is wrong with a value, told without the value.

Pydantic's own messages quote inputs, and so do locations inside dicts; here a message is made from the kind of error, the
limits that the annotation declares, list indexes and declared field names alone.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticKnownError

from ..errors import a
from .copying import same

_DECLARED: Final = frozenset(
    [
        "gt",
        "ge",
        "lt",
        "le",
        "multiple_of",
        "min_length",
        "max_length",
        "expected",
        "class",
        "class_name",
        "pattern",
        "field_type",
        "max_digits",
        "decimal_places",
        "whole_digits",
        "expected_schemes",
        "expected_tags",
        "discriminator",
        "dataclass_name",
        "tz_expected",
    ]
)
"""The parts of an error's context that come from the annotation, never from the value."""
_WRITTEN_BY_USERS: Final = frozenset({"value_error", "assertion_error"})
_SHOWN: Final = 3


def explain(error: ValidationError, names: Set[str]) -> str:
    """Every finding, at most three, as "[0].price: Input should be greater than 0"; `names` are those that the annotation
    declares and may be shown."""
    found = error.errors(include_url=False, include_input=False)
    told = [_one(each["type"], each.get("ctx", {}), _place(each["loc"], names)) for each in found[:_SHOWN]]
    more = len(found) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more > 0 else "")


class _Declared(dict[str, Any]):
    """The declared parts of an error's context; a part of the value shows as dots."""

    def __missing__(self, key: str) -> str:
        if key == "expected_plural":
            return "" if 1 in (self.get("min_length"), self.get("max_length")) else "s"
        return "..."


def _one(kind: str, context: dict[str, Any], place: str) -> str:
    template = None if kind in _WRITTEN_BY_USERS else _template(kind, context)
    if template is None:
        text = f"a validator refused it ({kind})"
    else:
        text = template.format_map(_Declared({key: value for key, value in context.items() if key in _DECLARED}))
    text = text.rstrip(".").rstrip(", :")
    return f"{place}: {text}" if place else text


def _template(kind: str, context: dict[str, Any]) -> str | None:
    try:
        return PydanticKnownError(kind, context or None).message_template  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError):
        return None


def _place(location: tuple[int | str, ...], names: Set[str]) -> str:
    place = ""
    for part in location:
        if isinstance(part, int):
            place += f"[{part}]"
        elif part in names:
            place += f".{part}" if place else part
        else:
            place += "[...]"
    return place


UNREADABLE: Final = object()
"""Stands for a value whose JSON form was refused when it was read back."""


def difference(value: Any, back: Any) -> str:
    """Where a value and what came back of it first differ, and how, as "[1].pet: a Dog comes back as Animal"."""
    place, one, other = _first("", value, back)
    kind = a(type(one).__name__)
    if other is UNREADABLE:
        how = f"the JSON form of {kind} is refused by its own type"
    elif type(one) is not type(other):
        how = f"{kind} comes back as {type(other).__name__}"
    else:
        how = f"{kind} comes back different"
    return f"{place}: {how}" if place else how


def _first(place: str, one: Any, other: Any) -> tuple[str, Any, Any]:
    pairs: list[tuple[str, Any, Any]] = []
    if type(one) is not type(other):
        return place, one, other
    if isinstance(one, list | tuple) and len(one) == len(other):
        pairs = [(f"{place}[{at}]", *both) for at, both in enumerate(zip(one, other, strict=True))]
    elif isinstance(one, dict) and one.keys() == other.keys():
        pairs = [(f"{place}[...]", one[key], other[key]) for key in one]
    elif isinstance(one, BaseModel):
        pairs = [
            (f"{place}.{name}" if place else name, getattr(one, name, None), getattr(other, name, None))
            for name in type(one).__pydantic_fields__
        ]
    for inner, left, right in pairs:
        if not same(left, right):
            return _first(inner, left, right)
    return place, one, other
