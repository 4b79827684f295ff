"""Command lines to type: every word quoted so that a shell hands over exactly that text, and a reader sees all of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from .safe_text import shown_lines

PROGRAM: Final = "nodestep"
QUOTED_CHARACTERS: Final = 60
"""A longer word is written without blanks, so that no part of it can begin a row of the screen like a line of ours."""

_BARE: Final = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", "'": "\\'"}


def word(text: str) -> str:
    """The text as one word of a POSIX shell. What a screen would not show goes into `$'...'`, as octal bytes of UTF-8."""
    if _BARE.fullmatch(text):
        return text
    visible = text.replace("\\", "")
    if len(text) <= QUOTED_CHARACTERS and "  " not in text and shown_lines(visible) == [visible]:
        return "'" + text.replace("'", "'\\''") + "'"
    return "$'" + "".join(map(_escaped, text)) + "'"


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if '"' <= character <= "~":
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogatepass"))


def command(name: str, options: Mapping[str, object], *arguments: str, first: str = "") -> str:
    """A nodestep command. An option that is `None` or False is left out, one that is True has no value, one that is a
    list comes again for each item. Arguments come last, behind `--` where one could be taken for an option; `first` is
    an argument that comes before the options where it can."""
    words = [PROGRAM, name]
    if first.startswith("-"):
        arguments = (first, *arguments)
    elif first:
        words.append(word(first))
    for option, value in options.items():
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            values = value if isinstance(value, list) else [value]
            words += [part for item in values for part in _option(option, word(str(item)))]
    if any(argument.startswith("-") and argument != "-" for argument in arguments):
        words.append("--")
    return " ".join([*words, *map(word, arguments)])


def _option(option: str, value: str) -> list[str]:
    """A value that begins with a dash is joined to its option, so that it is not taken for one."""
    return [f"{option}={value}"] if value.startswith("-") and value != "-" else [option, value]
