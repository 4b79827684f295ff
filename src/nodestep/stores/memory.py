"""A store in the memory of this process: every promise of `base.py` except that it outlives the process.

Knows no disk and no SQL. One lock guards everything; what may be refused as malformed is encoded before it is taken.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from heapq import nsmallest
from itertools import islice
from typing import NoReturn, Self

from ..errors import StateStoreError, UnknownEventError
from .base import Append, Audited, Head, Listed, ListedBranch, Receipt, Record, Refused, Status, Stored, Write
from .clock import SYSTEM_CLOCK, Clock
from .memory_branch import Branch
from .memory_threads import HeldThreads
from .os_fork import watch_forks
from .prepared import Prepared
from .pruning import Cut
from .questions import decoded
from .standing import standing


class InMemoryStateStore:
    """Keeps threads in this process, and forgets them with it; `lease_s` is in seconds."""

    def __init__(self, *, lease_s: float = 30, clock: Clock = SYSTEM_CLOCK) -> None:
        self._lease_s = lease_s
        self._clock = clock
        self._id = secrets.token_hex(16)
        self._lock = threading.Lock()
        self._open: HeldThreads | None = HeldThreads(clock, int(lease_s * 1000))
        watch_forks(self)

    def before_fork(self) -> None:
        """Let nobody write meanwhile: the child has a copy of its own, and it is whole."""
        self._lock.acquire()

    def after_fork_in_parent(self) -> None:
        """Go on."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Go on."""
        self._lock.release()

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

    def commit(self, writes: Sequence[Write | Append]) -> list[Receipt | Refused]:
        """Make the writes and answer each in order."""
        at_ms = self._clock.wall_ms()
        if len(writes) == 1 and isinstance(writes[0], Append):  # by far the most frequent
            with self._lock:
                return [self._held().append(writes[0], at_ms)]
        prepared = [write if isinstance(write, Append) else Prepared(write, at_ms) for write in writes]
        with self._lock:
            held = self._held()
            return [held.append(write, at_ms) if isinstance(write, Append) else held.write(write) for write in prepared]

    def read(self, thread_id: str, branch_id: str, upto: int | None = None) -> Stored | None:
        """The branch at record `upto`, or `None` for an unknown branch. Raises UnknownEventError."""
        with self._lock:
            held = self._held()
            branch = held.find(thread_id, branch_id)
            if branch is None:
                return None
            last = branch.sequence if upto is None else upto
            if not branch.is_readable(last):
                _refuse_event(branch, last)
            sequence, snapshot = branch.newest_snapshot(last)
            records = branch.history(sequence, last)
            head = held.head(branch)
            open_now = list(branch.questions.values())
        open_now.sort(key=lambda question: (question.pause, question.key))
        questions = decoded(question.listed(branch) for question in open_now)
        return Stored(head, snapshot, sequence, records, tuple(item.question for item in questions))

    def head(self, thread_id: str, branch_id: str) -> Head | None:
        """The branch's row, or `None` for an unknown branch."""
        with self._lock:
            held = self._held()
            branch = held.find(thread_id, branch_id)
            return None if branch is None else held.head(branch)

    def records(self, thread_id: str, branch_id: str, *, after: int = 0, limit: int = 1000) -> tuple[Record, ...]:
        """A page of the branch's records in order, from sequence `after + 1` on; none for an unknown branch."""
        with self._lock:
            branch = self._held().find(thread_id, branch_id)
            if branch is None:
                return ()
            after = max(after, branch.pruned_upto(branch.sequence))
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
        """A page of open questions, oldest first, without what has expired."""
        now_ms = self.now_ms()
        with self._lock:
            held = self._held()
            branches = held.asking() if thread_id is None else held.of_thread(thread_id)
            found = [
                ((question.pause, branch.no, question.key), branch, question)
                for branch in branches
                if (branch_id is None or branch.branch_id == branch_id) and (graph is None or branch.graph == graph)
                for question in branch.questions.values()
                if (assignee is None or question.assignee == assignee)
                and (asked_before_ms is None or question.asked_at_ms < asked_before_ms)
                and question.waits(now_ms)
            ]
        page = nsmallest(
            limit,
            (item for item in found if after is None or item[0] > after),
            key=lambda item: item[0],
        )
        return tuple(decoded(question.listed(branch) for _, branch, question in page))

    def branch_rows(self, thread_id: str) -> tuple[ListedBranch, ...]:
        """The branches of a thread, oldest first; none for an unknown thread."""
        with self._lock:
            held = self._held()
            return tuple(branch.listed(held.live(branch)) for branch in held.of_thread(thread_id))

    def thread_rows(
        self, *, graph: str | None = None, status: Status | None = None, limit: int = 100, after: int | None = None
    ) -> tuple[Head, ...]:
        """A page of threads, newest first."""
        now_ms = self.now_ms()
        with self._lock:
            held = self._held()
            heads = (
                _standing(branch, held.live(branch), now_ms)
                for branch in held.newest_first(after)
                if branch.branch_id == "main" and (graph is None or branch.graph == graph)
            )
            return tuple(islice((head for head in heads if status in (None, head.status)), max(limit, 0)))

    def audit_rows(
        self, thread_id: str | None = None, *, limit: int = 100, after: int | None = None
    ) -> tuple[Audited, ...]:
        """A page of decisions, oldest first."""
        with self._lock:
            held = self._held()
            found = held.answers(after or 0) if thread_id is None else held.answers_in(thread_id, after or 0)
            page = list(islice(found, max(limit, 0)))
        return tuple(answer.listed(number, branch.thread_id, branch.branch_id) for number, branch, answer in page)

    def delete_rows(self, thread_id: str) -> tuple[Head, ...]:
        """Drop a thread unless one of its branches is live; returns the branches that were there."""
        with self._lock:
            held = self._held()
            branches = held.of_thread(thread_id)
            heads = tuple(branch.head(held.live(branch), branch.changed_at_ms) for branch in branches)
            if not any(head.live for head in heads):
                held.drop(thread_id)
            return heads

    def prune_rows(self, no: int, first: int, snapshots: Sequence[tuple[int, bytes]]) -> bool:
        """Make `first` the first record of a branch. Raises ValueError without a snapshot for the record before."""
        cut = Cut.of(first, snapshots)
        with self._lock:
            held = self._held()
            branch = held.by_no(no)
            if branch is None or first <= branch.before + 1:
                return True
            cut.check_end(branch.sequence)
            points = (other.leaves(branch) for other in held.of_thread(branch.thread_id))
            return branch.prune(cut, {point for point in points if point is not None and point < first})

    def renew(self, held: Sequence[tuple[int, int]]) -> list[bool]:
        """Extend the leases named by (branch no, epoch); says for each whether it is still held."""
        with self._lock:
            threads = self._held()
            return [threads.renew(no, epoch) for no, epoch in held]

    def close(self) -> None:
        """Forget everything. A closed store raises StateStoreError."""
        with self._lock:
            self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _held(self) -> HeldThreads:
        if self._open is None:
            raise StateStoreError("This InMemoryStateStore is closed, and what it held is gone. Make a new one.")
        return self._open


def _standing(branch: Branch, live: bool, now_ms: int) -> Head:
    """The branch's head with the status that a call would find."""
    waits = any(question.waits(now_ms) for question in branch.questions.values())
    status = standing(branch.status, live, bool(branch.questions), waits)
    return branch.head(live, branch.changed_at_ms, status)


def _refuse_event(branch: Branch, sequence: int) -> NoReturn:
    raise UnknownEventError(
        f"Branch {branch.branch_id!r} of thread {branch.thread_id!r} has no event {sequence}, or it was pruned; its last "
        f"is {branch.sequence}. history() lists the events that can be loaded."
    )
