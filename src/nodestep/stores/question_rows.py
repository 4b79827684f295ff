"""Rows of open questions, each with the checksum that it was stored with.

All that is told of a question is in the body of its row, so that a page of them is checked and decoded fast. Knows the
columns and no SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from msgspec import DecodeError

from .base import Listed
from .branches import BranchRow
from .questions import KeptQuestion, decoded
from .rows import Row, damaged


def questions_of(rows: Sequence[Row]) -> list[Listed]:
    """The questions of rows of pause, checksum and body. Raises StoreCorruptedError for one that is not as it was
    written."""
    if not rows:
        return []
    pauses, checksums, bodies = zip(*rows, strict=True)
    try:
        whole = tuple(map(crc32, bodies, pauses)) == checksums
        if whole:
            return decoded(bodies)
    except (TypeError, DecodeError):  # one is no bytes, is not there, or tells no question
        pass
    raise damaged("one of its open questions")


def question_columns(branch: BranchRow, question: KeptQuestion) -> tuple[str | int | bytes | None, ...]:
    """A question as it is stored: what it is found by, the checksum and the body."""
    body = question.listed(branch)
    found_by = (branch.no, question.key, question.pause, branch.branch_id, branch.graph, question.assignee)
    return (*found_by, question.expires_at_ms, question.asked_at_ms, crc32(body, question.pause), body)
