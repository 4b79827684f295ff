"""A JSON Schema in words, and a line as a value of it: safe whatever the schema holds."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep.cli.safe_text import shown_drawing
from nodestep.cli.schema import Kind, Schema
from nodestep.cli.typed import Unanswerable, Unreadable, is_one_line, read_line
from nodestep.model.answers import check_answer

NASTY = st.sampled_from(["\x1b[2K", "a\nb", "\u202e", "x" * 300, "", "name", "#/$defs/a", "'\"\\"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(-2, 2), NASTY)
WORDS = (
    *("type", "$ref", "const", "enum", "anyOf", "oneOf", "allOf", "items", "prefixItems", "properties", "required"),
    *("additionalProperties", "pattern", "format", "minimum", "maxLength", "title", "description", "default", "not"),
)
CARD = {"type": "object", "properties": {"number": {"type": "string"}}}
TYPES = st.sampled_from(["boolean", "integer", "number", "string", "null", "array", "object", "nowhere"])
SCHEMAS = st.recursive(
    st.one_of(st.booleans(), st.fixed_dictionaries({"type": TYPES}), SCALARS),
    lambda inner: st.dictionaries(
        st.sampled_from(WORDS),
        st.one_of(inner, st.lists(inner, max_size=3), st.dictionaries(NASTY, inner, max_size=3), TYPES, SCALARS),
        max_size=4,
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("schema", "kind", "words"),
    [
        ({"type": "boolean"}, Kind.YES_OR_NO, "yes or no"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, Kind.WHOLE_NUMBER, "whole number, at least 1, at most 5"),
        ({"type": "string", "pattern": r"^\d$"}, Kind.TEXT, r"text, matching ^\d$"),
        ({"type": "string", "format": "date-time"}, Kind.TEXT, "text, date-time"),
        ({"enum": ["a", None, 3]}, Kind.CHOICE, "a or 3, or null"),
        ({"const": "card"}, Kind.CONSTANT, "card"),
        ({"const": None}, Kind.NULL, "null"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, Kind.TEXT, "text, or null"),
        ({"type": ["string", "null"]}, Kind.TEXT, "text, or null"),
        ({"type": ["integer", "string"]}, Kind.VARIANTS, "whole number or text"),
        ({"type": "array", "items": {"type": "string"}}, Kind.LIST, "list of text"),
        ({"type": "array", "prefixItems": [{}, {}]}, Kind.ROW, "list of 2 values"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, Kind.MAP, "object of whole number"),
        ({"type": "object", "properties": {"a b": {}, "c": {}}}, Kind.OBJECT, 'object with "a b" and c'),
        ({"allOf": [{"type": "number"}], "description": "x"}, Kind.NUMBER, "number"),
        ({}, Kind.JSON, "text, or JSON behind -j"),
        ({"type": "array"}, Kind.LIST, "list of text, or JSON behind -j"),
        ({"type": "object"}, Kind.JSON, "JSON"),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "boolean"}}}, Kind.YES_OR_NO, "yes or no"),
    ],
)
def test_a_schema_is_told_in_words(schema, kind, words):
    read = Schema(schema)
    assert read.shape(schema).kind is kind
    assert read.words(schema) == words


def test_a_whole_answer_is_told_with_what_its_fields_take():
    fields = {"verdict": {"enum": ["go", "wait"]}, "why": {"type": "string"}, "to": {"title": "Card", **CARD}, "n": {}}
    read = Schema({"type": "object", "properties": fields})
    assert (
        read.whole_words(read.root)
        == "object with verdict (go or wait), why, to (Card) and n (text, or JSON behind -j)"
    )
    assert read.words(read.root) == "object with verdict, why, to and n"


@given(
    st.dictionaries(st.sampled_from([*WORDS, "$defs"]), st.one_of(SCHEMAS, st.lists(SCHEMAS, max_size=3)), max_size=5)
)
def test_the_words_are_safe_and_short_whatever_the_schema(schema):
    for words in (Schema(schema).words(schema), Schema(schema).whole_words(schema)):
        assert shown_drawing(words) == [words]
        assert len(words) < 4000


@given(
    st.dictionaries(st.sampled_from([*WORDS, "$defs"]), st.one_of(SCHEMAS, st.lists(SCHEMAS, max_size=3)), max_size=5),
    st.one_of(NASTY, st.sampled_from(["yes", "12", "null", "-j 1", "[]", "{}", "name"])),
)
def test_a_line_is_a_value_that_fits_or_unreadable(schema, text):
    read = Schema(schema)
    if not is_one_line(read, read.shape(schema)):
        return
    with contextlib.suppress(Unreadable, Unanswerable):
        check_answer(read_line(read, schema, text, "it"), schema)
