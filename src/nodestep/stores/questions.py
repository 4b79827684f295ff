"""An open question as a store keeps it: what it says as the bytes of its JSON, so that no caller holds what is stored.

Knows nothing of tables; every store uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, Protocol

from msgspec import Struct
from msgspec.json import Decoder

from ..model.canonical import encode
from .base import Listed, QuestionRow

_SAID: Final = 8
"""How many fields of a `QuestionRow` its asker gives; its number and time follow them."""


class OfBranch(Protocol):
    """The branch of a question."""

    @property
    def no(self) -> int: ...

    @property
    def thread_id(self) -> str: ...

    @property
    def branch_id(self) -> str: ...

    @property
    def graph(self) -> str: ...


class KeptQuestion(Struct, frozen=True):
    """A question with its number and time given. `said` is the JSON of what its asker gave, with a comma before each
    field."""

    key: str
    said: bytes
    assignee: str | None
    expires_at_ms: int | None
    pause: int
    asked_at_ms: int

    def waits(self, now_ms: int) -> bool:
        """Whether its deadline, if it has one, has not come."""
        return self.expires_at_ms is None or now_ms < self.expires_at_ms

    def listed(self, branch: OfBranch) -> bytes:
        """The JSON of its `Listed` row, an array in the order of the fields."""
        place = encode([branch.no, branch.thread_id, branch.branch_id, branch.graph])
        return b"%b%b,%d,%d]" % (place[:-1], self.said, self.pause, self.asked_at_ms)


def decoded(rows: Iterable[bytes]) -> list[Listed]:
    """The rows of this JSON, decoded all at once, and the caller's to keep. Raises TypeError for what is no bytes."""
    return _decoder().decode(b"[%b]" % b",".join(rows))


@cache
def _decoder() -> Decoder[list[Listed]]:
    return Decoder(list[Listed])


class Opening:
    """The questions that one write opens, checked and encoded before any lock is taken.

    Raises ValueError for a key that comes twice.
    """

    __slots__ = ("_rows", "_said", "needs_number")

    def __init__(self, opens: tuple[QuestionRow, ...]) -> None:
        if len({row.key for row in opens}) < len(opens):
            raise ValueError("one write opens each question once; a key comes twice in its opens")
        self.needs_number = None in [row.pause for row in opens]
        """Whether a question is new: those that were open before keep the number they have."""
        self._rows = opens
        self._said = [b"," + encode(row[:_SAID])[1:-1] for row in opens]

    def kept(self, pause: int | None, at_ms: int) -> Iterable[KeptQuestion]:
        """The questions to keep; `pause` and `at_ms` go to those that carry none."""
        for row, said in zip(self._rows, self._said, strict=True):
            number = pause if row.pause is None else row.pause
            if number is None:
                raise ValueError(f"question {row.key!r} needs a pause number")
            asked_at_ms = at_ms if row.asked_at_ms is None else row.asked_at_ms
            yield KeptQuestion(row.key, said, row.assignee, row.expires_at_ms, number, asked_at_ms)
