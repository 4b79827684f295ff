"""Looks at a branch: its row, its lineage, snapshot, records and questions, within one read transaction.

Everything found is checked to be complete, so that a damaged page is an error and never a shorter history.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from ..errors import UnknownEventError
from .base import QuestionRow, Record
from .branches import BranchRow
from .connection import Connection
from .lineage import Part, lineage, pruned_upto
from .queries import Queries
from .question_rows import questions_of
from .rows import damaged, record_of, row_id, snapshot_of

_UNLIMITED: Final = -1
_LAST_ID: Final = (1 << 63) - 1


class Look(Struct, frozen=True):
    """What one look at a branch found."""

    branch: BranchRow
    updated_at_ms: int
    snapshot_sequence: int
    snapshot: bytes | None
    records: tuple[Record, ...]
    questions: tuple[QuestionRow, ...]


class Reader:
    """Queries of one read transaction."""

    def __init__(self, connection: Connection, queries: Queries) -> None:
        self._rows = connection.rows
        self._queries = queries

    def branch(self, thread_id: str, branch_id: str) -> BranchRow | None:
        """The branch of these ids, or `None`."""
        rows = self._rows(self._queries.find_branch, (thread_id, branch_id))
        if not rows:
            self.check_missing(thread_id, branch_id)
            return None
        branch = BranchRow.with_history(rows[0])
        if (branch.thread_id, branch.branch_id) != (thread_id, branch_id):
            raise damaged("the index of its branches")
        return branch

    def branch_by_no(self, no: int) -> BranchRow | None:
        """The branch with this number, or `None`."""
        rows = self._rows(self._queries.find_branch_by_no, (no,))
        return BranchRow.with_history(rows[0]) if rows else None

    def updated_at_ms(self, branch: BranchRow) -> int:
        """When the branch's last record was written, or the branch was made."""
        if branch.last_id is None:
            return branch.created_at_ms
        rows = self._rows(self._queries.records_between, (branch.last_id, branch.last_id, 1))
        if not rows:
            raise damaged(branch.history)
        return record_of(rows[0]).at_ms

    def look(self, thread_id: str, branch_id: str, upto: int | None) -> Look | None:
        """The branch at record `upto`, or at its last."""
        branch = self.branch(thread_id, branch_id)
        if branch is None:
            return None
        last = branch.sequence if upto is None else upto
        if not 1 <= last <= branch.sequence:
            raise _unknown_event(branch, last)
        parts = lineage(branch, last, self.branch_by_no)
        sequence, snapshot = self._newest_snapshot(parts)
        pruned = pruned_upto(parts)
        if sequence < pruned:
            # What was not pruned goes on from a snapshot at or after the last record that was.
            raise _unknown_event(branch, last) if pruned == last else damaged(branch.history)
        records = self._records(parts, sequence + 1, last, _UNLIMITED)
        _check_run(branch, records, sequence + 1, last)
        if branch.running:
            self._check_beyond(branch)
        own_end = bool(records) and records[-1].sequence == branch.sequence and records[-1].branch_no == branch.no
        updated_at_ms = records[-1].at_ms if own_end else self.updated_at_ms(branch)
        return Look(branch, updated_at_ms, sequence, snapshot, records, self._questions(branch))

    def page(self, thread_id: str, branch_id: str, after: int, limit: int) -> tuple[Record, ...]:
        """At most `limit` records that come after the sequence `after`; those that were pruned are left out."""
        branch = self.branch(thread_id, branch_id)
        if branch is None or limit < 1:
            return ()
        parts = lineage(branch, branch.sequence, self.branch_by_no)
        first = max(after, pruned_upto(parts), 0) + 1
        last = min(first + limit - 1, branch.sequence)
        records = self._records(parts, first, last, limit)
        _check_run(branch, records, first, last)
        return records

    def is_readable(self, branch: BranchRow, sequence: int) -> bool:
        """Whether the branch can be read at a record: it has one of that number, not pruned or with a snapshot."""
        if not 1 <= sequence <= branch.sequence:
            return False
        parts = lineage(branch, sequence, self.branch_by_no)
        pruned = pruned_upto(parts)
        return pruned < sequence or self._newest_snapshot(parts)[0] == sequence

    def check_missing(self, thread_id: str, branch_id: str) -> None:
        """A branch that is not found where it would stand is missing only if the entries beside are whole."""
        for row in self._rows(self._queries.branches_beside, (thread_id, branch_id)):
            if row[:2] != row[2:]:
                raise damaged("the index of its branches")

    def _check_beyond(self, branch: BranchRow) -> None:
        """A running branch does not know its last record. One that lost its place would follow the branch's range."""
        beyond = row_id(branch.no + 1, 0)
        for row in self._rows(self._queries.records_between, (beyond, _LAST_ID, 1)):
            record_of(row)

    def _newest_snapshot(self, parts: Iterable[Part]) -> tuple[int, bytes | None]:
        for part in parts:
            # A fork may have a snapshot of the very point where it left its parent.
            low, high = row_id(part.no, part.first - 1), row_id(part.no, part.last)
            for row in self._rows(self._queries.newest_snapshot, (low, high)):
                return snapshot_of(row)
        return 0, None

    def _records(self, parts: list[Part], first: int, last: int, limit: int) -> tuple[Record, ...]:
        found: list[Record] = []
        for part in reversed(parts):
            low, high = row_id(part.no, max(part.first, first)), row_id(part.no, min(part.last, last))
            room = limit if limit == _UNLIMITED else limit - len(found)
            if low <= high and room != 0:
                found.extend(map(record_of, self._rows(self._queries.records_between, (low, high, room))))
        return tuple(found)

    def _questions(self, branch: BranchRow) -> tuple[QuestionRow, ...]:
        found = questions_of(self._rows(self._queries.questions_of_branch, (branch.no,)))
        if len(found) != branch.open_questions:
            raise damaged(branch.questions)
        return tuple(item.question for item in found)


def _check_run(branch: BranchRow, records: tuple[Record, ...], first: int, last: int) -> None:
    """The records must be those from `first` to `last`, each once."""
    count = max(last - first + 1, 0)
    whole = len(records) == count and (not count or (records[0].sequence, records[-1].sequence) == (first, last))
    if not whole:
        raise damaged(branch.history)


def _unknown_event(branch: BranchRow, sequence: int) -> UnknownEventError:
    return UnknownEventError(
        f"Branch {branch.branch_id!r} of thread {branch.thread_id!r} has no event {sequence}, or it was pruned; its last "
        f"is {branch.sequence}. history() lists the events that can be loaded."
    )
