"""What a person types at a prompt: lines, a yes or a no, values of JSON behind a mark."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from .exits import Refusal
from .values import parsed

JSON_MARK: Final = "-j "
YES: Final = ("y", "yes")
NO: Final = ("n", "no")


class LeftOpen(Exception):  # noqa: N818 - a decision, not a failure
    """The person wants to leave the question open."""


def editable() -> None:
    """Let lines be edited while they are typed, where the platform can."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401


def line(prompt: str) -> str:
    """A line as typed. Raises EOFError at the end of input, Refusal for what is no text."""
    text = input(prompt)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refusal("That is no valid UTF-8; check the encoding of the terminal.") from None
    return text


def as_json(text: str) -> tuple[Any, ...]:
    """The JSON value behind the mark, if the text begins with it. Raises Refusal for what is none."""
    return (parsed(text[len(JSON_MARK) :], "what stands behind -j"),) if text.startswith(JSON_MARK) else ()


def yes(prompt: str, *, default: bool) -> bool:
    """A yes or a no, asked for until it is one. Raises EOFError at the end of input."""
    while True:
        reply = input(prompt).strip().lower()
        if not reply:
            return default
        if reply in (*YES, *NO):
            return reply in YES


def agreed(prompt: str) -> bool:
    """A yes, and nothing else: not an empty line, and not the end of input."""
    try:
        return yes(prompt, default=False)
    except EOFError:
        return False
