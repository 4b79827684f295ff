"""A question's JSON Schema, read: which kind of value it asks for, and that in words.

The schema is data that was stored, so nothing of it is trusted: a reference leads to a place in the schema itself or
nowhere, and a schema that says more than is understood here asks for JSON, which is checked as a whole later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, Final

from ..model.json import Json, JsonObject
from .safe_text import cut, name, shown_drawing, shown_json

MAX_REFERENCES: Final = 20
"""Of references and choices inside choices, so many are followed before a schema counts as too tangled."""
SHOWN_CHOICES: Final = 6
RULE_CHARACTERS: Final = 60
WITH_FIELDS: Final = 4
"""The depth of words at which an object's fields are told with what they take, and not by name alone."""

_DESCRIBES: Final = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")


class Kind(Enum):
    """What a value is asked for as."""

    YES_OR_NO = auto()
    WHOLE_NUMBER = auto()
    NUMBER = auto()
    TEXT = auto()
    NULL = auto()
    CONSTANT = auto()
    CHOICE = auto()
    VARIANTS = auto()
    LIST = auto()
    ROW = auto()
    """A list whose places each have a schema of their own."""
    OBJECT = auto()
    MAP = auto()
    """An object with any keys and one schema for the values."""
    JSON = auto()


@dataclass(frozen=True, slots=True)
class Shape:
    """One schema, read. `schema` is what is left of it beside references and the choice of null, which `nullable` tells;
    `variants` are the schemas to choose from."""

    kind: Kind
    schema: JsonObject
    nullable: bool = False
    variants: tuple[Json, ...] = ()

    @property
    def description(self) -> str:
        """What the schema's author says of the value; not safe to show."""
        text = self.schema.get("description")
        return text if isinstance(text, str) else ""


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object."""

    key: str
    schema: Json
    required: bool

    @property
    def default(self) -> tuple[Json, ...]:
        """The value it takes where it is left out, if the schema tells one."""
        return (self.schema["default"],) if isinstance(self.schema, dict) and "default" in self.schema else ()


class Schema:
    """A whole schema, in which parts refer to each other."""

    def __init__(self, root: JsonObject) -> None:
        self.root = root

    def shape(self, schema: Json) -> Shape:
        """What a part of the schema asks for."""
        return self._shape(schema, MAX_REFERENCES)

    def part(self, schema: Json) -> JsonObject:
        """A part of the schema as one that stands alone, to check a value of it."""
        own = schema if isinstance(schema, dict) else {} if schema is True else {"not": {}}
        return {**{key: self.root[key] for key in ("$defs", "definitions") if key in self.root}, **own}

    def fields(self, schema: JsonObject) -> Iterator[Field]:
        """The properties of an object, those it needs first."""
        properties = schema["properties"]
        listed = schema.get("required")
        required = [key for key in listed if isinstance(key, str)] if isinstance(listed, list) else []
        for needed in (True, False):
            yield from (Field(key, part, needed) for key, part in properties.items() if (key in required) is needed)

    def takes_text(self, schema: Json) -> bool:
        """Whether some text may fit."""
        shape = self.shape(schema)
        match shape.kind:
            case Kind.TEXT:
                return True
            case Kind.JSON:
                types = shape.schema.get("type", "string")
                return "string" in (types if isinstance(types, list) else [types])
            case Kind.CONSTANT:
                return isinstance(shape.schema["const"], str)
            case Kind.CHOICE:
                return any(isinstance(choice, str) for choice in shape.schema["enum"])
            case Kind.VARIANTS:
                return any(self.takes_text(variant) for variant in shape.variants)
        return False

    def _shape(self, schema: Json, left: int) -> Shape:
        if not isinstance(schema, dict) or left <= 0:
            return Shape(Kind.JSON, {})
        if "$ref" in schema:
            return self._shape({**self._referred(schema["$ref"]), **_without(schema, "$ref")}, left - 1)
        if "const" in schema:
            return Shape(Kind.NULL if schema["const"] is None else Kind.CONSTANT, schema)
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return _choice(schema)
        if _only_describes(schema, "allOf") and len(schema["allOf"]) == 1:
            return self._merged(schema, "allOf", schema["allOf"][0], left)
        for word in ("anyOf", "oneOf"):
            if _only_describes(schema, word):
                return self._variants(schema, word, left)
        if any(word in schema for word in ("anyOf", "oneOf", "allOf", "not", "if", "patternProperties")):
            return Shape(Kind.JSON, schema)
        if isinstance(schema.get("type"), list):
            types = [{**schema, "type": each} for each in schema["type"]]
            return self._variants({"anyOf": types}, "anyOf", left)
        return _plain(schema)

    def _referred(self, reference: Any) -> JsonObject:
        """The part that `#/...` names; what leads elsewhere counts as a schema that says nothing."""
        found: Any = self.root
        if not isinstance(reference, str) or not reference.startswith("#"):
            return {}
        for step in reference[1:].split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or key not in found:
                return {}
            found = found[key]
        return found if isinstance(found, dict) else {}

    def _merged(self, schema: JsonObject, word: str, chosen: Json, left: int) -> Shape:
        """The one that is left to choose, with what the choice says of itself."""
        inner = chosen if isinstance(chosen, dict) else {}
        return self._shape({**inner, **_without(schema, word)}, left - 1)

    def _variants(self, schema: JsonObject, word: str, left: int) -> Shape:
        nullable = False
        variants: list[Json] = []
        for option in schema[word]:
            shape = self._shape(option, left - 1)
            nullable |= shape.nullable or shape.kind is Kind.NULL
            if shape.kind is not Kind.NULL:
                variants.append(option)
        if len(variants) == 1:
            inner = self._merged(schema, word, variants[0], left)
            return Shape(inner.kind, inner.schema, inner.nullable or nullable, inner.variants)
        if not variants:
            return Shape(Kind.NULL, schema)
        return Shape(Kind.VARIANTS, schema, nullable, tuple(variants))

    # in words

    def words(self, schema: Json, *, null: bool = True) -> str:
        """What is asked for, in a few safe words: `yes or no`, `number, at least 0`, `object with street, zip`. Without
        `null` the choice of null is not told."""
        shape = self.shape(schema)
        return self._words(shape if null else replace(shape, nullable=False), WITH_FIELDS - 1)

    def whole_words(self, schema: Json) -> str:
        """The same for a whole answer: of an object, what its fields take as well, where that is more than text."""
        return self._words(self.shape(schema), WITH_FIELDS)

    def _words(self, shape: Shape, depth: int) -> str:
        match shape.kind:
            case Kind.OBJECT:
                told = f"object with {_some([self._field(field, depth) for field in self.fields(shape.schema)])}"
            case Kind.LIST:
                told = f"list of {self._inner(shape.schema.get('items', True), depth)}"
            case Kind.ROW:
                told = f"list of {len(shape.schema['prefixItems'])} values"
            case Kind.MAP:
                told = f"object of {self._inner(shape.schema['additionalProperties'], depth)}"
            case Kind.VARIANTS:
                told = _some([self._inner(variant, depth) for variant in shape.variants], "or")
            case Kind.CHOICE:
                told = _some([spelled(choice) for choice in shape.schema["enum"]], "or")
            case Kind.CONSTANT:
                told = spelled(shape.schema["const"])
            case Kind.JSON:
                told = "text, or JSON behind -j" if self.takes_text(shape.schema) else "JSON"
            case kind:
                told = _NAMES[kind]
        rules = ", ".join(_rules(shape.schema))
        return f"{told}{', ' if rules else ''}{rules}{', or null' if shape.nullable else ''}"

    def _field(self, field: Field, depth: int) -> str:
        words = self._inner(field.schema, depth) if depth == WITH_FIELDS else _NAMES[Kind.TEXT]
        return name(field.key) if words == _NAMES[Kind.TEXT] else f"{name(field.key)} ({words})"

    def _inner(self, schema: Json, depth: int) -> str:
        if depth == 0:
            return "JSON"
        title = schema.get("title") if isinstance(schema, dict) else None
        shape = self.shape(schema)
        title = title if isinstance(title, str) else shape.schema.get("title")
        if isinstance(title, str) and shape.kind is Kind.OBJECT:
            return name(title)
        return self._words(shape, depth - 1)


def spelled(value: Json) -> str:
    """A value that stands in a schema, as it may be typed: text bare where nothing in it can mislead."""
    return name(value) if isinstance(value, str) else _short(shown_json(value))


_NAMES: Final = {
    Kind.YES_OR_NO: "yes or no",
    Kind.WHOLE_NUMBER: "whole number",
    Kind.NUMBER: "number",
    Kind.TEXT: "text",
    Kind.NULL: "null",
}
_BOUNDS: Final = (
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "more than {}"),
    ("maximum", "at most {}"),
    ("exclusiveMaximum", "less than {}"),
    ("multipleOf", "a multiple of {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("format", "{}"),
    ("pattern", "matching {}"),
)


def _rules(schema: JsonObject) -> Iterator[str]:
    is_row = "prefixItems" in schema
    for key, words in _BOUNDS:
        value = schema.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and not (is_row and "Items" in key):
            yield words.format(
                _short("\\n".join(shown_drawing(value)) if isinstance(value, str) else shown_json(value))
            )


def _short(safe: str) -> str:
    head, hidden = cut(safe, characters=RULE_CHARACTERS, lines=1)
    return f"{head}..." if hidden else head


def _some(words: list[str], last: str = "and") -> str:
    """A list in words, as far as it is short."""
    if len(words) > SHOWN_CHOICES:
        return f"{', '.join(words[:SHOWN_CHOICES])} {last} {len(words) - SHOWN_CHOICES} more"
    *first, end = words or ["nothing"]
    return f"{', '.join(first)} {last} {end}" if first else end


def _choice(schema: JsonObject) -> Shape:
    choices = [choice for choice in schema["enum"] if choice is not None]
    nullable = len(choices) < len(schema["enum"])
    if not choices:
        return Shape(Kind.NULL, schema)
    return Shape(Kind.CHOICE, {**schema, "enum": choices}, nullable)


def _plain(schema: JsonObject) -> Shape:
    match schema.get("type"):
        case "boolean":
            return Shape(Kind.YES_OR_NO, schema)
        case "integer":
            return Shape(Kind.WHOLE_NUMBER, schema)
        case "number":
            return Shape(Kind.NUMBER, schema)
        case "string":
            return Shape(Kind.TEXT, schema)
        case "null":
            return Shape(Kind.NULL, schema)
        case "array" if isinstance(schema.get("prefixItems"), list) and not schema.get("items"):
            return Shape(Kind.ROW, schema)
        case "array" if "prefixItems" not in schema:
            return Shape(Kind.LIST, schema)
        case "object" if isinstance(schema.get("properties"), dict):
            return Shape(Kind.OBJECT, schema)
        case "object" if isinstance(schema.get("additionalProperties"), Mapping):
            return Shape(Kind.MAP, schema)
    return Shape(Kind.JSON, schema)


def _only_describes(schema: JsonObject, word: str) -> bool:
    """Whether a schema says nothing about the value but this choice."""
    options = schema.get(word)
    beside = (*_DESCRIBES, word, "discriminator", "$defs", "definitions", "$schema", "$id")
    return isinstance(options, list) and bool(options) and all(key in beside for key in schema)


def _without(schema: JsonObject, word: str) -> JsonObject:
    return {key: value for key, value in schema.items() if key != word}
