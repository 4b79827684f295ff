"""Rows of the tables as values, each checked against the checksum that it was stored with.

A checksum covers what a reader takes from its row, so a flipped bit is found before it is believed. Knows the columns
and no SQL. Rows of branches are in `branches.py`, those of questions in `question_rows.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from zlib import crc32

from ..errors import StoreCorruptedError
from ..model.canonical import encode
from .answers import KeptAnswer
from .base import Record

Row: TypeAlias = tuple[Any, ...]

SEQUENCE_BITS: Final = 32
LAST_SEQUENCE: Final = (1 << SEQUENCE_BITS) - 1


def row_id(no: int, sequence: int) -> int:
    """The number under which a record or snapshot is found."""
    return no << SEQUENCE_BITS | sequence


def checksum(*fields: str | int | None) -> int:
    """Over the fields of a row, as JSON: its encoder writes them several times as fast as `repr` does."""
    return crc32(encode(fields))


def body_checksum(body: bytes, *fields: str | int | None) -> int:
    """Over the fields of a row and its body."""
    return crc32(body, checksum(*fields))


def record_checksum(id: int, at_ms: int, pause: int | None, body: bytes) -> int:
    """Over a record. Records are written most often, so their fields are put together fast."""
    return crc32(body, crc32(b"%d %d %d" % (id, at_ms, pause or 0)))


def damaged(what: str) -> StoreCorruptedError:
    """The error for what is not as it was written."""
    return StoreCorruptedError(
        f"The store is damaged: {what} is not as it was written. Nothing of it was used; put back a backup, or copy "
        "what is readable to a new store."
    )


class Counters(NamedTuple):
    """What the store has given away: the last number of a branch, of a pause and of an answer."""

    store_id: str
    branch_no: int
    pause: int
    answer: int
    checksum: int

    @classmethod
    def made(cls, store_id: str, branch_no: int, pause: int, answer: int) -> Counters:
        """The row of these counters."""
        sum = crc32(b"%d %d %d" % (branch_no, pause, answer), crc32(store_id.encode()))
        return cls(store_id, branch_no, pause, answer, sum)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Counters:
        """The value of the table's one row."""
        if len(rows) == 1:
            counters = cls(*rows[0])
            if counters == cls.made(*counters[:-1]):
                return counters
        raise damaged("the row of its counters")

    def counted(self, branch: bool, pause: bool, answers: int) -> Counters:
        """The counters when a branch, a pause and so many answers more were given numbers, or not."""
        return Counters.made(self.store_id, self.branch_no + branch, self.pause + pause, self.answer + answers)


def record_of(row: Row) -> Record:
    """The value of a row of `records`."""
    id, at_ms, pause, stored_checksum, body = row
    whole = type(body) is bytes and type(at_ms) is int and (pause is None or type(pause) is int)
    if not whole or record_checksum(id, at_ms, pause, body) != stored_checksum:
        raise damaged(f"record {id & LAST_SEQUENCE} of branch number {id >> SEQUENCE_BITS}")
    return Record(id >> SEQUENCE_BITS, id & LAST_SEQUENCE, at_ms, body, pause)


def snapshot_of(row: Row) -> tuple[int, bytes]:
    """The sequence and body of a row of `snapshots`."""
    id, stored_checksum, body = row
    if type(body) is not bytes or body_checksum(body, id) != stored_checksum:
        raise damaged(f"snapshot {id & LAST_SEQUENCE} of branch number {id >> SEQUENCE_BITS}")
    return id & LAST_SEQUENCE, body


def answer_of(row: Row) -> tuple[int, KeptAnswer]:
    """The number and value of a row of `answers`."""
    number, no, at_ms, key, source, by, note, pause, rejected, stored_checksum, body = row
    fields = (number, no, at_ms, key, source, by, note, pause, rejected)
    if type(body) is not bytes or body_checksum(body, *fields) != stored_checksum:
        raise damaged(f"answer {number!r}")
    return number, KeptAnswer(key, body, source, by, note, pause, rejected, at_ms)


def answer_columns(number: int, no: int, answer: KeptAnswer) -> tuple[str | int | bytes | None, ...]:
    """An answer as it is stored."""
    fields = (
        number,
        no,
        answer.at_ms,
        answer.key,
        answer.source,
        answer.by,
        answer.note,
        answer.pause,
        answer.rejected,
    )
    return (*fields, body_checksum(answer.body, *fields), answer.body)
