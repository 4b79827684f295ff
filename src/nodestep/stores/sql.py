"""The store over a SQL database: what `base.py` promises, once for every dialect.

Knows transactions and queries by name, and neither a driver nor a line of SQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self, TypeVar

from ..errors import StoreBusyError
from .auditing import answers
from .base import Append, Audited, Head, Listed, ListedBranch, Receipt, Record, Refused, Status, Stored, Write
from .branch_listing import WantedThreads, listed_branches, threads
from .branches import BranchRow
from .clock import Clock
from .connection import Connection, Database
from .group import GroupCommit
from .known import Held, Known
from .leases import Leases
from .listing import Wanted, questions
from .owner import this_process
from .prepared import Prepared
from .pruning import Cut
from .reading import Reader
from .rows import Counters, damaged
from .sweeping import Sweeping, delete, prune
from .writing import Appending, Moved, Writer

T = TypeVar("T")


class _Writes:
    """The writes of one commit call, and what came of them once they are durable."""

    __slots__ = ("answers", "done", "error", "writes")

    def __init__(self, writes: Sequence[Write | Append], at_ms: int) -> None:
        self.writes = [
            Appending(write, at_ms) if isinstance(write, Append) else Prepared(write, at_ms) for write in writes
        ]
        self.answers: list[Receipt | Refused] = []
        self.done = not writes
        self.error: Exception | None = None

    def carry_out(self, writer: Writer) -> None:
        self.answers = [
            writer.append(write) if isinstance(write, Appending) else writer.write(write) for write in self.writes
        ]


class _Renewal:
    """The leases of one renew call."""

    __slots__ = ("answers", "done", "error", "held")

    def __init__(self, held: Sequence[tuple[int, int]]) -> None:
        self.held = held
        self.answers: list[bool] = []
        self.done = not held
        self.error: Exception | None = None

    def carry_out(self, writer: Writer) -> None:
        self.answers = [writer.renew(no, epoch) for no, epoch in self.held]


class SqlStateStore:
    """A store on the database it is given; `lease_s` is in seconds."""

    def __init__(self, database: Database, *, lease_s: float, clock: Clock) -> None:
        self._database = database
        self._queries = database.queries
        self._lease_s = lease_s
        self._clock = clock
        self._begin()
        self._id = self._look(self._read_counters).store_id

    def _begin(self) -> None:
        """Start with locks and an identity of this process's own."""
        self._leases = Leases.of(this_process(int(self._lease_s * 1000)), self._clock)
        self._group: GroupCommit[_Writes | _Renewal] = GroupCommit(self._execute)
        self._known = Known()

    @property
    def lease_s(self) -> float:
        """How long a lease lasts without renewal, in seconds."""
        return self._lease_s

    @property
    def instant(self) -> bool:
        """False: a call may wait for the disk or the network."""
        return False

    @property
    def id(self) -> str:
        """A random text made with the store."""
        return self._id

    def now_ms(self) -> int:
        """The store's wall clock, Unix milliseconds."""
        return self._clock.wall_ms()

    def commit(self, writes: Sequence[Write | Append]) -> list[Receipt | Refused]:
        """Make the writes durable and answer each in order."""
        job = _Writes(writes, self._clock.wall_ms())
        self._group.submit(job)
        return job.answers

    def read(self, thread_id: str, branch_id: str, upto: int | None = None) -> Stored | None:
        """The branch at record `upto`, or `None` for an unknown branch. Raises UnknownEventError."""
        look = self._look(lambda connection: Reader(connection, self._queries).look(thread_id, branch_id, upto))
        self._known.see(thread_id, branch_id, None if look is None else look.branch)
        if look is None:
            return None
        head = look.branch.head(self._leases.live(look.branch), look.updated_at_ms)
        return Stored(head, look.snapshot, look.snapshot_sequence, look.records, look.questions)

    def head(self, thread_id: str, branch_id: str) -> Head | None:
        """The branch's row, or `None` for an unknown branch."""

        def work(connection: Connection) -> tuple[BranchRow, int] | None:
            reader = Reader(connection, self._queries)
            branch = reader.branch(thread_id, branch_id)
            return None if branch is None else (branch, reader.updated_at_ms(branch))

        found = self._database.read(work)
        if found is None:
            return None
        branch, updated_at_ms = found
        return branch.head(self._leases.live(branch), updated_at_ms)

    def records(self, thread_id: str, branch_id: str, *, after: int = 0, limit: int = 1000) -> tuple[Record, ...]:
        """A page of the branch's records in order, from sequence `after + 1` on; none for an unknown branch."""
        return self._database.read(
            lambda connection: Reader(connection, self._queries).page(thread_id, branch_id, after, limit)
        )

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
        wanted = Wanted(thread_id, branch_id, graph, assignee, asked_before_ms, limit, after)
        now_ms = self.now_ms()
        return self._database.read(lambda connection: questions(connection, self._queries, wanted, now_ms))

    def branch_rows(self, thread_id: str) -> tuple[ListedBranch, ...]:
        """The branches of a thread, oldest first; none for an unknown thread."""
        return self._database.read(
            lambda connection: listed_branches(connection, self._queries, self._leases, thread_id)
        )

    def thread_rows(
        self, *, graph: str | None = None, status: Status | None = None, limit: int = 100, after: int | None = None
    ) -> tuple[Head, ...]:
        """A page of threads, newest first."""
        wanted = WantedThreads(graph, status, limit, after)
        now_ms = self.now_ms()
        return self._database.read(lambda connection: threads(connection, self._queries, self._leases, wanted, now_ms))

    def audit_rows(
        self, thread_id: str | None = None, *, limit: int = 100, after: int | None = None
    ) -> tuple[Audited, ...]:
        """A page of decisions, oldest first."""
        return self._database.read(lambda connection: answers(connection, self._queries, thread_id, limit, after))

    def delete_rows(self, thread_id: str) -> tuple[Head, ...]:
        """Drop a thread unless one of its branches is live; returns the branches that were there."""
        heads = self._change(lambda connection: delete(connection, self._queries, self._leases, thread_id))
        if not any(head.live for head in heads):
            self._sweep()
        return heads

    def prune_rows(self, no: int, first: int, snapshots: Sequence[tuple[int, bytes]]) -> bool:
        """Make `first` the first record of a branch. Raises ValueError without a snapshot for the record before."""
        cut = Cut.of(first, snapshots)
        done = self._change(lambda connection: prune(connection, self._queries, no, cut))
        if done:
            self._sweep()
        return done

    def renew(self, held: Sequence[tuple[int, int]]) -> list[bool]:
        """Extend the leases named by (branch no, epoch); says for each whether it is still held."""
        job = _Renewal(held)
        self._group.submit(job)
        return job.answers

    def close(self) -> None:
        """Let go of the database. A closed store raises StateStoreError."""
        with self._group.lead:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look(self, work: Callable[[Connection], T]) -> T:
        """Run the work on one look at the data, without waiting for somebody who writes."""
        if self._group.lead.locked():
            return self._database.read(work)
        with self._group.lead:
            return self._database.read_between_writes(work)

    def _change(self, work: Callable[[Connection], T]) -> T:
        """Run the work in a transaction of its own."""
        with self._group.lead:
            return self._database.write(work)

    def _sweep(self) -> None:
        """Free what was deleted or pruned. Between the steps, other processes get as much time as each step took. A lock
        that another holds for too long leaves the rest to the next sweep."""
        sweeping = Sweeping(self._queries)
        with suppress(StoreBusyError):
            while self._step(sweeping):
                pass

    def _step(self, sweeping: Sweeping) -> bool:
        begun = time.monotonic()
        more = self._change(sweeping.step)
        if more:
            time.sleep(time.monotonic() - begun)
        return more

    def _read_counters(self, connection: Connection) -> Counters:
        return Counters.of(connection.rows(self._queries.read_counters))

    def _execute(self, jobs: list[_Writes | _Renewal]) -> None:
        if len(jobs) == 1 and isinstance(jobs[0], _Writes) and self._append(jobs[0]):
            return
        try:
            writer = self._transact(jobs, self._known)
        except Moved as moved:
            self._known.held.pop(moved.branch.no, None)
            writer = self._by_what_is_read(jobs)
        writer.settle(self._known)
        for job in jobs:
            job.done = True

    def _by_what_is_read(self, jobs: list[_Writes | _Renewal]) -> Writer:
        try:
            return self._transact(jobs, Known())
        except Moved as moved:
            raise damaged(moved.branch.history) from None

    def _transact(self, jobs: list[_Writes | _Renewal], known: Known) -> Writer:
        def work(connection: Connection) -> Writer:
            writer = Writer(connection, self._queries, self._leases, known)
            for job in jobs:
                job.carry_out(writer)
            return writer

        return self._database.write(work)

    def _append(self, job: _Writes) -> bool:
        """Carry out a write that is one statement without a transaction around it, and whose branch this store wrote
        last. False where it is none such, or is to be refused."""
        appending = job.writes[0]
        if len(job.writes) > 1 or not isinstance(appending, Appending):
            return False
        write, held = appending.write, self._known.held.get(appending.write.no)
        if write.snapshot is not None or held is None or held[:2] != (write.epoch, write.sequence):
            return False
        if not self._database.write_one(self._queries.append_record, appending.row):
            del self._known.held[write.no]
            return False
        self._known.held[write.no] = Held(write.epoch, write.sequence + 1, held.row)
        job.answers = [appending.receipt()]
        job.done = True
        return True
