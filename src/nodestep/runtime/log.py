"""What one run writes on its branch: records in order, each under the lease that the run took with its claim."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ..engine.replay import record_to_bytes
from ..errors import LeaseLostError, StateStoreError, ThreadCancelledError
from ..model.event import Fact
from ..model.ids import event_id
from ..stores.base import Holding, QuestionRow, Receipt, Refused, StateStore, Status, Write
from .committer import Committer, Ticket, committer_of

SNAPSHOT_FROM_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """What one commit of a run says; `status` other than RUNNING gives the lease back."""

    facts: Sequence[Fact]
    status: Status = Status.RUNNING
    opens: tuple[QuestionRow, ...] = ()
    snapshot: bytes | None = None


class RunLog:
    """`write` is for code that may block, `awrite` for the event loop. Both number the records in the order of the calls,
    and raise LeaseLostError or ThreadCancelledError when the branch is no longer this run's. `closed` says that the run
    has given its branch back, or lost it."""

    def __init__(
        self,
        store: StateStore,
        thread_id: str,
        branch_id: str,
        claim: Receipt,
        *,
        bytes_since_snapshot: int,
        snapshot_bytes: int,
    ) -> None:
        self.store = store
        self.thread_id = thread_id
        self.branch_id = branch_id
        self.no = claim.no
        self.epoch = claim.epoch
        self.sequence = claim.sequence
        self._since_snapshot = bytes_since_snapshot
        self._snapshot_bytes = snapshot_bytes
        self.closed = False
        self._committer: Committer | None = None
        self._in_flight: Ticket | None = None
        self._order: asyncio.Lock | None = None

    @property
    def checkpoint_id(self) -> str:
        """The id of the last event written."""
        return event_id(self.no, self.sequence)

    def wants_snapshot(self) -> bool:
        """Whether the records since the last snapshot exceed 16 KiB and twice that snapshot's size."""
        return self._since_snapshot > SNAPSHOT_FROM_BYTES and self._since_snapshot > 2 * self._snapshot_bytes

    def write(self, entry: Entry) -> Receipt:
        """Commit and wait for it."""
        self._finish()
        write = self._compose(entry)
        return self._take(write, self.store.commit([write])[0])

    async def awrite(self, entry: Entry) -> Receipt:
        """The same without blocking the event loop."""
        if self.store.instant:
            return self.write(entry)
        if self._order is None:
            self._order = asyncio.Lock()
        async with self._order:
            self._finish()
            self._committer = committer_of(self.store)
            ticket = self._in_flight = self._committer.submit(self._compose(entry))
            await ticket.future
            return self._settle(ticket)

    def _finish(self) -> None:
        """Wait for the write that a cancelled, or a still waiting, `awrite` has under way."""
        if self._in_flight is not None and self._committer is not None:
            self._committer.finish(self._in_flight)
            self._settle(self._in_flight)

    def _compose(self, entry: Entry) -> Write:
        guard = Holding(self.no, self.epoch, self.sequence)
        record = record_to_bytes(entry.facts)
        return Write(
            self.thread_id, self.branch_id, guard, entry.status, record, opens=entry.opens, snapshot=entry.snapshot
        )

    def _settle(self, ticket: Ticket) -> Receipt:
        """Take a ticket's answer, once: a run that was cancelled while it waited leaves that to the next write."""
        if ticket is self._in_flight:
            self._in_flight = None
            return self._take(ticket.write, ticket.answer)
        assert isinstance(ticket.answer, Receipt)
        return ticket.answer

    def _take(self, write: Write, answer: Receipt | Refused | BaseException | None) -> Receipt:
        match answer:
            case Receipt():
                self.sequence = answer.sequence
                self.closed = write.status is not Status.RUNNING
                if write.snapshot is None:
                    self._since_snapshot += len(write.record)
                else:
                    self._since_snapshot, self._snapshot_bytes = 0, len(write.snapshot)
                return answer
            case Refused(head):
                self.closed = True
                if head is not None and head.status is Status.CANCELLED:
                    raise ThreadCancelledError(
                        f"Thread {self.thread_id!r} was cancelled while this run worked on it. The run stopped, and wrote "
                        "nothing after the cancellation."
                    )
                raise LeaseLostError(
                    f"Another process took over thread {self.thread_id!r}, or the thread was deleted: this run's lease had "
                    "ended. The run stopped and wrote nothing more; read the thread to see how it went on."
                )
            case BaseException():
                raise answer
        raise StateStoreError("A commit came back without an answer.")
