"""A store in the memory of this process: every promise of `base.py` except that it outlives the process.

Knows no disk and no SQL. One lock guards everything; nothing under it can fail half-way, because what may be refused
as malformed is encoded before.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import NoReturn, Self

from ..errors import StateStoreError, UnknownEventError
from .base import (
    Head,
    Holding,
    Listed,
    New,
    Receipt,
    Record,
    Refused,
    Status,
    Stored,
    Unchanged,
    Write,
)
from .clock import SYSTEM_CLOCK, Clock
from .questions import KeptQuestion, Opening

_NOTHING_OPENS = Opening(())


@dataclass(slots=True)
class _Branch:
    """A branch and its own records; those up to `fork_sequence` are found in its parent."""

    no: int
    thread_id: str
    branch_id: str
    graph: str
    created_at_ms: int
    parent: _Branch | None = None
    fork_sequence: int = 0
    status: Status = Status.READY
    epoch: int = 0
    lease_until_ms: int = 0
    records: list[Record] = field(default_factory=list)
    snapshots: list[tuple[int, bytes]] = field(default_factory=list)
    questions: dict[str, KeptQuestion] = field(default_factory=dict)

    @property
    def sequence(self) -> int:
        return self.fork_sequence + len(self.records)

    def lineage(self, last: int) -> Iterator[tuple[_Branch, int]]:
        """This branch and its parents, youngest first, each with the last sequence that counts in it."""
        branch: _Branch | None = self
        while branch is not None:
            yield branch, last
            last = min(last, branch.fork_sequence)
            branch = branch.parent

    def history(self, after: int, last: int) -> tuple[Record, ...]:
        """The records from `after + 1` to `last`, oldest first, parents' included."""
        parts = [
            branch.records[max(after - branch.fork_sequence, 0) : end - branch.fork_sequence]
            for branch, end in self.lineage(last)
            if end > branch.fork_sequence
        ]
        return tuple(record for part in reversed(parts) for record in part)

    def newest_snapshot(self, last: int) -> tuple[int, bytes | None]:
        for branch, end in self.lineage(last):
            for sequence, body in reversed(branch.snapshots):
                if sequence <= end:
                    return sequence, body
        return 0, None


class InMemoryStateStore:
    """Keeps threads in this process, and forgets them with it; `lease_s` is in seconds."""

    def __init__(self, *, lease_s: float = 30, clock: Clock = SYSTEM_CLOCK) -> None:
        self._lease_s = lease_s
        self._clock = clock
        self._id = secrets.token_hex(16)
        self._lock = threading.Lock()
        self._branches: dict[tuple[str, str], _Branch] = {}
        self._by_no: dict[int, _Branch] = {}
        self._last_no = 0
        self._last_pause = 0
        self._closed = False

    @property
    def lease_s(self) -> float:
        """How long a lease lasts without renewal, in seconds."""
        return self._lease_s

    @property
    def instant(self) -> bool:
        """True: no call waits for anything."""
        return True

    @property
    def id(self) -> str:
        """A random text made with the store."""
        return self._id

    def now_ms(self) -> int:
        """The store's wall clock, Unix milliseconds."""
        return self._clock.wall_ms()

    def commit(self, writes: Sequence[Write]) -> list[Receipt | Refused]:
        """Make the writes and answer each in order."""
        openings = [Opening(write.opens) if write.opens else _NOTHING_OPENS for write in writes]
        at_ms = self._clock.wall_ms()
        with self._lock:
            self._check_open()
            return [self._write(*item, at_ms) for item in zip(writes, openings, strict=True)]

    def read(self, thread_id: str, branch_id: str, upto: int | None = None) -> Stored | None:
        """The branch at record `upto`, or `None` for an unknown branch. Raises UnknownEventError."""
        with self._lock:
            self._check_open()
            branch = self._branches.get((thread_id, branch_id))
            if branch is None:
                return None
            last = branch.sequence if upto is None else upto
            if not 1 <= last <= branch.sequence:
                _refuse_event(branch, last)
            sequence, snapshot = branch.newest_snapshot(last)
            records = branch.history(sequence, last)
            head = self._head(branch)
            open_now = list(branch.questions.values())
        questions = sorted(open_now, key=lambda question: (question.pause, question.key))
        return Stored(head, snapshot, sequence, records, tuple(kept.row() for kept in questions))

    def head(self, thread_id: str, branch_id: str) -> Head | None:
        """The branch's row, or `None` for an unknown branch."""
        with self._lock:
            self._check_open()
            branch = self._branches.get((thread_id, branch_id))
            return None if branch is None else self._head(branch)

    def records(self, thread_id: str, branch_id: str, *, after: int = 0, limit: int = 1000) -> tuple[Record, ...]:
        """A page of the branch's records in order, from sequence `after + 1` on; none for an unknown branch."""
        with self._lock:
            self._check_open()
            branch = self._branches.get((thread_id, branch_id))
            if branch is None:
                return ()
            after = max(after, 0)
            return branch.history(after, min(after + max(limit, 0), branch.sequence))

    def questions(
        self,
        thread_id: str | None = None,
        *,
        branch_id: str | None = None,
        graph: str | None = None,
        assignee: str | None = None,
        asked_before_ms: int | None = None,
        limit: int = 100,
        after: tuple[int, int, str] | None = None,
    ) -> tuple[Listed, ...]:
        """A page of open questions, oldest first."""
        with self._lock:
            self._check_open()
            found = [
                ((question.pause, branch.no, question.key), branch, question)
                for branch in self._by_no.values()
                if (thread_id is None or branch.thread_id == thread_id)
                and (branch_id is None or branch.branch_id == branch_id)
                and (graph is None or branch.graph == graph)
                for question in branch.questions.values()
                if (assignee is None or question.assignee == assignee)
                and (asked_before_ms is None or question.asked_at_ms < asked_before_ms)
            ]
        page = nsmallest(
            limit,
            (item for item in found if after is None or item[0] > after),
            key=lambda item: item[0],
        )
        return tuple(
            Listed(branch.no, branch.thread_id, branch.branch_id, branch.graph, question.row())
            for _, branch, question in page
        )

    def renew(self, held: Sequence[tuple[int, int]]) -> list[bool]:
        """Extend the leases named by (branch no, epoch); says for each whether it is still held."""
        with self._lock:
            self._check_open()
            until_ms = self._lease_end_ms()
            answers = []
            for no, epoch in held:
                branch = self._by_no.get(no)
                still = branch is not None and branch.epoch == epoch and branch.status is Status.RUNNING
                if branch is not None and still:
                    branch.lease_until_ms = until_ms
                answers.append(still)
            return answers

    def close(self) -> None:
        """Forget everything. A closed store raises StateStoreError."""
        with self._lock:
            self._closed = True
            self._branches.clear()
            self._by_no.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StateStoreError("This InMemoryStateStore is closed, and what it held is gone. Make a new one.")

    def _lease_end_ms(self) -> int:
        return self._clock.lease_ms() + int(self._lease_s * 1000)

    def _live(self, branch: _Branch) -> bool:
        left_ms = branch.lease_until_ms - self._clock.lease_ms()
        return branch.status is Status.RUNNING and 0 < left_ms <= int(self._lease_s * 1000)

    def _head(self, branch: _Branch) -> Head:
        return Head(
            branch.no,
            branch.thread_id,
            branch.branch_id,
            branch.graph,
            branch.status,
            branch.epoch,
            branch.sequence,
            self._live(branch),
            branch.created_at_ms,
            branch.records[-1].at_ms if branch.records else branch.created_at_ms,
        )

    def _admit(self, write: Write, branch: _Branch | None, at_ms: int) -> _Branch | None:
        """The branch that the write may change, or `None` where its guard does not hold."""
        match write.guard:
            case New(graph):
                return None if branch is not None else self._new_branch(write, graph, at_ms)
            case Unchanged(no, epoch, sequence):
                seen = branch is not None and not self._live(branch)
            case Holding(no, epoch, sequence):
                seen = branch is not None and branch.status is Status.RUNNING
        if branch is None or not seen:
            return None
        same = (branch.no, branch.epoch, branch.sequence) == (no, epoch, sequence)
        return branch if same else None

    def _new_branch(self, write: Write, graph: str, at_ms: int) -> _Branch:
        self._last_no += 1
        branch = _Branch(self._last_no, write.thread_id, write.branch_id, graph, at_ms)
        self._branches[write.thread_id, write.branch_id] = branch
        self._by_no[branch.no] = branch
        return branch

    def _write(self, write: Write, opening: Opening, at_ms: int) -> Receipt | Refused:
        found = self._branches.get((write.thread_id, write.branch_id))
        branch = self._admit(write, found, at_ms)
        if branch is None:
            return Refused(None if found is None else self._head(found))
        if not isinstance(write.guard, Holding):
            self._take_over(branch, write.status)
        branch.status = write.status
        pause = None
        if opening.needs_number:
            self._last_pause = pause = self._last_pause + 1
        sequence = branch.sequence + 1
        branch.records.append(Record(branch.no, sequence, at_ms, write.record, pause))
        if write.snapshot is not None:
            branch.snapshots.append((sequence, write.snapshot))
        for key in write.closes:
            branch.questions.pop(key, None)
        for question in opening.kept(pause, at_ms):
            branch.questions[question.key] = question
        return Receipt(branch.no, branch.epoch, sequence, at_ms, pause)

    def _take_over(self, branch: _Branch, status: Status) -> None:
        """A claim gets the next epoch; so does an edit after a run that was cut off, to fence that run out."""
        if Status.RUNNING in (status, branch.status):
            branch.epoch += 1
        if status is Status.RUNNING:
            branch.lease_until_ms = self._lease_end_ms()


def _refuse_event(branch: _Branch, sequence: int) -> NoReturn:
    raise UnknownEventError(
        f"Branch {branch.branch_id!r} of thread {branch.thread_id!r} has no event {sequence}; its last is "
        f"{branch.sequence}. history() lists the events that can be loaded."
    )
