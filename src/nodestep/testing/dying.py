"""A store that dies at one of its writes, so that a test can look at what is left and go on from there.

Knows the protocol of stores and no store.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, ParamSpec, TypeVar

from ..errors import StateStoreError
from ..stores.base import Append, Head, Receipt, Refused, StateStore, Write
from ..threads import Threads

P = ParamSpec("P")
T = TypeVar("T")


class StoreDiedError(StateStoreError):
    """The store died at the write that a test had named."""


def kill_process() -> NoReturn:
    """End this process at once, with nothing tidied up, as a `kill -9` does."""
    if hasattr(signal, "SIGKILL"):
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(137)


class DyingStore(Threads):
    """Passes everything on to `store` until it dies at its `at`-th write, the first being 1.

    It dies before the write is made or, with `after=True`, when it is durable and nobody was told yet. From then on every
    call raises StoreDiedError, and `dead` is true; what lives on is `store`, for the test to look at. `die=kill_process`
    ends the process instead. `writes` counts; a commit is one write however much it carries, and renewing a lease is none.
    """

    def __init__(
        self, store: StateStore, *, at: int, after: bool = False, die: Callable[[], object] | None = None
    ) -> None:
        self.store = store
        self.at = at
        self.after = after
        self.writes = 0
        self.dead = False
        self._die = die
        self._counting = threading.Lock()

    @property
    def instant(self) -> bool:
        """As the store says."""
        return self.store.instant

    @property
    def lease_s(self) -> float:
        """As the store says."""
        return self.store.lease_s

    @property
    def id(self) -> str:
        """As the store says."""
        return self.store.id

    def now_ms(self) -> int:
        """As the store says."""
        return self.store.now_ms()

    def commit(self, writes: Sequence[Write | Append]) -> list[Receipt | Refused]:
        """One write, unless the list is empty."""
        return self._write(self.store.commit, writes) if writes else self.store.commit(writes)

    def delete_rows(self, thread_id: str) -> tuple[Head, ...]:
        """One write."""
        return self._write(self.store.delete_rows, thread_id)

    def prune_rows(self, no: int, first: int, snapshots: Sequence[tuple[int, bytes]]) -> bool:
        """One write."""
        return self._write(self.store.prune_rows, no, first, snapshots)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._check_alive()
        return getattr(self.store, name)

    def _write(self, write: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._check_alive()
        with self._counting:
            self.writes += 1
            last = self.writes == self.at
        if not last:
            return write(*args, **kwargs)
        if self.after:
            write(*args, **kwargs)
        self.dead = True
        if self._die is not None:
            self._die()
        raise self._died()

    def _check_alive(self) -> None:
        if self.dead:
            raise self._died()

    def _died(self) -> StoreDiedError:
        return StoreDiedError(
            f"The store died {'after' if self.after else 'before'} write {self.at}, as the test wanted. Go on with the store "
            "that it passed things on to."
        )

    def _store_for(self, state_store: StateStore | None) -> StateStore:
        return self if state_store is None else state_store
