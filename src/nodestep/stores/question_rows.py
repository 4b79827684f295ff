"""Rows of open questions, each with the checksum that it was stored with.

Knows the columns and no SQL.
"""

from __future__ import annotations

from typing import Final
from zlib import crc32

from .branches import BranchRow
from .questions import KeptQuestion
from .rows import Row, damaged

_FIELDS: Final = 9
"""How many columns the checksum covers; it follows them, and the body follows it."""
_BODY: Final = 10


def question_checksum(fields: Row, body: bytes) -> int:
    """Over a question. Pages of them are read often, so their fields are put together fast; none holds a NUL."""
    no, key, pause, thread_id, branch_id, graph, assignee, expires_at_ms, asked_at_ms = fields
    text = f"{no} {pause} {expires_at_ms} {asked_at_ms} {key}\0{thread_id}\0{branch_id}\0{graph}"
    if assignee is not None:
        text = f"{text}\0{assignee}"
    return crc32(body, crc32(text.encode()))


def check_question(row: Row) -> None:
    """Raises StoreCorruptedError for a row of `questions` that is not as it was written."""
    if type(row[_BODY]) is not bytes or question_checksum(row[:_FIELDS], row[_BODY]) != row[_FIELDS]:
        raise damaged(f"question {row[1]!r} of branch number {row[0]!r}")


def question_of(row: Row) -> KeptQuestion:
    """The value of a row of `questions`."""
    check_question(row)
    _, key, pause, _, _, _, assignee, expires_at_ms, asked_at_ms, _, body = row
    return KeptQuestion(key, body, assignee, expires_at_ms, pause, asked_at_ms)


def question_columns(branch: BranchRow, question: KeptQuestion) -> tuple[str | int | bytes | None, ...]:
    """A question as it is stored."""
    place = (branch.no, question.key, question.pause, branch.thread_id, branch.branch_id, branch.graph)
    fields = (*place, question.assignee, question.expires_at_ms, question.asked_at_ms)
    return (*fields, question_checksum(fields, question.body), question.body)
