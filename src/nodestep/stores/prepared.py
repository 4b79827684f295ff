"""A write with all that can be made of it before any lock is taken, so that a malformed one is refused there.

Knows nothing of tables; every store uses it.
"""

from __future__ import annotations

from typing import Final

from .answers import KeptAnswer, kept_answers
from .base import Append, Write
from .questions import Opening

_NO_QUESTIONS: Final = Opening(())
_NO_ANSWERS: Final[tuple[KeptAnswer, ...]] = ()


class Prepared:
    """A `Write`, the questions that it opens, and its decisions. Raises TypeError or ValueError if malformed."""

    __slots__ = ("answers", "at_ms", "opening", "write")

    def __init__(self, write: Write, at_ms: int) -> None:
        check_record(write)
        self.write = write
        self.at_ms = at_ms
        self.opening = Opening(write.opens) if write.opens else _NO_QUESTIONS
        self.answers = kept_answers(write.audits, at_ms) if write.audits else _NO_ANSWERS


def check_record(write: Write | Append) -> None:
    """Raises TypeError for a record that is not bytes."""
    if type(write.record) is not bytes:
        raise TypeError(f"a record is bytes, not {type(write.record).__name__}")
