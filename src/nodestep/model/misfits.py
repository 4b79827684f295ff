"""What pydantic found wrong with a value, told without the value.

Pydantic's own messages quote inputs, and so do locations inside dicts; here a message is made from the kind of error, the
limits that the annotation declares, list indexes and declared field names alone.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import PydanticKnownError

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


def _one(kind: str, context: dict[str, Any], place: str) -> str:
    text = f"a validator refused it ({kind})"
    template = None if kind in _WRITTEN_BY_USERS else _template(kind, context)
    if template is not None:
        try:
            text = template.format(**{name: value for name, value in context.items() if name in _DECLARED})
        except KeyError:
            text = f"{template.split('{')[0].rstrip(' ,:')} ({kind})"
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
