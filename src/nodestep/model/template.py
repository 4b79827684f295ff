"""Text with places for values of a state: `"Publish {draft} for {order.total:.2f}?"`.

A place names a field, and behind it fields, keys (`{prices.total}`, `{prices[net total]}`) and indexes (`{items[0]}`,
`{items[-1]}` from the end). It reads, and does nothing else: no attribute that is not a field, nothing that starts with
`_`, no call. What follows a colon is a format of Python for numbers, text or dates, of limited width. `{{` and `}}` stand
for braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from ..errors import GraphExecutionError
from .canonical import encode
from .json import Json
from .limits import to_json
from .locks import cached_property
from .value import locked_value

MAX_WIDTH: Final = 100
"""The most characters that a format may pad to, and the most digits behind the point."""
MAX_EXPONENT: Final = 400
"""The largest power of ten of a Decimal that is given a format: written out it would have as many digits."""

Step: TypeAlias = str | int
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[^{}]+")
_PLACE = re.compile(r"(?P<field>[^\W\d]\w*)(?P<steps>(?:\.[^\W\d]\w*|\[[^\[\]]+\])*)(?::(?P<format>.*))?", re.DOTALL)
_STEP = re.compile(r"\.(?P<name>\w+)|\[(?P<key>[^\[\]]+)\]")
_OF_VALUES = re.compile(
    r"(?:.?[<>=^])?[-+ ]?z?#?0?(?P<width>\d*)[,_]?(?:\.(?P<digits>\d+))?[bcdeEfFgGosxX%]?", re.DOTALL
)
_OF_DATES = re.compile(r"(?=[^%]*%)(?:[^%]|%-?[A-Za-z%]){1,100}", re.DOTALL)
_ABSENT: Final = object()


class Misspelt(ValueError):  # noqa: N818 - a finding on its way to the place that can name the node
    """What is wrong with a template, and what to write instead."""


@locked_value
class Place:
    """A place in a template, as written, and what it reads."""

    text: str
    field: str
    steps: tuple[Step, ...]
    format: str

    def value(self, state: Any) -> Any:
        """What the state has at this place. Raises LookupError where it has nothing."""
        value = state.get(self.field, _ABSENT) if isinstance(state, Mapping) else getattr(state, self.field, _ABSENT)
        for step in self.steps:
            value = _read(value, step)
        if value is _ABSENT or value is None:
            raise LookupError("the state has no value there")
        return value


@dataclass(frozen=True)
class Template:
    """A text with places. Raises Misspelt when it is made of a text that is none."""

    text: str

    def __post_init__(self) -> None:
        self.pieces  # noqa: B018 - read now, so that a misspelt one is never made

    @cached_property
    def pieces(self) -> tuple[str | Place, ...]:
        """The text between the places, and the places."""
        return tuple(_pieces(self.text))

    @property
    def fields(self) -> Mapping[str, str]:
        """The fields that the template reads, and the first place of each as written."""
        first: dict[str, str] = {}
        for piece in self.pieces:
            if isinstance(piece, Place):
                first.setdefault(piece.field, piece.text)
        return first

    def render(self, state: Any) -> str:
        """The text with the values of a state, as a node sees it. Raises GraphExecutionError, naming the place, where it
        has no value, or one that its format does not fit."""
        return "".join(piece if isinstance(piece, str) else _filled(piece, state) for piece in self.pieces)


def _pieces(text: str) -> Iterator[str | Place]:
    at = 0
    while at < len(text):
        found = _PIECE.match(text, at)
        if found is None:
            raise Misspelt(f"a single {text[at]!r} stands at character {at}. Write {text[at] * 2!r} for a brace.")
        if found[1] is not None:
            yield _place(found[1])
        else:
            yield found[0][:1] if found[0] in ("{{", "}}") else found[0]
        at = found.end()


def _place(written: str) -> Place:
    text = f"{{{written}}}"
    found = _PLACE.fullmatch(written)
    if found is None:
        raise Misspelt(
            f"{text} names no field. A place is a field with fields, keys and indexes behind it, such as {{order.total:.2f}} "
            "or {items[0]}; write {{ and }} for braces."
        )
    steps = list(_STEP.finditer(found["steps"]))
    if any(name.startswith("_") for name in (found["field"], *(step["name"] or "" for step in steps))):
        raise Misspelt(f"{text} names something that starts with '_', which a place does not read. Name a field.")
    _check_format(text, found["format"] or "")
    return Place(text, found["field"], tuple(map(_step, steps)), found["format"] or "")


def _step(found: re.Match[str]) -> Step:
    if found["name"] is not None:
        return found["name"]
    key = found["key"]
    return int(key) if re.fullmatch(r"-?[0-9]{1,9}", key) else key


def _check_format(text: str, format: str) -> None:
    of_values = _OF_VALUES.fullmatch(format)
    if of_values is None and _OF_DATES.fullmatch(format) is None:
        raise Misspelt(
            f"the format of {text} is none. Write one of Python's, such as {{x:.2f}}, {{x:>8}} or {{x:%d %B}}."
        )
    if of_values is not None and any(int(size or 0) > MAX_WIDTH for size in of_values.group("width", "digits")):
        raise Misspelt(f"the format of {text} is too wide. At most {MAX_WIDTH} characters are padded.")


def _read(value: Any, step: Step) -> Any:
    """The field, key or item of a value; nothing else of it is touched."""
    if isinstance(value, dict):
        return value.get(step, value.get(str(step), _ABSENT))
    if isinstance(step, int):
        return value[step] if isinstance(value, (list, tuple)) and -len(value) <= step < len(value) else _ABSENT
    if isinstance(value, BaseModel) or hasattr(type(value), "__dataclass_fields__"):
        fields = getattr(type(value), "__pydantic_fields__", None) or getattr(type(value), "__dataclass_fields__", {})
        return getattr(value, step, _ABSENT) if step in fields else _ABSENT
    if isinstance(value, tuple) and step in getattr(type(value), "_fields", ()):
        return value[type(value)._fields.index(step)]  # type: ignore[attr-defined]
    return _ABSENT


def _filled(place: Place, state: Any) -> str:
    try:
        return _text(place.value(state), place)
    except LookupError as error:
        reason = str(error)
    except (ValueError, TypeError, OverflowError):
        reason = "its format does not fit the value"
    raise GraphExecutionError(
        f"{place.text} cannot be filled in: {reason}. Nothing was asked; give the field a value before, or change the prompt."
    )


def _text(value: Any, place: Place) -> str:
    if isinstance(value, Enum):
        value = value.value
    kind = type(value)
    if kind in (date, datetime, time):
        if place.format and not _OF_DATES.fullmatch(place.format):
            raise ValueError
        return format(value, place.format)
    if kind not in (str, int, float, bool, Decimal):
        value = to_json(value, f"the value of {place.text}")
        if not isinstance(value, str):
            return _json_text(value, place.format)
    if not _OF_VALUES.fullmatch(place.format):
        raise ValueError
    if place.format and isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > MAX_EXPONENT:
        raise ValueError
    return format(value, place.format)


def _json_text(value: Json, format: str) -> str:
    if format:
        raise ValueError
    return encode(value).decode()
