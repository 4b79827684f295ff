"""Text from outside cannot forge the screen, whatever it is, and reads back one way only."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep.cli.safe_text import (
    BAR,
    GOES_ON,
    MARKS_IN_A_ROW,
    cut,
    in_bars,
    name,
    rows,
    shown,
    shown_json,
    shown_lines,
)

HARMFUL = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
ANY = st.characters(exclude_categories=())
ODD = st.sampled_from(
    "\x00\x07\x08\x09\x0a\x0d\x1b\x7f\x85\x9b\xa0\xad\\[]:\u034f\u0489\u061c\u115f\u1160\u17b4\u180b\u180e\u200b\u200d"
    "\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\u2800\u3000\u3164\ufe0f\ufeff\uffa0\ufff9\ufffe\u0301\ue000"
    "\ud800\udfff\U000e0001\U000e0041\U000e0100\U0001d159\U0001f468"
)
TEXT = st.text(st.one_of(ODD, ANY, st.characters(codec="ascii")))
WELL_FORMED = st.text(
    st.one_of(ODD.filter(lambda c: not "\ud800" <= c <= "\udfff"), st.characters(exclude_categories=["Cs"]))
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WELL_FORMED,
    lambda inner: st.lists(inner) | st.dictionaries(WELL_FORMED, inner),
    max_leaves=10,
)
ESCAPE = re.compile(r"\\(\\|[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2065\u2800\u3164\ufe00\ufe0f\uffa0\U0001d159\U000e0100"


def harmful(text: str) -> list[str]:
    """The characters of a text that a terminal would obey or hide."""
    return [c for c in text if unicodedata.category(c) in HARMFUL or (c.isspace() and c != " ") or c in INVISIBLE]


def piled(text: str) -> bool:
    """Whether marks stand without a letter, or more than a few on one."""
    marks = "".join("m" if unicodedata.category(c) in ("Mn", "Me") else "." for c in text)
    return marks.startswith("m") or "m" * (MARKS_IN_A_ROW + 1) in marks


def read_back(text: str) -> str:
    """The text that was shown."""
    plain = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
    return ESCAPE.sub(lambda found: plain.get(found[1]) or chr(int(found[1][1:], 16)), text)


@given(TEXT)
def test_one_line_holds_nothing_harmful_and_reads_back(text):
    line = shown(text)
    assert not harmful(line)
    assert not piled(line)
    assert read_back(line) == text


@given(TEXT)
def test_lines_hold_nothing_harmful_and_read_back(text):
    lines = shown_lines(text)
    assert not any(map(harmful, lines))
    assert not any(map(piled, lines))
    assert read_back("\n".join(lines)) == text
    assert len(lines) == text.count("\n") + 1


@given(JSON, st.sampled_from([None, 2]))
def test_json_holds_nothing_harmful_and_is_still_that_json(value, indent):
    text = shown_json(value, indent=indent)
    assert not any(map(harmful, text.split("\n")))
    assert json.loads(text) == value


@given(TEXT)
def test_names_hold_nothing_harmful(text):
    assert not harmful(name(text))


@given(WELL_FORMED, WELL_FORMED)
def test_names_differ_when_the_ids_do(one, other):
    if len(one) <= 64 and len(other) <= 64:
        assert (name(one) == name(other)) == (one == other)


@given(TEXT, st.integers(20, 100))
def test_every_row_stands_behind_a_bar_within_the_width(text, width):
    lines = shown_lines(text)
    printed = list(in_bars(lines, width))
    assert all(row.startswith((BAR, GOES_ON)) and not harmful(row) for row in printed)
    assert all(columns(row) - columns(BAR) + 2 <= width for row in printed)
    joined = "".join(f"\n{row[2:]}" if row.startswith(BAR) else row[2:] for row in printed)
    assert joined == "\n" + "\n".join(lines)


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain text, 80.0 EUR?", "plain text, 80.0 EUR?"),
        ("Grüße an Ωmega, 退款吗, שלום", "Grüße an Ωmega, 退款吗, שלום"),
        ("\x1b[2Kgone\rnew", r"\x1b[2Kgone\rnew"),
        ("\x9b31m\x07\x08\x7f", r"\x9b31m\x07\x08\x7f"),
        ("\x1b]0;title\x1b\\", r"\x1b]0;title\x1b\\"),
        ("a\u202eb\u2066c\u200bd\ufeff", r"a\u202eb\u2066c\u200bd\ufeff"),
        ("a\u2028b\u2029c\x85d", r"a\u2028b\u2029c\x85d"),
        ("\ud800", r"\ud800"),
        ("[bold]x[/] :smile: [link=http://x]y[/link]", "[bold]x[/] :smile: [link=http://x]y[/link]"),
        (r"C:\new", r"C:\\new"),
        ("tab\there", r"tab\there"),
        ("e\u0301 ok", "e\u0301 ok"),
        ("\u0301 no letter", r"\u0301 no letter"),
        ("x" + "\u0335" * 6, "x" + "\u0335" * 4 + r"\u0335\u0335"),
        ("tag\U000e0041", r"tag\U000e0041"),
    ],
)
def test_what_is_harmless_stays_and_the_rest_is_written_out(text, seen):
    assert shown(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("review:approve", "review:approve"),
        ("outer/inner[2]:ok", "outer/inner[2]:ok"),
        ("two words", '"two words"'),
        ("trailing ", '"trailing "'),
        ("", '""'),
        ('"quoted"', r'"\"quoted\""'),
        ("a\nb", r'"a\nb"'),
        ("a" * 100, f'"{"a" * 20}"..."{"a" * 20}" (100 characters)'),
    ],
)
def test_names_are_bare_only_where_nothing_in_them_can_mislead(text, seen):
    assert name(text) == seen


def test_what_is_cut_off_is_counted():
    assert cut("abcdef", characters=4, lines=9) == ("abcd", 2)
    assert cut("a\nb\nc\nd", characters=99, lines=2) == ("a\nb", 4)
    assert cut("a\nb", characters=99, lines=2) == ("a\nb", 0)


def test_rows_break_after_a_blank_where_there_is_one():
    assert list(rows("one two three four", 10)) == ["one two ", "three four"]
