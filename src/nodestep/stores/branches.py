"""The row of a branch: its columns, its checksum, and what a write makes of it.

Knows the columns and no SQL. The lease is left out of the checksum: it is renewed often, and errs on the safe side.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .base import Head, Status
from .rows import LAST_SEQUENCE, Row, checksum, damaged, row_id

_FIXED: Final = 8
"""How many columns never change save by a prune."""
_CHECKED: Final = 14
"""How many columns the checksum covers; it follows them."""
_RUNNING: Final = Status.RUNNING.value
_READY: Final = Status.READY.value


class BranchRow(NamedTuple):
    """A row of `branches` in the order of its columns, and the id of the branch's own last record."""

    no: int
    thread_id: str
    branch_id: str
    parent_no: int | None
    fork_sequence: int
    pruned_sequence: int
    graph: str
    created_at_ms: int
    status: str
    epoch: int
    known_sequence: int
    open_questions: int
    answers: int
    changed_at_ms: int
    checksum: int
    owner: str | None
    lease_until_ms: int
    last_id: int | None = None

    @classmethod
    def new(cls, thread_id: str, branch_id: str, graph: str, created_at_ms: int) -> BranchRow:
        """A branch without records, before its first write numbers it."""
        fixed = (0, thread_id, branch_id, None, 0, 0, graph, created_at_ms)
        return cls(*fixed, _READY, 0, 0, 0, 0, created_at_ms, 0, None, 0)

    @classmethod
    def fork(cls, branch_id: str, parent: BranchRow, sequence: int, created_at_ms: int) -> BranchRow:
        """A fork of `parent` at its record `sequence`, before its first write numbers it."""
        new = cls.new(parent.thread_id, branch_id, parent.graph, created_at_ms)
        return new._replace(parent_no=parent.no, fork_sequence=sequence, known_sequence=sequence)

    @classmethod
    def of(cls, row: Row) -> BranchRow:
        """The value of a row that a query found."""
        branch = cls(*row)
        if checksum(*row[:_CHECKED]) != branch.checksum:
            raise damaged(f"the row of branch number {branch.no!r}")
        return branch

    @classmethod
    def with_history(cls, row: Row) -> BranchRow:
        """The same for a row that comes with the id of the branch's last record."""
        branch = cls.of(row)
        beyond = branch.sequence - branch.known_sequence
        if beyond < 0 or (beyond > 0 and not branch.running):
            raise damaged(branch.history)
        return branch

    @property
    def sequence(self) -> int:
        """The number of the branch's last record."""
        return self.fork_sequence if self.last_id is None else self.last_id & LAST_SEQUENCE

    @property
    def running(self) -> bool:
        """Whether the branch is running, or was cut off while it was."""
        return self.status == _RUNNING

    @property
    def history(self) -> str:
        """What to call the branch's history in an error."""
        return f"the history of branch {self.branch_id!r} of thread {self.thread_id!r}"

    @property
    def questions(self) -> str:
        """The same for its questions."""
        return f"the questions of branch {self.branch_id!r} of thread {self.thread_id!r}"

    def columns(self) -> tuple[str | int | None, ...]:
        """The row as it is stored."""
        return self[:-1]

    def changing(self) -> tuple[str | int | None, ...]:
        """Its number, and the columns that a write changes."""
        return (self.no, *self[_FIXED:-1])

    def numbered(self, no: int) -> BranchRow:
        """The row of a new branch with its number."""
        return BranchRow(no, *self[1:])

    def moved(
        self,
        sequence: int,
        status: Status,
        epoch: int,
        open_questions: int,
        answers: int,
        at_ms: int,
        owner: str | None,
        until_ms: int,
    ) -> BranchRow:
        """The branch after a write that appends the record `sequence`."""
        checked = (*self[:_FIXED], str(status), epoch, sequence, open_questions, answers, at_ms)
        return BranchRow(*checked, checksum(*checked), owner, until_ms, row_id(self.no, sequence))

    def pruned(self, upto: int) -> BranchRow:
        """The branch without its records up to this one."""
        row = self._replace(pruned_sequence=upto)
        return row._replace(checksum=checksum(*row[:_CHECKED]))

    def head(self, live: bool, updated_at_ms: int | None = None, status: Status | None = None) -> Head:
        """The branch as readers get it; without `updated_at_ms` and `status`, as of the last change of its row."""
        return Head(
            self.no,
            self.thread_id,
            self.branch_id,
            self.graph,
            Status(self.status) if status is None else status,
            self.epoch,
            self.sequence,
            live,
            self.created_at_ms,
            self.changed_at_ms if updated_at_ms is None else updated_at_ms,
        )
