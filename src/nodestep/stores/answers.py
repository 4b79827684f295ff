"""A decision about a question as a store keeps it: its value as the bytes of its JSON, so that no caller holds what is
stored.

Knows nothing of tables; every store uses it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ..model.canonical import decode, encode
from .base import Audited, AuditRow


class KeptAnswer(Struct, frozen=True):
    """An `AuditRow` with its value as bytes and its time given."""

    key: str
    body: bytes
    source: str
    by: str | None
    note: str | None
    pause: int | None
    rejected: str | None
    at_ms: int

    def listed(self, number: int, thread_id: str, branch_id: str) -> Audited:
        """The decision as readers get it, its value theirs to keep."""
        row = AuditRow(
            self.key,
            decode(self.body),
            self.source,
            self.by,
            self.note,
            self.pause,
            self.rejected,
        )
        return Audited(number, thread_id, branch_id, self.at_ms, row)


def kept_answers(rows: Iterable[AuditRow], at_ms: int) -> tuple[KeptAnswer, ...]:
    """The decisions of a write, encoded before any lock is taken."""
    return tuple(
        KeptAnswer(row.key, encode(row.value), row.source, row.by, row.note, row.pause, row.rejected, at_ms)
        for row in rows
    )
