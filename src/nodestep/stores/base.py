"""What a store promises: rows and queries, atomically and durably. It never replays, and knows no graph.

A store is a small blocking object that many threads may use at once. A *record* is the bytes of one commit of a branch;
the store numbers the records of a branch from 1 without gaps (a fork goes on from where it left its parent), keeps them in
order, and returns exactly the bytes it was given or raises StoreCorruptedError.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from msgspec import Struct

from ..model.json import Json, JsonObject
from ..model.status import Status as Status


class QuestionRow(NamedTuple):
    """An open question. `pause` is `None` until the store has numbered it. Instants are Unix milliseconds by the store's
    clock."""

    key: str
    id: str
    node: str
    task_id: str
    payload: Json
    answer_schema: JsonObject | None = None
    assignee: str | None = None
    expires_at_ms: int | None = None
    pause: int | None = None
    asked_at_ms: int | None = None


class Head(Struct, frozen=True):
    """A branch as its row tells. `no` is never given twice by a store, not even after a delete. `epoch` grows with every
    claim and is the fencing token of its owner; `live` says whether a lease is held right now (an owner known to be dead
    does not count). `sequence` is the number of the last record, `updated_at_ms` its time; in lists of branches and
    threads it is when the run began that is under way or was cut off."""

    no: int
    thread_id: str
    branch_id: str
    graph: str
    status: Status
    epoch: int
    sequence: int
    live: bool
    created_at_ms: int
    updated_at_ms: int


class Record(Struct, frozen=True):
    """One commit of a branch, and which branch of the lineage holds it. `pause` is the number the store gave to the
    questions that this commit opened."""

    branch_no: int
    sequence: int
    at_ms: int
    body: bytes
    pause: int | None = None


class Stored(Struct, frozen=True):
    """A branch read in one consistent look: the newest snapshot at or before the point asked for (with its sequence, 0
    and `None` without one), the records after it up to that point, and the open questions of the branch now."""

    head: Head
    snapshot: bytes | None
    snapshot_sequence: int
    records: tuple[Record, ...]
    questions: tuple[QuestionRow, ...]


class New(Struct, frozen=True):
    """The branch must not exist yet; `graph` is the name of the graph that starts it."""

    graph: str


class Unchanged(Struct, frozen=True):
    """The branch must be exactly as it was read, and nobody may hold a live lease on it."""

    no: int
    epoch: int
    sequence: int


class Holding(Struct, frozen=True):
    """The writer must still hold the lease that it took with this epoch. `sequence` is the last record it wrote."""

    no: int
    epoch: int
    sequence: int


class ForkOf(Struct, frozen=True):
    """The branch must not exist yet; it begins as a copy of where its parent stood at a record, and its own records go on
    from that number. It bears the graph name of its parent. Nothing is copied but what the write itself carries."""

    parent_no: int
    sequence: int


class Fenced(Struct, frozen=True):
    """The branch with this number, unless it is completed or cancelled, whoever works on it: the epoch grows, so that an
    owner finds its lease gone at its next write. The store gives the record the next number itself; with the status
    CANCELLED it also closes every question of the branch."""

    no: int


ENDED: Final = frozenset({Status.COMPLETED, Status.CANCELLED})
"""Where nothing is left to fence."""

Guard: TypeAlias = New | Unchanged | Holding | ForkOf | Fenced


class AuditRow(Struct, frozen=True):
    """One decision about one question: the value, who gave it (`None`: not told) and why, and where from: `api`, `cli`,
    `page`, `hook` or `expiry`. `pause` is that of the question; `rejected` tells why its type refused the answer later."""

    key: str
    value: Json
    source: str
    by: str | None = None
    note: str | None = None
    pause: int | None = None
    rejected: str | None = None


class Write(Struct, frozen=True):
    """One atomic change of one branch: a record is appended, and its row and questions change with it.

    `status=RUNNING` takes the lease (the epoch grows by one), save that under `Holding` it keeps it; any other status drops
    it. `opens` are numbered together with one new pause number; a row that already carries a `pause`
    keeps it. `closes` names keys that are no longer open. `audits` are kept for good, also when records are pruned.
    `snapshot` is stored for the sequence of this record.
    """

    thread_id: str
    branch_id: str
    guard: Guard
    status: Status
    record: bytes
    opens: tuple[QuestionRow, ...] = ()
    closes: tuple[str, ...] = ()
    audits: tuple[AuditRow, ...] = ()
    snapshot: bytes | None = None


class Append(Struct, frozen=True):
    """The write of an owner that goes on and says nothing else: a record (and its snapshot) after `sequence`, the last that
    it wrote, under the lease that it took with this epoch. The branch's row and questions stay as they are."""

    no: int
    epoch: int
    sequence: int
    record: bytes
    snapshot: bytes | None = None


class Receipt(Struct, frozen=True):
    """A write that happened: the branch, the epoch now, the record's sequence, its time, and the pause number if the
    write opened questions."""

    no: int
    epoch: int
    sequence: int
    at_ms: int
    pause: int | None = None


class Refused(Struct, frozen=True):
    """A write whose guard did not hold, with the branch as it is now (`None`: there is none). Nothing of it was
    written."""

    head: Head | None


class Listed(NamedTuple):
    """An open question with the branch it belongs to: one flat row, since pages of them are read often."""

    branch_no: int
    thread_id: str
    branch_id: str
    graph: str
    key: str
    id: str
    node: str
    task_id: str
    payload: Json
    answer_schema: Json
    assignee: str | None
    expires_at_ms: int | None
    pause: int
    asked_at_ms: int

    @property
    def question(self) -> QuestionRow:
        """The question alone."""
        return QuestionRow(*self[4:])


class ListedBranch(Struct, frozen=True):
    """A branch with where it comes from; both are `None` for a branch that is no fork. `first` is the number of the first
    record that was not pruned."""

    head: Head
    parent_branch_id: str | None
    parent_no: int | None
    fork_sequence: int | None
    first: int


class Audited(Struct, frozen=True):
    """A decision with where and when; `number` grows with every decision of the store and is its place in a page."""

    number: int
    thread_id: str
    branch_id: str
    at_ms: int
    row: AuditRow


class StateStore(Protocol):
    """The protocol. Every method may raise StoreBusyError, StoreFullError, StoreCorruptedError or StateStoreError.

    `lease_s` is how long a lease lasts without renewal; `instant` says that calls never wait for a disk or a network, so
    that an event loop may make them directly.
    """

    @property
    def lease_s(self) -> float: ...

    @property
    def instant(self) -> bool: ...

    @property
    def id(self) -> str:
        """A random text made with the store, the same for everyone who opens it."""

    def now_ms(self) -> int:
        """The store's clock, Unix milliseconds."""

    def commit(self, writes: Sequence[Write | Append]) -> list[Receipt | Refused]:
        """Make the writes durable and answer each in order. What is ready from several threads shares one transaction.
        A refused write leaves the others alone; an error raised means that nothing of this list was written."""

    def read(self, thread_id: str, branch_id: str, upto: int | None = None) -> Stored | None:
        """The branch at record `upto` (the last one without it), or `None` for an unknown branch. Records shared with
        parents are found through them. Raises UnknownEventError for an `upto` beyond the last or pruned."""

    def head(self, thread_id: str, branch_id: str) -> Head | None:
        """The branch's row, or `None` for an unknown branch."""

    def records(self, thread_id: str, branch_id: str, *, after: int = 0, limit: int = 1000) -> tuple[Record, ...]:
        """A page of the branch's records in order, from sequence `after + 1` on; an open page never holds a lock."""

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
        """A page of open questions, oldest first: ordered by pause, branch number and key. `after` is that triple of the
        last question seen. A question is left out from its `expires_at_ms` on."""

    def branch_rows(self, thread_id: str) -> tuple[ListedBranch, ...]:
        """The branches of a thread, oldest first; none for an unknown thread."""

    def thread_rows(
        self, *, graph: str | None = None, status: Status | None = None, limit: int = 100, after: int | None = None
    ) -> tuple[Head, ...]:
        """A page of threads, newest first: the heads of their `"main"` branches, with the status a call would find:
        `RUNNING` without a live lease reads `UNFINISHED`, a branch at rest with only expired questions `READY`. `after` is
        the branch number of the last one seen."""

    def audit_rows(
        self, thread_id: str | None = None, *, limit: int = 100, after: int | None = None
    ) -> tuple[Audited, ...]:
        """A page of decisions, oldest first; `after` is the number of the last one seen."""

    def delete_rows(self, thread_id: str) -> tuple[Head, ...]:
        """Drop all branches of a thread with everything of theirs, unless one of them has a live lease. Returns the heads
        that were there; with a live one among them nothing was deleted. The thread is gone at once; space is given
        back in small steps that let other writers through, and a process that dies meanwhile leaves no more than rows
        that the next delete sweeps up."""

    def prune_rows(self, no: int, first: int, snapshots: Sequence[tuple[int, bytes]]) -> bool:
        """Make `first` the first record of a branch: the snapshots (each with the sequence it stands for, one of them for
        `first - 1`) are stored, and records and snapshots before `first`, save those given and those that forks stand on,
        go, in small steps that let other writers through. Reading at a number before `first` raises UnknownEventError,
        except where a snapshot stands for it. False, with nothing done, where a fork leaves the branch at a record before
        `first` that has no snapshot and got none. Of a branch that is gone, or begins there already, nothing is to be
        done. Raises ValueError without the snapshot for `first - 1`, or if not even the last record would stay."""

    def renew(self, held: Sequence[tuple[int, int]]) -> list[bool]:
        """Extend the leases named by (branch no, epoch); says for each whether it is still held."""

    def close(self) -> None:
        """Let go of what the store holds. A closed store raises StateStoreError."""
