"""A form at the terminal: the answer to a question is asked for field by field, as the question's schema has them.

What the schema forbids is told, and asked again. Knows terminals and schemas, and nothing of threads.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

from ..model.interrupt import MISSING
from ..model.json import Json, JsonObject
from .exits import Refusal
from .prompts import LeftOpen, as_json, line, yes
from .safe_text import cut, name, shown_json, shown_lines
from .schema import SHOWN_CHOICES, Field, Kind, Schema, Shape, spelled
from .screen import Screen
from .typed import Unanswerable, Unreadable, check, is_one_line, read_line

STEP: Final = "  "
DESCRIPTION_CHARACTERS: Final = 300
DESCRIPTION_LINES: Final = 5
LISTED_CHOICES: Final = 40


class Empty(Enum):
    """What an empty line stands for, as the prompt says it."""

    LEAVES_OPEN = ""
    LEAVES_OUT = "optional"
    IS_NULL = "empty for null"
    IS_NEEDED = "needed"
    ENDS = "empty ends the list"


class Form:
    """Asks for one value of a schema. Every method raises LeftOpen when the person wants to leave it, EOFError at the end
    of input, and Unanswerable for a schema that no value fits."""

    def __init__(self, screen: Screen, schema: JsonObject) -> None:
        self._screen = screen
        self._schema = Schema(schema)

    def ask(self, indent: str) -> Json:
        """The answer."""
        shape = self._schema.shape(self._schema.root)
        if not is_one_line(self._schema, shape):
            self._screen.say(f"{indent}Field by field; -j before a value gives it as JSON.")
        return self._value(self._schema.root, "Answer", indent, Empty.LEAVES_OPEN)

    def _value(self, part: Json, label: str, indent: str, empty: Empty, default: tuple[Json, ...] = ()) -> Any:
        """A value of a part of the schema, or MISSING where it is left out."""
        shape = self._schema.shape(part)
        self._describe(shape, indent)
        if shape.kind in (Kind.CONSTANT, Kind.NULL) and empty is not Empty.LEAVES_OPEN:
            return shape.schema.get("const")
        if is_one_line(self._schema, shape):
            return self._line(part, shape, label, indent, empty, default)
        if empty in (Empty.LEAVES_OUT, Empty.IS_NULL) and not self._wants(part, label, indent, default):
            return MISSING if empty is Empty.LEAVES_OUT else None
        while True:
            value = self._parts(shape, label, indent)
            try:
                check(self._schema, part, value, label)
            except Unreadable as error:
                self._tell(error)
            else:
                return value

    def _wants(self, part: Json, label: str, indent: str, default: tuple[Json, ...]) -> bool:
        hint = f"else {_told(default[0])}" if default else "optional"
        return yes(f"{indent}{label} ({self._schema.words(part)}, {hint}): fill in? [y/N] ", default=False)

    def _parts(self, shape: Shape, label: str, indent: str) -> Any:
        match shape.kind:
            case Kind.OBJECT:
                return self._object(shape, label, indent)
            case Kind.LIST:
                return self._list(shape, label, indent)
            case Kind.ROW:
                places = enumerate(shape.schema["prefixItems"], 1)
                return [self._value(part, f"{label} {place}", indent, Empty.IS_NEEDED) for place, part in places]
            case Kind.MAP:
                return self._map(shape, label, indent)
        return self._variant(shape, label, indent)

    def _object(self, shape: Shape, label: str, indent: str) -> JsonObject:
        if label != "Answer":
            self._screen.say(f"{indent}{label}")
        value: JsonObject = {}
        for field in self._schema.fields(shape.schema):
            given = self._value(field.schema, name(field.key), indent + STEP, self._empty(field), field.default)
            if given is not MISSING:
                value[field.key] = given
        return value

    def _empty(self, field: Field) -> Empty:
        if not field.required:
            return Empty.LEAVES_OUT
        return Empty.IS_NULL if self._schema.shape(field.schema).nullable else Empty.IS_NEEDED

    def _list(self, shape: Shape, label: str, indent: str) -> list[Json]:
        items = shape.schema.get("items", True)
        one_line = is_one_line(self._schema, self._schema.shape(items))
        value: list[Json] = []
        while len(value) < shape.schema.get("maxItems", len(value) + 1):
            item = f"{label} {len(value) + 1}"
            if not one_line and not yes(f"{indent}{item}: add? [y/N] ", default=False):
                break
            given = self._value(items, item, indent, Empty.ENDS if one_line else Empty.IS_NEEDED)
            if given is MISSING:
                break
            value.append(given)
        return value

    def _map(self, shape: Shape, label: str, indent: str) -> JsonObject:
        value: JsonObject = {}
        while key := line(f"{indent}{label}, a key (empty ends): "):
            value[key] = self._value(shape.schema["additionalProperties"], name(key), indent + STEP, Empty.IS_NEEDED)
        return value

    def _variant(self, shape: Shape, label: str, indent: str) -> Any:
        """One of several kinds of value: first which, then the value."""
        for number, variant in enumerate(shape.variants, 1):
            self._screen.say(f"{indent}{STEP}{number}  {self._variant_words(variant)}")
        while True:
            typed = line(f"{indent}{label}, which of the {len(shape.variants)}? ").strip()
            if typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= len(shape.variants):
                return self._value(shape.variants[int(typed) - 1], label, indent, Empty.IS_NEEDED)
            if not typed:
                self._offer_leaving(label, indent)

    def _variant_words(self, variant: Json) -> str:
        title = self._schema.shape(variant).schema.get("title")
        words = self._schema.words(variant)
        return f"{name(title)}: {words}" if isinstance(title, str) else words

    def _line(self, part: Json, shape: Shape, label: str, indent: str, empty: Empty, default: tuple[Json, ...]) -> Any:
        hint = f"else {_told(default[0])}" if default else empty.value
        words = self._listed(shape, indent) or self._schema.words(part, null=empty is not Empty.IS_NULL)
        prompt = f"{indent}{label} ({words}{', ' if hint else ''}{hint}): "
        while True:
            try:
                text = line(prompt)
                if not text:
                    if empty is Empty.IS_NEEDED:
                        self._offer_leaving(label, indent)
                        continue
                    return self._nothing(empty)
                behind_mark = as_json(text)
                if behind_mark:
                    check(self._schema, part, behind_mark[0], label)
                    return behind_mark[0]
                return read_line(self._schema, part, text, label)
            except Unanswerable:
                raise
            except (Refusal, Unreadable) as error:
                self._tell(error)

    def _nothing(self, empty: Empty) -> Any:
        if empty is Empty.LEAVES_OPEN:
            raise LeftOpen
        return None if empty is Empty.IS_NULL else MISSING

    def _listed(self, shape: Shape, indent: str) -> str:
        """Many choices as a numbered list above the prompt; what the prompt says then."""
        choices = shape.schema["enum"] if shape.kind is Kind.CHOICE else ()
        if len(choices) <= SHOWN_CHOICES:
            return ""
        for number, choice in enumerate(choices[:LISTED_CHOICES], 1):
            self._screen.say(f"{indent}{STEP}{number:>2}  {spelled(choice)}")
        if len(choices) > LISTED_CHOICES:
            self._screen.say(f"{indent}{STEP}and {len(choices) - LISTED_CHOICES} more")
        return f"one of {len(choices)}"

    def _offer_leaving(self, label: str, indent: str) -> None:
        if yes(f'{indent}{label} is needed (-j "" is empty text). Leave the question open? [y/N] ', default=False):
            raise LeftOpen

    def _describe(self, shape: Shape, indent: str) -> None:
        text, hidden = cut(shape.description, characters=DESCRIPTION_CHARACTERS, lines=DESCRIPTION_LINES)
        if text.strip():
            self._screen.quote(shown_lines(text + ("..." if hidden else "")), indent=indent)

    def _tell(self, error: Exception) -> None:
        self._screen.explain(f"{str(error).rstrip('.')}.", title="error")


def _told(value: Json) -> str:
    head, hidden = cut(shown_json(value), characters=40, lines=1)
    return f"{head}..." if hidden else head
