"""A line of text as the value that a schema asks for: the one rule for what is typed at a prompt and on a command line.

Where the schema takes text, text is text. Where it does not, the line is read as what it does take: yes or no, a number,
one of the choices, or JSON.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..model.answers import Misfit, check_answer
from ..model.json import Json
from .exits import Exit, Refusal
from .prompts import NO, YES
from .safe_text import shown_drawing, shown_json
from .schema import Kind, Schema, Shape, spelled
from .values import parsed

_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_SCALARS: Final = (Kind.YES_OR_NO, Kind.WHOLE_NUMBER, Kind.NUMBER, Kind.TEXT, Kind.CHOICE, Kind.CONSTANT)


_NO_SCHEMA: Final = "its question's"
"""Begins what is wrong with a schema rather than with a value."""


class Unanswerable(Refusal):
    """The schema itself is broken, so that no value fits."""

    def __init__(self, finding: str) -> None:
        super().__init__(f"No answer can be recorded: {finding}. The graph has to ask again.", Exit.REFUSED)


class Unreadable(Exception):  # noqa: N818 - a finding, told to whoever typed it
    """The line is no value of the kind; the message says what is, and is safe to show."""


def is_one_line(schema: Schema, shape: Shape) -> bool:
    """Whether a value of this shape can be typed as a line of its own kind."""
    if shape.kind is Kind.VARIANTS:
        return all(is_one_line(schema, schema.shape(variant)) for variant in shape.variants)
    return shape.kind in (*_SCALARS, Kind.NULL, Kind.JSON)


def read_line(schema: Schema, part: Json, text: str, what: str) -> Any:
    """The value of a line, checked against its part of the schema. Raises Unreadable, and Unanswerable."""
    value = _value(schema, schema.shape(part), text, what)
    check(schema, part, value, what)
    return value


def check(schema: Schema, part: Json, value: Any, what: str) -> None:
    """Raises Unreadable with the rule that a value breaks, Unanswerable for a broken schema."""
    try:
        check_answer(value, schema.part(part))
    except Misfit as error:
        if str(error).startswith(_NO_SCHEMA):
            raise Unanswerable(str(error)) from None
        finding = "\\n".join(shown_drawing(str(error))).removeprefix("the answer ")
        raise Unreadable(f"{what} {finding}" if finding.startswith("breaks") else f"{what}: {finding}") from None


def _value(schema: Schema, shape: Shape, text: str, what: str) -> Any:
    bare = text.strip()
    match shape.kind:
        case Kind.TEXT:
            return text
        case Kind.YES_OR_NO:
            return _yes_or_no(bare, what)
        case Kind.WHOLE_NUMBER | Kind.NUMBER:
            if not _NUMBER.fullmatch(bare):
                raise Unreadable(f"{what} is a {schema.words(shape.schema)}, such as 12")
            return parsed(bare, what)
        case Kind.CHOICE:
            return _choice(shape.schema["enum"], text, what)
        case Kind.CONSTANT:
            return _choice([shape.schema["const"]], text, what)
        case Kind.VARIANTS:
            return _first_fitting(schema, shape, text, what)
    if schema.takes_text(shape.schema):
        return text
    try:
        return parsed(bare, what)
    except Refusal as refusal:
        raise Unreadable(f"{refusal} It takes {schema.whole_words(shape.schema)}") from None


def _yes_or_no(bare: str, what: str) -> bool:
    word = bare.lower()
    if word in (*YES, "true"):
        return True
    if word in (*NO, "false"):
        return False
    raise Unreadable(f"{what} is yes or no, not {shown_json(bare[:40])}")


def _choice(choices: list[Json], text: str, what: str) -> Any:
    """A choice by what it is, or by its number in the list where none of them is a number itself."""
    for choice in choices:
        if text == choice if isinstance(choice, str) else text.strip() == shown_json(choice):
            return choice
    number = text.strip()
    counts = not any(_NUMBER.fullmatch(spelled(choice)) for choice in choices)
    if counts and number.isascii() and number.isdecimal() and 1 <= int(number) <= len(choices):
        return choices[int(number) - 1]
    raise Unreadable(f"{what} is one of {', '.join(map(spelled, choices[:20]))}{', ...' if len(choices) > 20 else ''}")


def _first_fitting(schema: Schema, shape: Shape, text: str, what: str) -> Any:
    """What the line is in the first of the variants that takes it; text comes last, since every line is text."""
    for variant in sorted(shape.variants, key=schema.takes_text):
        try:
            return read_line(schema, variant, text, what)
        except Unreadable:
            continue
    raise Unreadable(f"{what} is {schema.words(shape.schema)}")
