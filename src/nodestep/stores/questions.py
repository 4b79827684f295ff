"""An open question as a store keeps it: its body as the bytes of its JSON, so that no caller holds what is stored.

Knows nothing of tables; every store uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..model.canonical import decode, encode
from .base import QuestionRow


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """A `QuestionRow` with its body as bytes and its number and time given."""

    key: str
    body: bytes
    assignee: str | None
    expires_at_ms: int | None
    pause: int
    asked_at_ms: int

    def waits(self, now_ms: int) -> bool:
        """Whether its deadline, if it has one, has not come."""
        return self.expires_at_ms is None or now_ms < self.expires_at_ms

    def row(self) -> QuestionRow:
        """The question as readers get it, its body theirs to keep."""
        return QuestionRow(
            self.key,
            decode(self.body),
            self.assignee,
            self.expires_at_ms,
            self.pause,
            self.asked_at_ms,
        )


class Opening:
    """The questions that one write opens, checked and encoded before any lock is taken.

    Raises ValueError for a key that comes twice.
    """

    __slots__ = ("_bodies", "_rows")

    def __init__(self, opens: tuple[QuestionRow, ...]) -> None:
        if len({row.key for row in opens}) < len(opens):
            raise ValueError("one write opens each question once; a key comes twice in its opens")
        self._rows = opens
        self._bodies = [encode(row.body) for row in opens]

    @property
    def needs_number(self) -> bool:
        """Whether a question is new: those that were open before keep the number they have."""
        return any(row.pause is None for row in self._rows)

    def kept(self, pause: int | None, at_ms: int) -> Iterable[KeptQuestion]:
        """The questions to keep; `pause` and `at_ms` go to those that carry none."""
        for row, body in zip(self._rows, self._bodies, strict=True):
            number = pause if row.pause is None else row.pause
            if number is None:
                raise ValueError(f"question {row.key!r} needs a pause number")
            asked_at_ms = at_ms if row.asked_at_ms is None else row.asked_at_ms
            yield KeptQuestion(row.key, body, row.assignee, row.expires_at_ms, number, asked_at_ms)
