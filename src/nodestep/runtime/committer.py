"""Commits, from the runs of one event loop to a store that blocks.

Under an event loop the writes of all runs meet in a `Committer`: what is ready when the last commit returns goes into the
next one. One write that cannot be stored never fails the others.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from ..stores.base import Receipt, Refused, StateStore, Write
from .pool import STORES


class Ticket:
    """A write on its way. `arrived` is set, by whichever thread committed it, as soon as `answer` is known; `future`
    tells the event loop the same."""

    __slots__ = ("answer", "arrived", "future", "write")

    def __init__(self, write: Write, future: asyncio.Future[None]) -> None:
        self.write = write
        self.future = future
        self.arrived = threading.Event()
        self.answer: Receipt | Refused | BaseException | None = None


class Committer:
    """The writes of one event loop to one store."""

    def __init__(self, store: StateStore) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._queue: list[Ticket] = []
        self._working = False

    def submit(self, write: Write) -> Ticket:
        """Queue a write. What gets ready in the same pass of the loop, or while a commit is under way, is committed
        together."""
        loop = asyncio.get_running_loop()
        ticket = Ticket(write, loop.create_future())
        with self._lock:
            self._queue.append(ticket)
            if self._working:
                return ticket
            self._working = True
        loop.call_soon(STORES.submit, lambda: self._work(loop))
        return ticket

    def finish(self, ticket: Ticket) -> None:
        """Wait for a ticket without the event loop: one still queued is committed here."""
        with self._lock:
            queued = ticket in self._queue
            if queued:
                self._queue.remove(ticket)
        if queued:
            _commit(self.store, [ticket])
        else:
            ticket.arrived.wait()

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            with self._lock:
                batch, self._queue = self._queue, []
                if not batch:
                    self._working = False
                    return
            _commit(self.store, batch)
            try:
                loop.call_soon_threadsafe(_tell, batch)
            except RuntimeError:
                # The loop was closed meanwhile; nobody waits for these futures.
                continue


def _tell(batch: Sequence[Ticket]) -> None:
    for ticket in batch:
        if not ticket.future.done():
            ticket.future.set_result(None)


def _commit(store: StateStore, batch: Sequence[Ticket]) -> None:
    """Answer every ticket. Where the batch fails as a whole, each write is tried alone."""
    answers: Sequence[Receipt | Refused | BaseException]
    try:
        answers = store.commit([ticket.write for ticket in batch])
    except BaseException as error:
        if len(batch) > 1:
            for ticket in batch:
                _commit(store, [ticket])
            return
        answers = [error]
    for ticket, answer in zip(batch, answers, strict=True):
        ticket.answer = answer
        ticket.arrived.set()


_committers: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, Committer]] = WeakKeyDictionary()


def committer_of(store: StateStore) -> Committer:
    """The committer of the running loop for this store."""
    of_loop = _committers.setdefault(asyncio.get_running_loop(), {})
    found = of_loop.get(id(store))
    if found is None or found.store is not store:
        found = of_loop[id(store)] = Committer(store)
    return found
