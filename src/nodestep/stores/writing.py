"""One write inside a transaction: its guard against the branch as it is, then its rows.

The write of an owner that goes on is one statement that checks and appends. All others write the branch's row anew, and
name in the statement the row that they expect: one that was read in this transaction, or that the store knows from before.
"""

from __future__ import annotations

from typing import Final

from .base import Append, Fenced, ForkOf, Holding, New, Receipt, Refused, Status, Unchanged, Write
from .branches import BranchRow
from .connection import Connection, Values
from .known import Held, Known
from .leases import Leases
from .prepared import Prepared, check_record
from .queries import Queries
from .question_rows import question_columns
from .reading import Reader
from .rows import Counters, answer_columns, body_checksum, damaged, record_checksum, row_id

_UNCOUNTED: Final = Counters("", 0, 0, 0, 0)


class Moved(Exception):  # noqa: N818 - a finding on its way to where the transaction is made anew
    """A row that was expected is another by now."""

    def __init__(self, branch: BranchRow) -> None:
        super().__init__()
        self.branch = branch


class Appending:
    """The write of an owner that goes on, as the values of the query `append_record`. Raises TypeError if malformed."""

    __slots__ = ("row", "write")

    def __init__(self, write: Append, at_ms: int) -> None:
        check_record(write)
        id, record = row_id(write.no, write.sequence + 1), write.record
        self.write = write
        self.row = (id, at_ms, record_checksum(id, at_ms, None, record), record, write.no, write.epoch)

    def receipt(self) -> Receipt:
        """The answer once it is written."""
        write = self.write
        return Receipt(write.no, write.epoch, write.sequence + 1, self.row[1])


class Writer:
    """Carries out writes, one after another, in one write transaction. What the store `known` from before may be out of
    date: then a write raises Moved, and all of the transaction is to be made anew by what is read."""

    def __init__(self, connection: Connection, queries: Queries, leases: Leases, known: Known) -> None:
        self._rows = connection.rows
        self._run = connection.run
        self._change = connection.change
        self._queries = queries
        self._leases = leases
        self._reader = Reader(connection, queries)
        self._known = known
        self._counters = known.counters
        self._held: dict[int, Held | None] = {}

    def settle(self, known: Known) -> None:
        """The transaction is durable: what it made is known from now on."""
        known.counters = self._counters or known.counters
        for no, held in self._held.items():
            if held is None:
                known.held.pop(no, None)
            else:
                known.held[no] = held

    def append(self, appending: Appending) -> Receipt | Refused:
        """Let an owner go on, or refuse it and write nothing."""
        id, write = appending.row[0], appending.write
        before = self._rows(self._queries.has_record, (id - 1,))
        if not before or self._change(self._queries.append_record, appending.row) != 1:
            return self._refused(self._reader.branch_by_no(write.no))
        self._add_snapshot(id, write.snapshot)
        held = self._known.held.get(write.no)
        row = None if held is None or held.epoch != write.epoch else held.row
        self._held[write.no] = Held(write.epoch, write.sequence + 1, row)
        return appending.receipt()

    def write(self, prepared: Prepared) -> Receipt | Refused:
        """Write it, or refuse it and write nothing."""
        write = prepared.write
        expected = self._known.expected(write, prepared.at_ms)
        if expected is not None:
            return self._carry_out(prepared, expected)
        found = self._reader.branch(write.thread_id, write.branch_id)
        branch = self._begin(prepared) if found is None else self._admit(write, found)
        return self._refused(found) if branch is None else self._carry_out(prepared, branch)

    def renew(self, no: int, epoch: int) -> bool:
        """Extend a lease, if it is still held with this epoch."""
        return self._change(self._queries.extend_lease, (no, epoch, self._leases.end_ms())) == 1

    def _refused(self, branch: BranchRow | None) -> Refused:
        if branch is None:
            return Refused(None)
        return Refused(branch.head(self._leases.live(branch), self._reader.updated_at_ms(branch)))

    def _begin(self, prepared: Prepared) -> BranchRow | None:
        """The branch that the write makes, not numbered yet; `None` where its guard asks for one that is there."""
        write, at_ms = prepared.write, prepared.at_ms
        match write.guard:
            case New(graph):
                return BranchRow.new(write.thread_id, write.branch_id, graph, at_ms)
            case ForkOf(parent_no, sequence):
                parent = self._reader.branch_by_no(parent_no)
                if parent is None or parent.thread_id != write.thread_id:
                    return None
                if not self._reader.is_readable(parent, sequence):
                    return None
                return BranchRow.fork(write.branch_id, parent, sequence, at_ms)
        return None

    def _admit(self, write: Write, branch: BranchRow) -> BranchRow | None:
        """The branch, if the write may change it."""
        match write.guard:
            case New() | ForkOf():
                return None
            case Fenced(no):
                over = branch.status in (Status.COMPLETED, Status.CANCELLED)
                return branch if branch.no == no and not over else None
            case Unchanged(no, epoch, sequence):
                free = not self._leases.live(branch)
            case Holding(no, epoch, sequence):
                free = branch.running
        same = (branch.no, branch.epoch, branch.sequence) == (no, epoch, sequence)
        return branch if free and same else None

    def _carry_out(self, prepared: Prepared, before: BranchRow) -> Receipt:
        """Write the rows of a write to a branch that is as expected."""
        write, at_ms, answers, is_new = prepared.write, prepared.at_ms, prepared.answers, before.no == 0
        given = self._count(is_new, prepared.opening.needs_number, len(answers))
        pause = given.pause if prepared.opening.needs_number else None
        branch = before.numbered(given.branch_no) if is_new else before
        open_questions = self._write_questions(prepared, branch, pause) if branch.open_questions or write.opens else 0
        for number, answer in enumerate(answers, start=given.answer - len(answers) + 1):
            self._run(self._queries.add_answer, answer_columns(number, branch.no, answer))
        after = self._moved(prepared, branch, open_questions)
        if is_new:
            self._expect_change(self._queries.add_branch, after.columns(), branch)
        else:
            guard = branch.epoch, branch.known_sequence, branch.checksum
            self._expect_change(self._queries.change_branch, (*after.changing(), *guard), branch)
        id, sequence = row_id(after.no, after.known_sequence), after.known_sequence
        sum = record_checksum(id, at_ms, pause, write.record)
        self._expect_change(self._queries.add_record, (id, at_ms, pause, sum, write.record), branch)
        self._add_snapshot(id, write.snapshot)
        self._held[after.no] = Held(after.epoch, sequence, after) if after.running else None
        return Receipt(after.no, after.epoch, sequence, at_ms, pause)

    def _expect_change(self, query: str, values: Values, branch: BranchRow) -> None:
        if self._change(query, values) != 1:
            raise Moved(branch)

    def _write_questions(self, prepared: Prepared, branch: BranchRow, pause: int | None) -> int:
        """Close and open questions; says how many are open then."""
        write = prepared.write
        questions = list(prepared.opening.kept(pause, prepared.at_ms))
        closed = 0
        if branch.open_questions and isinstance(write.guard, Fenced) and write.status is Status.CANCELLED:
            closed = self._change(self._queries.close_questions, (branch.no,))
        elif branch.open_questions:
            for key in (*write.closes, *(question.key for question in questions)):
                closed += self._change(self._queries.close_question, (branch.no, key))
        for question in questions:
            self._expect_change(self._queries.open_question, question_columns(branch, question), branch)
        return branch.open_questions - closed + len(questions)

    def _moved(self, prepared: Prepared, branch: BranchRow, open_questions: int) -> BranchRow:
        """The branch's row after the write. A claim gets the next epoch; so does what fences, and an edit after a run that
        was cut off, to fence that run out."""
        write, guard = prepared.write, prepared.write.guard
        epoch, owner, until_ms = branch.epoch, branch.owner, branch.lease_until_ms
        claims = write.status is Status.RUNNING
        if not isinstance(guard, Holding) and (claims or branch.running or isinstance(guard, Fenced)):
            epoch += 1
            owner, until_ms = self._leases.stored_owner, self._leases.end_ms()
        if not claims:
            owner, until_ms = None, 0
        last = guard.sequence if isinstance(guard, (Holding, Unchanged)) else branch.sequence
        answers = branch.answers + len(prepared.answers)
        return branch.moved(last + 1, write.status, epoch, open_questions, answers, prepared.at_ms, owner, until_ms)

    def _add_snapshot(self, id: int, snapshot: bytes | None) -> None:
        if snapshot is not None:
            self._run(self._queries.add_snapshot, (id, body_checksum(snapshot, id), snapshot))

    def _count(self, branch: bool, pause: bool, answers: int) -> Counters:
        """The counters after a write that makes a branch, a pause and so many answers, or not."""
        if not branch and not pause and not answers:
            return _UNCOUNTED
        known = self._counters
        after = None if known is None else self._counted(known, branch, pause, answers)
        if after is None:
            after = self._counted(Counters.of(self._rows(self._queries.read_counters)), branch, pause, answers)
        if after is None:
            raise damaged("the row of its counters")
        self._counters = after
        return after

    def _counted(self, before: Counters, branch: bool, pause: bool, answers: int) -> Counters | None:
        """The counters after one that counts on from `before`, unless they are others by now."""
        after = before.counted(branch, pause, answers)
        return after if self._change(self._queries.write_counters, (*after[1:], *before)) == 1 else None
