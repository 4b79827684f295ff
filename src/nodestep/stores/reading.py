"""Looks at a branch: its row, its lineage, snapshot, records and questions, within one read transaction.

A fork holds no copy of what it shares: its records begin after its fork point, and those before are its parent's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import UnknownEventError
from .base import Record
from .connection import Connection
from .queries import Queries
from .questions import KeptQuestion
from .rows import LAST_SEQUENCE, BranchRow, damaged, question_of, record_of, row_id, snapshot_of

UNLIMITED = -1


@dataclass(frozen=True, slots=True)
class Part:
    """What one branch of a lineage gives to it: the records from `first` to `last`."""

    no: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a branch found."""

    branch: BranchRow
    snapshot_sequence: int
    snapshot: bytes | None
    records: tuple[Record, ...]
    questions: tuple[KeptQuestion, ...]


class Reader:
    """Queries of one read transaction."""

    def __init__(self, connection: Connection, queries: Queries) -> None:
        self._rows = connection.rows
        self._queries = queries

    def branch(self, thread_id: str, branch_id: str) -> BranchRow | None:
        """The branch of these ids, or `None`."""
        rows = self._rows(self._queries.find_branch, (thread_id, branch_id))
        if not rows:
            return None
        branch = BranchRow.of(rows[0])
        if (branch.thread_id, branch.branch_id) != (thread_id, branch_id):
            raise damaged("the index of its branches")
        return branch

    def look(self, thread_id: str, branch_id: str, upto: int | None) -> Look | None:
        """The branch at record `upto`, or at its last."""
        branch = self.branch(thread_id, branch_id)
        if branch is None:
            return None
        last = branch.sequence if upto is None else upto
        if not 1 <= last <= branch.sequence:
            raise _unknown_event(branch, last)
        lineage = self._lineage(branch, last)
        sequence, snapshot = self._newest_snapshot(lineage)
        records = self._records(lineage, sequence + 1, UNLIMITED)
        if records and records[0].sequence != sequence + 1:
            if snapshot is None and upto is not None:
                raise _unknown_event(branch, last)
            raise _gap(branch)
        _check_order(branch, records)
        if last != (records[-1].sequence if records else sequence):
            raise _gap(branch)
        questions = map(question_of, self._rows(self._queries.questions_of_branch, (branch.no,)))
        oldest_first = sorted(questions, key=lambda question: (question.pause, question.key))
        return Look(branch, sequence, snapshot, records, tuple(oldest_first))

    def page(self, thread_id: str, branch_id: str, after: int, limit: int) -> tuple[Record, ...]:
        """At most `limit` records that come after the sequence `after`; those that were pruned are left out."""
        branch = self.branch(thread_id, branch_id)
        if branch is None or limit < 1:
            return ()
        first = max(after, 0) + 1
        records = self._records(self._lineage(branch, branch.sequence), first, limit)
        _check_order(branch, records)
        if len(records) < limit and branch.sequence >= first:
            end = records[-1].sequence if records else 0
            if end != branch.sequence:
                raise _gap(branch)
        return records

    def _lineage(self, branch: BranchRow, last: int) -> list[Part]:
        """The parts of the branch's history up to `last`, youngest first."""
        parts = [Part(branch.no, branch.fork_sequence + 1, last)]
        while branch.parent_no is not None:
            last = min(last, branch.fork_sequence)
            rows = self._rows(self._queries.find_branch_by_no, (branch.parent_no,))
            if not rows:
                raise damaged(f"the parent of branch {branch.branch_id!r} of thread {branch.thread_id!r}")
            parent = BranchRow.of(rows[0])
            if parent.no >= branch.no or parent.sequence < last:
                raise damaged(f"the parent of branch {branch.branch_id!r} of thread {branch.thread_id!r}")
            branch = parent
            parts.append(Part(branch.no, branch.fork_sequence + 1, last))
        return parts

    def _newest_snapshot(self, lineage: Iterable[Part]) -> tuple[int, bytes | None]:
        for part in lineage:
            # A fork may have a snapshot of the very point where it left its parent.
            low, high = row_id(part.no, part.first - 1), row_id(part.no, part.last)
            for row in self._rows(self._queries.newest_snapshot, (low, high)):
                return snapshot_of(row)
        return 0, None

    def _records(self, lineage: list[Part], first: int, limit: int) -> tuple[Record, ...]:
        found: list[Record] = []
        for part in reversed(lineage):
            low, high = row_id(part.no, max(part.first, first)), row_id(part.no, min(part.last, LAST_SEQUENCE))
            room = UNLIMITED if limit == UNLIMITED else limit - len(found)
            if low <= high and room != 0:
                found.extend(map(record_of, self._rows(self._queries.records_between, (low, high, room))))
        return tuple(found)


def _check_order(branch: BranchRow, records: tuple[Record, ...]) -> None:
    if records and records[-1].sequence - records[0].sequence != len(records) - 1:
        raise _gap(branch)


def _gap(branch: BranchRow) -> Exception:
    return damaged(f"the history of branch {branch.branch_id!r} of thread {branch.thread_id!r}")


def _unknown_event(branch: BranchRow, sequence: int) -> UnknownEventError:
    return UnknownEventError(
        f"Branch {branch.branch_id!r} of thread {branch.thread_id!r} has no event {sequence}, or it was pruned; its last "
        f"is {branch.sequence}. history() lists the events that can be loaded."
    )
