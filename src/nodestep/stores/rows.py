"""Rows of the tables as values, each checked against the checksum that it was stored with.

A checksum covers what a reader takes from its row, so a flipped bit is found before it is believed. Knows the columns
and no SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias
from zlib import crc32

from ..errors import StoreCorruptedError
from .base import Head, Record, Status
from .questions import KeptQuestion

Row: TypeAlias = tuple[Any, ...]

SEQUENCE_BITS: Final = 32
LAST_SEQUENCE: Final = (1 << SEQUENCE_BITS) - 1
BRANCH_COLUMNS: Final = 13
"""How many columns of a row are the branch's own."""


def row_id(no: int, sequence: int) -> int:
    """The number under which a record or snapshot is found."""
    return no << SEQUENCE_BITS | sequence


def checksum(*fields: str | int | None) -> int:
    """Over the fields of a row; `ascii` writes them the same way in every version of Python."""
    return crc32(ascii(fields).encode())


def body_checksum(body: bytes, *fields: str | int | None) -> int:
    """Over the fields of a row and its body."""
    return crc32(body, checksum(*fields))


def record_checksum(id: int, at_ms: int, pause: int | None, body: bytes) -> int:
    """Over a record. A record without a pause number is written often, so its fields are put together fast."""
    return crc32(body, crc32(b"%d %d %d" % (id, at_ms, pause or 0)))


def damaged(what: str) -> StoreCorruptedError:
    """The error for a row that is not as it was written."""
    return StoreCorruptedError(
        f"The store is damaged: {what} is not as it was written. Nothing of it was used; put back a backup, or copy "
        "what is readable to a new store."
    )


@dataclass(frozen=True, slots=True)
class Counters:
    """What the store has given away: its last branch number and its last pause number."""

    store_id: str
    branch_no: int
    pause: int

    @property
    def checksum(self) -> int:
        """What is stored with the row."""
        return checksum(self.store_id, self.branch_no, self.pause)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Counters:
        """The value of the table's one row."""
        if len(rows) == 1:
            counters = cls(*rows[0][:3])
            if counters.checksum == rows[0][3]:
                return counters
        raise damaged("the row of its counters")


@dataclass(frozen=True, slots=True)
class BranchRow:
    """A branch: what its row says, its lease, and where its records end."""

    no: int
    thread_id: str
    branch_id: str
    parent_no: int | None
    fork_sequence: int
    graph: str
    created_at_ms: int
    status: Status
    epoch: int
    known_sequence: int
    owner: str | None
    lease_until_ms: int
    sequence: int
    updated_at_ms: int

    @property
    def checksum(self) -> int:
        """What is stored with the row. The lease is left out: it is renewed often, and errs on the safe side."""
        return checksum(
            self.no,
            self.thread_id,
            self.branch_id,
            self.parent_no,
            self.fork_sequence,
            self.graph,
            self.created_at_ms,
            self.status.value,
            self.epoch,
            self.known_sequence,
        )

    @classmethod
    def of(cls, row: Row) -> BranchRow:
        """The value of a row of `branches`, joined with the id and time of its last record where a query gives them."""
        what = f"the row of branch number {row[0]!r}"
        if checksum(*row[:10]) != row[10]:
            raise damaged(what)
        sequence, updated_at_ms = row[9], row[6]
        if len(row) > BRANCH_COLUMNS:
            last_id, last_at_ms = row[13:15]
            sequence = row[4] if last_id is None else last_id & LAST_SEQUENCE
            updated_at_ms = row[6] if last_id is None else last_at_ms
            if type(updated_at_ms) is not int:
                raise damaged(what)
        no, thread_id, branch_id, parent_no, fork_sequence, graph, created_at_ms, status, epoch, known_sequence = row[
            :10
        ]
        branch = cls(
            no,
            thread_id,
            branch_id,
            parent_no,
            fork_sequence,
            graph,
            created_at_ms,
            Status(status),
            epoch,
            known_sequence,
            row[11],
            row[12],
            sequence,
            updated_at_ms,
        )
        if sequence < branch.known_sequence or (
            sequence > branch.known_sequence and branch.status is not Status.RUNNING
        ):
            raise damaged(f"the history of branch {branch.branch_id!r} of thread {branch.thread_id!r}")
        return branch

    def columns(self) -> tuple[str | int | None, ...]:
        """The row as it is stored."""
        return (
            self.no,
            self.thread_id,
            self.branch_id,
            self.parent_no,
            self.fork_sequence,
            self.graph,
            self.created_at_ms,
            self.status.value,
            self.epoch,
            self.known_sequence,
            self.checksum,
            self.owner,
            self.lease_until_ms,
        )

    def moved(self, status: Status, epoch: int, sequence: int, owner: str | None, lease_until_ms: int) -> BranchRow:
        """The branch after a write that changes its row."""
        return replace(
            self,
            status=status,
            epoch=epoch,
            known_sequence=sequence,
            sequence=sequence,
            owner=owner,
            lease_until_ms=lease_until_ms,
        )

    def head(self, live: bool) -> Head:
        """The branch as readers get it."""
        return Head(
            self.no,
            self.thread_id,
            self.branch_id,
            self.graph,
            self.status,
            self.epoch,
            self.sequence,
            live,
            self.created_at_ms,
            self.updated_at_ms,
        )


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


def question_of(row: Row) -> KeptQuestion:
    """The value of a row of `questions`."""
    no, key, pause, assignee, expires_at_ms, asked_at_ms, stored_checksum, body = row
    fields = (no, key, pause, assignee, expires_at_ms, asked_at_ms)
    if type(body) is not bytes or body_checksum(body, *fields) != stored_checksum:
        raise damaged(f"question {key!r} of branch number {no!r}")
    return KeptQuestion(key, body, assignee, expires_at_ms, pause, asked_at_ms)


def question_columns(no: int, question: KeptQuestion) -> tuple[str | int | bytes | None, ...]:
    """A question as it is stored."""
    fields = (
        no,
        question.key,
        question.pause,
        question.assignee,
        question.expires_at_ms,
        question.asked_at_ms,
    )
    return (*fields, body_checksum(question.body, *fields), question.body)
