"""What one run writes on its branch: records in order, each under the lease that the run took with its claim."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NoReturn

from msgspec import Struct

from ..engine.replay import record_to_bytes
from ..errors import LeaseLostError, ThreadCancelledError
from ..model.event import Fact
from ..model.ids import event_id
from ..stores.base import Append, AuditRow, Holding, QuestionRow, Receipt, Refused, StateStore, Status, Write
from . import lazy_asyncio as asyncio
from .committer import Answer, Committer, Ticket, committer_of

SNAPSHOT_FROM_BYTES = 16 * 1024


class Entry(Struct, frozen=True):
    """What one commit of a run says; `status` other than RUNNING gives the lease back. `undo` is called when it was not
    written after all, `then` when it was, by whoever waits for it and also where the wait was cancelled."""

    facts: Sequence[Fact]
    status: Status = Status.RUNNING
    opens: tuple[QuestionRow, ...] = ()
    closes: tuple[str, ...] = ()
    audits: tuple[AuditRow, ...] = ()
    snapshot: bytes | None = None
    undo: Callable[[], None] | None = None
    then: Callable[[], None] | None = None


class RunLog:
    """`write` is for code that may block, `awrite` for the event loop. Both number the records one after another, whichever
    threads they are called from, and raise LeaseLostError or ThreadCancelledError when the branch is no longer this run's.
    `closed` says that the run has given its branch back, or lost it; `lost` why it lost it."""

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
        self.closed = False
        self.lost: LeaseLostError | ThreadCancelledError | None = None
        self._since_snapshot = bytes_since_snapshot
        self._snapshot_bytes = snapshot_bytes
        self.numbering = threading.Lock()
        self._order: asyncio.Lock | None = None
        self._in_flight: Ticket | None = None

    @property
    def checkpoint_id(self) -> str:
        """The id of the last event written."""
        return event_id(self.no, self.sequence)

    def wants_snapshot(self) -> bool:
        """Whether the records since the last snapshot exceed 16 KiB and twice that snapshot's size."""
        return self._since_snapshot > SNAPSHOT_FROM_BYTES and self._since_snapshot > 2 * self._snapshot_bytes

    def settle(self) -> None:
        """Wait, blocking, for the write that is under way."""
        if self._in_flight is not None:
            self._in_flight.settle()

    def write(self, entry: Entry) -> Receipt:
        """Commit and wait for it."""
        if self._in_flight is not None:
            self._in_flight.settle()
        with self.numbering:  # a `try` right below would be a line on which an interrupt leaves the lock taken
            answer = self._commit(entry)
        return self._received(entry, answer) if isinstance(answer, Receipt) else self._lose(answer)

    def _commit(self, entry: Entry) -> Receipt | Refused:
        try:
            write = self.numbered(entry)
            (answer,) = self.store.commit((write,))
        except BaseException:
            if entry.undo is not None:
                entry.undo()
            raise
        self.take(entry, write, answer)
        return answer

    async def awrite(self, make: Callable[[], Entry | None]) -> Receipt | None:
        """The same without blocking the event loop. `make` is asked for the entry when its turn has come, so that what is
        cancelled before is still the caller's; `None` is nothing to write."""
        if self.store.instant:
            made = make()
            return None if made is None else self.write(made)
        if self._order is None:
            self._order = asyncio.Lock()
            self._committer = committer_of(self.store)
        async with self._order:
            entry = make()
            if entry is None:
                return None
            self._in_flight = ticket = _EntryTicket(self._committer, self, entry)
            try:
                answer = await ticket
            finally:
                ticket.settle()
                if isinstance(ticket.answer, Receipt):
                    self._received(entry, ticket.answer)
            return answer if isinstance(answer, Receipt) else self._lose(answer)

    def _received(self, entry: Entry, receipt: Receipt) -> Receipt:
        if entry.then is not None:
            entry.then()
        return receipt

    def numbered(self, entry: Entry) -> Write | Append:
        """The write of an entry, numbered after the last. Whoever asks holds `numbering` until `take`."""
        record = record_to_bytes(entry.facts)
        if entry.status is Status.RUNNING and not (entry.opens or entry.closes or entry.audits):
            return Append(self.no, self.epoch, self.sequence, record, entry.snapshot)
        return Write(
            self.thread_id,
            self.branch_id,
            Holding(self.no, self.epoch, self.sequence),
            entry.status,
            record,
            opens=entry.opens,
            closes=entry.closes,
            audits=entry.audits,
            snapshot=entry.snapshot,
        )

    def take(self, entry: Entry, write: Write | Append, answer: Receipt | Refused) -> None:
        """Stand where the answer to a write says."""
        if isinstance(answer, Refused):
            self.closed = True
            self.lost = _lost(self.thread_id, answer)
            if entry.undo is not None:
                entry.undo()
            return
        self.sequence = answer.sequence
        self.closed = entry.status is not Status.RUNNING
        if write.snapshot is None:
            self._since_snapshot += len(write.record)
        else:
            self._since_snapshot, self._snapshot_bytes = 0, len(write.snapshot)

    def _lose(self, refused: Refused) -> NoReturn:
        raise _lost(self.thread_id, refused)


class _EntryTicket(Ticket):
    """An entry on its way into its log."""

    __slots__ = ("_entry", "_log", "_write")

    def __init__(self, committer: Committer, log: RunLog, entry: Entry) -> None:
        super().__init__(committer, log.store)
        self._log = log
        self._entry = entry
        self._write: Write | Append | None = None

    def begin(self) -> Write | Append:
        self._log.numbering.acquire()
        self._write = self._log.numbered(self._entry)
        return self._write

    def end(self, answer: Answer) -> None:
        super().end(answer)
        if self._write is not None and isinstance(answer, Receipt | Refused):
            self._log.take(self._entry, self._write, answer)
        elif self._entry.undo is not None:
            self._entry.undo()
        self._log.numbering.release()


def _lost(thread_id: str, refused: Refused) -> LeaseLostError | ThreadCancelledError:
    """Why the branch is no longer this run's."""
    if refused.head is not None and refused.head.status is Status.CANCELLED:
        return ThreadCancelledError(
            f"Thread {thread_id!r} was cancelled while this run worked on it. The run stopped, and wrote nothing after the "
            "cancellation."
        )
    return LeaseLostError(
        f"Another process took over thread {thread_id!r}, or the thread was deleted: this run's lease had ended. The run "
        "stopped and wrote nothing more; read the thread to see how it went on."
    )
