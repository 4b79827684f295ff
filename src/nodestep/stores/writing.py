"""One write inside a transaction: its guard against the branch as it is, then its rows.

A write of an owner that goes on (`Holding`, still running, no questions) is one statement that checks and appends; all
others read the branch first and write its row anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from .base import Holding, New, QuestionRow, Receipt, Refused, Status, Unchanged, Write
from .branches import BranchRow
from .clock import Clock
from .connection import Connection
from .owner import Owner, known_dead
from .queries import Queries
from .questions import Opening
from .reading import Reader
from .rows import (
    Counters,
    body_checksum,
    damaged,
    question_columns,
    record_checksum,
    row_id,
)

_NO_OPENS: Final[tuple[QuestionRow, ...]] = ()
_NOTHING: Final = Opening(_NO_OPENS)


@dataclass(frozen=True, slots=True)
class Leases:
    """Who takes leases, and by which clock."""

    owner: Owner
    stored_owner: str
    clock: Clock

    @classmethod
    def of(cls, owner: Owner, clock: Clock) -> Leases:
        """The leases that this owner takes."""
        return cls(owner, owner.to_json(), clock)

    def end_ms(self) -> int:
        """When a lease ends that is taken or renewed now."""
        return self.clock.lease_ms() + self.owner.lease_ms

    def live(self, branch: BranchRow) -> bool:
        """Whether somebody holds the branch right now. A lease that would last longer than its owner's do is from before
        the clock began anew."""
        if not branch.running or branch.owner is None:
            return False
        try:
            owner = Owner.from_json(branch.owner)
        except ValueError:
            raise damaged(f"the lease of branch {branch.branch_id!r} of thread {branch.thread_id!r}") from None
        left_ms = branch.lease_until_ms - self.clock.lease_ms()
        return 0 < left_ms <= owner.lease_ms and not known_dead(owner, self.owner)


class Append(NamedTuple):
    """The values of the query `append_record`, in its order."""

    id: int
    at_ms: int
    checksum: int
    body: bytes
    no: int
    epoch: int


class Prepared:
    """A write with all that can be made of it before any lock is taken. Raises TypeError or ValueError if malformed."""

    __slots__ = ("append", "at_ms", "opening", "write")

    def __init__(self, write: Write, at_ms: int) -> None:
        self.write = write
        self.at_ms = at_ms
        self.opening = Opening(write.opens) if write.opens else _NOTHING
        self.append: Append | None = None
        """For a write that is this one statement (and its snapshot)."""
        guard = write.guard
        if type(guard) is Holding and write.status is Status.RUNNING and not write.opens and not write.closes:
            id = row_id(guard.no, guard.sequence + 1)
            sum = record_checksum(id, at_ms, None, write.record)
            self.append = Append(id, at_ms, sum, write.record, guard.no, guard.epoch)
        elif type(write.record) is not bytes:
            raise TypeError(f"a record is bytes, not {type(write.record).__name__}")

    def appended(self, guard: Holding) -> Receipt:
        """The answer to a write that was one statement."""
        return Receipt(guard.no, guard.epoch, guard.sequence + 1, self.at_ms)


class Writer:
    """Carries out writes, one after another, in one write transaction."""

    def __init__(self, connection: Connection, queries: Queries, leases: Leases) -> None:
        self._rows = connection.rows
        self._change = connection.change
        self._queries = queries
        self._leases = leases
        self._reader = Reader(connection, queries)

    def carry_out(self, prepared: Prepared) -> Receipt | Refused:
        """Write it, or refuse it and write nothing."""
        write = prepared.write
        if prepared.append is not None and isinstance(write.guard, Holding):
            if not self._append(prepared.append):
                return self._refused(self._reader.branch(write.thread_id, write.branch_id))
            receipt = prepared.appended(write.guard)
            self._add_snapshot(write, receipt)
            return receipt
        found = self._reader.branch(write.thread_id, write.branch_id)
        if found is not None and self._admits(write, found):
            return self._write(prepared, found, is_new=False)
        if found is None and isinstance(write.guard, New):
            branch = BranchRow.new(
                self._next_branch_no(), write.thread_id, write.branch_id, write.guard.graph, prepared.at_ms
            )
            return self._write(prepared, branch, is_new=True)
        return self._refused(found)

    def renew(self, no: int, epoch: int) -> bool:
        """Extend a lease, if it is still held with this epoch."""
        return self._change(self._queries.extend_lease, (no, epoch, self._leases.end_ms())) == 1

    def _append(self, append: Append) -> bool:
        before = self._rows(self._queries.has_record, (append.id - 1,))
        return bool(before) and self._change(self._queries.append_record, append) == 1

    def _refused(self, branch: BranchRow | None) -> Refused:
        if branch is None:
            return Refused(None)
        return Refused(branch.head(self._leases.live(branch), self._reader.updated_at_ms(branch)))

    def _admits(self, write: Write, branch: BranchRow) -> bool:
        match write.guard:
            case New():
                return False
            case Unchanged(no, epoch, sequence):
                free = not self._leases.live(branch)
            case Holding(no, epoch, sequence):
                free = branch.running
        return free and (branch.no, branch.epoch, branch.sequence) == (no, epoch, sequence)

    def _write(self, prepared: Prepared, branch: BranchRow, is_new: bool) -> Receipt:
        write, at_ms = prepared.write, prepared.at_ms
        pause = self._next_pause() if prepared.opening.needs_number else None
        questions = list(prepared.opening.kept(pause, at_ms))
        closed = 0
        if branch.open_questions:
            for key in (*write.closes, *(question.key for question in questions)):
                closed += self._change(self._queries.close_question, (branch.no, key))
        for question in questions:
            self._change(self._queries.open_question, question_columns(branch.no, question))
        after = self._after(write, branch, branch.open_questions - closed + len(questions))
        row = after.columns()
        if is_new:
            self._change(self._queries.add_branch, row)
        else:
            self._change(self._queries.change_branch, (row[0], *row[8:]))
        id = row_id(after.no, after.sequence)
        sum = record_checksum(id, at_ms, pause, write.record)
        self._change(self._queries.add_record, (id, at_ms, pause, sum, write.record))
        receipt = Receipt(after.no, after.epoch, after.sequence, at_ms, pause)
        self._add_snapshot(write, receipt)
        return receipt

    def _after(self, write: Write, branch: BranchRow, open_questions: int) -> BranchRow:
        """The branch's row after the write. A claim gets the next epoch; so does an edit after a run that was cut off,
        to fence that run out."""
        epoch, owner, until_ms = branch.epoch, branch.owner, branch.lease_until_ms
        if not isinstance(write.guard, Holding) and (write.status is Status.RUNNING or branch.running):
            epoch += 1
            owner, until_ms = self._leases.stored_owner, self._leases.end_ms()
        if write.status is not Status.RUNNING:
            owner, until_ms = None, 0
        return branch.moved(write.status, epoch, open_questions, owner, until_ms)

    def _add_snapshot(self, write: Write, receipt: Receipt) -> None:
        if write.snapshot is not None:
            id = row_id(receipt.no, receipt.sequence)
            self._change(self._queries.add_snapshot, (id, body_checksum(write.snapshot, id), write.snapshot))

    def _next_branch_no(self) -> int:
        counters = self._counters()
        return self._keep(replace(counters, branch_no=counters.branch_no + 1)).branch_no

    def _next_pause(self) -> int:
        counters = self._counters()
        return self._keep(replace(counters, pause=counters.pause + 1)).pause

    def _counters(self) -> Counters:
        return Counters.of(self._rows(self._queries.read_counters))

    def _keep(self, counters: Counters) -> Counters:
        self._change(self._queries.write_counters, (counters.branch_no, counters.pause, counters.checksum))
        return counters
