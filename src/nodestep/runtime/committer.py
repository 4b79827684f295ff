"""Commits, from the runs of event loops to a store that blocks.

The writes of all runs on a store meet in its `Committer`, which makes them in a thread of its own: what is ready when the
last commit returns goes into the next one. One write that cannot be stored never fails the others.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from queue import SimpleQueue
from typing import TypeAlias
from weakref import WeakKeyDictionary, finalize

from ..model.locks import whole_over_forks
from ..stores.base import Append, Receipt, Refused, StateStore, Write
from .elsewhere import Elsewhere, all_go_on

Answer: TypeAlias = Receipt | Refused | BaseException


class Ticket(Elsewhere[Receipt | Refused]):
    """A write on its way, which takes its final form when its turn comes. `begin` and `end` are called once each, one after
    the other, in the thread that commits it; where `begin` raises, `end` is told that error.

    Awaiting it has it committed. A caller that is cancelled meanwhile hears of that after the commit, so that it knows what
    came of it; one that is closed must `settle` it.
    """

    __slots__ = ("_arrived", "_tickets", "answer", "store")

    def __init__(self, committer: Committer, store: StateStore) -> None:
        super().__init__()
        self.store = store
        self.answer: Answer | None = None
        self._tickets = committer.tickets(store)
        self._arrived = threading.Lock()
        self._arrived.acquire()

    def begin(self) -> Write | Append:
        """The write, now."""
        raise NotImplementedError

    def end(self, answer: Answer) -> None:
        """Take what came of it."""
        self.answer = answer

    def arrive(self, answer: Answer) -> None:
        """In the committing thread: the end."""
        self.end(answer)
        self._arrived.release()

    def settle(self) -> None:
        """Wait, blocking, until it is known what came of it."""
        with self._arrived:
            pass

    def hand_over(self) -> None:
        """Have it committed."""
        self._tickets.put(self)

    def cancel(self, msg: str | None = None) -> bool:
        """Never: see above."""
        return False

    def result(self) -> Receipt | Refused:
        """The answer; raises the error that stands in its place."""
        if isinstance(self.answer, Receipt | Refused):
            return self.answer
        assert self.answer is not None
        raise self.answer


class Committer:
    """The writes to one store from all event loops."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """As if it had just been made: the child of a fork has none of its parent's threads, and none of their tickets."""
        self._tickets: SimpleQueue[Ticket | None] = SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def tickets(self, store: StateStore) -> SimpleQueue[Ticket | None]:
        """Where the committing thread takes its tickets from; it runs."""
        if self._thread is None:
            self._start(store)
        return self._tickets

    def _start(self, store: StateStore) -> None:
        with self._starting:
            if self._thread is None:
                finalize(store, self._tickets.put, None).atexit = False
                self._thread = threading.Thread(
                    target=_work, args=(self._tickets,), name="nodestep-commit", daemon=True
                )
                self._thread.start()


def _work(tickets: SimpleQueue[Ticket | None]) -> None:
    """Until the store is gone. No ticket is held while waiting for the next, since a ticket holds its store."""
    while (ticket := tickets.get()) is not None:
        _carry_out(ticket, tickets)
        del ticket


def _carry_out(first: Ticket, tickets: SimpleQueue[Ticket | None]) -> None:
    batch = [first]
    while not tickets.empty():
        ticket = tickets.get()
        assert ticket is not None  # the store is not gone before its tickets
        batch.append(ticket)
    _commit(batch)
    all_go_on(batch)


def _commit(batch: Sequence[Ticket]) -> None:
    """Carry out every ticket. Where the batch fails as a whole, each write is tried alone."""
    store = batch[0].store
    ready: list[Ticket] = []
    writes: list[Write | Append] = []
    for ticket in batch:
        try:
            writes.append(ticket.begin())
        except BaseException as error:
            ticket.arrive(error)
        else:
            ready.append(ticket)
    answers: Sequence[Answer]
    try:
        answers = store.commit(writes)
    except BaseException as error:
        answers = [error] if len(writes) == 1 else [_alone(store, write) for write in writes]
    for ticket, answer in zip(ready, answers, strict=True):
        ticket.arrive(answer)


def _alone(store: StateStore, write: Write | Append) -> Answer:
    try:
        (answer,) = store.commit([write])
    except BaseException as error:
        return error
    return answer


_committers: WeakKeyDictionary[StateStore, Committer] = WeakKeyDictionary()
_making = whole_over_forks(threading.Lock())


def committer_of(store: StateStore) -> Committer:
    """The committer of a store."""
    with _making:
        found = _committers.get(store)
        if found is None:
            found = _committers[store] = Committer()
        return found


def _begin_anew() -> None:
    for committer in _committers.values():
        committer.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
