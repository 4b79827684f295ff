"""Leases: one daemon thread per store renews all that this process holds, whatever its nodes are doing."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from weakref import WeakKeyDictionary, ref

from ..errors import StateStoreError
from ..model.locks import whole_over_forks
from ..stores.base import StateStore

Held = tuple[int, int]
"""A lease: the branch's number and the epoch that claimed it."""


class Leases:
    """The leases of one store in this process. A holder is told, from the renewing thread, when its lease is gone."""

    def __init__(self, store: StateStore) -> None:
        self._store = ref(store)
        self.begin_anew()

    def begin_anew(self) -> None:
        """As if it had just been made: the child of a fork holds no lease, and has no thread that renews one."""
        self._changing = threading.Lock()
        self._held: dict[Held, Callable[[], None]] = {}
        self._thread: threading.Thread | None = None

    def hold(self, lease: Held, on_lost: Callable[[], None]) -> None:
        """Renew this lease from now on, every third of its length."""
        with self._changing:
            self._held[lease] = on_lost
            if self._thread is None:
                store = self._store()
                assert store is not None
                every_s = store.lease_s / 3
                self._thread = threading.Thread(target=self._renew, args=(every_s,), name="nodestep-lease", daemon=True)
                self._thread.start()

    def release(self, lease: Held) -> None:
        """Renew it no longer."""
        with self._changing:
            self._held.pop(lease, None)

    def _renew(self, every_s: float) -> None:
        """Until a round finds no lease held, so that runs that follow one another share a thread. Between rounds it does
        not keep the store alive."""
        while True:
            time.sleep(every_s)
            store = self._store()
            with self._changing:
                if not self._held or store is None:
                    self._thread = None
                    return
                held = list(self._held)
            try:
                still = store.renew(held)
            except StateStoreError:
                # The next round tries again; a lease that ends meanwhile is found lost at the next write.
                still = [True] * len(held)
            for lease, kept in zip(held, still, strict=True):
                if not kept:
                    with self._changing:
                        on_lost = self._held.pop(lease, None)
                    if on_lost is not None:
                        on_lost()
            del store


_leases: WeakKeyDictionary[StateStore, Leases] = WeakKeyDictionary()
_making = whole_over_forks(threading.Lock())


def leases_of(store: StateStore) -> Leases:
    """The leases that this process holds in a store."""
    with _making:
        found = _leases.get(store)
        if found is None:
            found = _leases[store] = Leases(store)
        return found


def _begin_anew() -> None:
    for leases in _leases.values():
        leases.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
