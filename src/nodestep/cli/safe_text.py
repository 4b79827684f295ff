"""Text from outside, made safe to show: payloads, ids, names and messages cannot forge what a screen says.

What a terminal would obey or hide is written out as in a Python literal: control characters (C0, C1, DEL), bidirectional
and other format characters, line separators, lone surrogates, blanks other than the space, private and unassigned
characters, and letters that show nothing. A backslash is doubled, so that what is shown reads back one way only. A
combining mark is written out where it has no letter to stand on, or too many marks stand there already.

Letters of right-to-left scripts are left as they are: a line of ours puts a word of its own after a name, so that they
reorder nothing beside them. This module knows no terminal, and nothing of what the text means.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

MARKS_IN_A_ROW: Final = 4
"""Combining marks on one letter; no living script needs more, and a pile of them runs into the lines above and below."""
NAME_CHARACTERS: Final = 64
"""A name that is longer is shown by its two ends."""
END_CHARACTERS: Final = 20
BAR: Final = "│ "
"""Begins every line of a text from outside, and no line of ours."""
GOES_ON: Final = "┊ "
"""Begins what did not fit into the line above."""

_PLAIN: Final = re.compile(r"[ -\[\]-~]*")
_BARE_NAME: Final = re.compile(r"[A-Za-z0-9_.:/@\[\]+=,-]+")

# Unicode's Default_Ignorable_Code_Point where it is no format character, and two that only look blank:
# https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U0001d159\U000e0000-\U000e0fff]"
)


def shown(text: str) -> str:
    """The text on one line; line ends are written out too."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(_pieces(text, keep_lines=False, as_json=False))


def shown_lines(text: str) -> list[str]:
    """The text as lines, each safe; only `\\n` ends one."""
    return "".join(_pieces(text, keep_lines=True, as_json=False)).split("\n")


def shown_json(value: Any, *, indent: int | None = None) -> str:
    """A JSON value as JSON that is safe to show, and still JSON: what is written out is written as JSON does."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(_pieces(text, keep_lines=True, as_json=True))


def shown_drawing(text: str) -> list[str]:
    """A drawing or a message of ours as safe lines: the backslashes in it are escapes already."""
    return "".join(_pieces(text, keep_lines=True, as_json=True)).split("\n")


def name(text: str) -> str:
    """An id or a name on a line of ours: bare where nothing in it can mislead, else in quotes; a long one by its ends."""
    if len(text) <= NAME_CHARACTERS:
        return text if _BARE_NAME.fullmatch(text) else shown_json(text)
    start, end = shown_json(text[:END_CHARACTERS]), shown_json(text[-END_CHARACTERS:])
    return f"{start}...{end} ({len(text):,} characters)"


def cut(text: str, *, characters: int, lines: int) -> tuple[str, int]:
    """As much of the text as is shown, and how many characters are not."""
    head = text[:characters]
    if head.count("\n") >= lines:
        head = "\n".join(head.split("\n", lines)[:lines])
    return head, len(text) - len(head)


def in_bars(lines: list[str], width: int) -> Iterator[str]:
    """Safe lines as rows of at most `width` columns, each behind a bar, so that none can pose as a line of ours."""
    for line in lines:
        bar = BAR
        for row in rows(line, width - len(BAR)):
            yield bar + row
            bar = GOES_ON


def rows(line: str, width: int) -> Iterator[str]:
    """A safe line in rows of at most `width` columns, broken after a blank where there is one; joined they are the line."""
    width = max(width, 10)
    while line:
        end = _fitting(line, width)
        if end < len(line):
            blank = line.rfind(" ", width // 2, end) + 1
            end = blank or end
        yield line[:end]
        line = line[end:]
        if not line:
            return
    yield ""


def fitting(line: str, width: int) -> tuple[str, int]:
    """As much of a safe line as fits into so many columns, and how many columns that takes."""
    head = line[: _fitting(line, width)]
    return head, len(head) if head.isascii() else sum(map(_columns, head))


def _fitting(line: str, width: int) -> int:
    """How many characters fit."""
    if line.isascii():
        return width
    columns = 0
    for at, character in enumerate(line):
        columns += _columns(character)
        if columns > width:
            return at
    return len(line)


def _columns(character: str) -> int:
    """Where terminals disagree on a character's width, the wider counts."""
    return 2 if unicodedata.east_asian_width(character) in "WFA" else 1


def _pieces(text: str, *, keep_lines: bool, as_json: bool) -> Iterator[str]:
    """The characters of a text, those that are not safe written out. JSON's own backslashes stay as they are."""
    marks = MARKS_IN_A_ROW
    for character in text:
        if character == "\\" and not as_json:
            marks = MARKS_IN_A_ROW
            yield "\\\\"
        elif character == "\n" and keep_lines:
            marks = MARKS_IN_A_ROW
            yield character
        elif not character.isprintable() or _INVISIBLE.match(character):
            marks = MARKS_IN_A_ROW
            yield _written_out(character, as_json)
        elif unicodedata.category(character) in ("Mn", "Me"):
            yield character if marks < MARKS_IN_A_ROW else _written_out(character, as_json)
            marks += 1
        else:
            marks = MARKS_IN_A_ROW if as_json and character == '"' else 0
            yield character


def _written_out(character: str, as_json: bool) -> str:
    if as_json:
        return json.dumps(character)[1:-1] if character != "\x7f" else "\\u007f"
    code = ord(character)
    if code > 0xFF:
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return character.encode("unicode_escape").decode()
