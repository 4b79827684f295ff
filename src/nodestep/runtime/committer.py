"""Commits, from the runs of one event loop to a store that blocks.

Under an event loop the writes of all runs meet in a `Committer`: what is ready when the last commit returns goes into the
next one. One write that cannot be stored never fails the others.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Protocol, TypeAlias
from weakref import WeakKeyDictionary

from ..stores.base import Receipt, Refused, StateStore, Write
from .pool import STORES

Answer: TypeAlias = Receipt | Refused | BaseException


class Pending(Protocol):
    """A write that takes its final form when its turn comes. `begin` and `end` are called once each, one after the other,
    in whichever thread commits it; where `begin` raises, `end` is told that error."""

    def begin(self) -> Write:
        """The write, now."""

    def end(self, answer: Answer) -> None:
        """What came of it."""


class Ticket:
    """A pending write on its way. `arrived` is set as soon as it has ended; `future` tells the event loop the same."""

    __slots__ = ("arrived", "future", "pending", "store")

    def __init__(self, store: StateStore, pending: Pending, future: asyncio.Future[None]) -> None:
        self.store = store
        self.pending = pending
        self.future = future
        self.arrived = threading.Event()


class Committer:
    """The writes of one event loop to one store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: list[Ticket] = []
        self._working = False

    def submit(self, store: StateStore, pending: Pending) -> Ticket:
        """Queue a write. What gets ready in the same pass of the loop, or while a commit is under way, is committed
        together."""
        loop = asyncio.get_running_loop()
        ticket = Ticket(store, pending, loop.create_future())
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
            _commit([ticket])
        else:
            ticket.arrived.wait()

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            with self._lock:
                batch, self._queue = self._queue, []
                if not batch:
                    self._working = False
                    return
            _commit(batch)
            try:
                loop.call_soon_threadsafe(_tell, batch)
            except RuntimeError:
                # The loop was closed meanwhile; nobody waits for these futures.
                continue


def _tell(batch: Sequence[Ticket]) -> None:
    for ticket in batch:
        if not ticket.future.done():
            ticket.future.set_result(None)


def _commit(batch: Sequence[Ticket]) -> None:
    """Carry out every ticket. Where the batch fails as a whole, each write is tried alone."""
    store = batch[0].store
    ready: list[Ticket] = []
    writes: list[Write] = []
    for ticket in batch:
        try:
            writes.append(ticket.pending.begin())
        except BaseException as error:
            ticket.pending.end(error)
            ticket.arrived.set()
        else:
            ready.append(ticket)
    answers: Sequence[Answer]
    if not writes:
        return
    try:
        answers = store.commit(writes)
    except BaseException as error:
        answers = [error] if len(writes) == 1 else [_alone(store, write) for write in writes]
    for ticket, answer in zip(ready, answers, strict=True):
        ticket.pending.end(answer)
        ticket.arrived.set()


def _alone(store: StateStore, write: Write) -> Answer:
    try:
        (answer,) = store.commit([write])
    except BaseException as error:
        return error
    return answer


_committers: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakKeyDictionary[StateStore, Committer]]
_committers = WeakKeyDictionary()


def committer_of(store: StateStore) -> Committer:
    """The committer of the running loop for this store."""
    of_loop = _committers.setdefault(asyncio.get_running_loop(), WeakKeyDictionary())
    return of_loop.setdefault(store, Committer())
