"""Leases: one daemon thread per store renews all that this process holds, whatever its nodes are doing."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from weakref import WeakKeyDictionary, ref

from ..errors import StateStoreError
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
        self._changed = threading.Condition()
        self._held: dict[Held, Callable[[], None]] = {}
        self._thread: threading.Thread | None = None

    def hold(self, lease: Held, on_lost: Callable[[], None]) -> None:
        """Renew this lease from now on, every third of its length."""
        with self._changed:
            self._held[lease] = on_lost
            if self._thread is None:
                store = self._store()
                assert store is not None
                self._thread = threading.Thread(target=self._renew, args=(store,), name="nodestep-lease", daemon=True)
                self._thread.start()

    def release(self, lease: Held) -> None:
        """Renew it no longer."""
        with self._changed:
            self._held.pop(lease, None)
            if not self._held:
                self._changed.notify()

    def _renew(self, store: StateStore) -> None:
        """Until a round finds no lease held; so a store that nothing runs on is not kept alive for long."""
        while True:
            with self._changed:
                self._changed.wait(store.lease_s / 3)
                if not self._held:
                    self._thread = None
                    return
                held = list(self._held)
            try:
                still = store.renew(held)
            except StateStoreError:
                # The next round tries again; a lease that ends meanwhile is found lost at the next write.
                continue
            for lease, kept in zip(held, still, strict=True):
                if not kept:
                    with self._changed:
                        on_lost = self._held.pop(lease, None)
                    if on_lost is not None:
                        on_lost()


_leases: WeakKeyDictionary[StateStore, Leases] = WeakKeyDictionary()
_making = threading.Lock()


def leases_of(store: StateStore) -> Leases:
    """The leases that this process holds in a store."""
    with _making:
        found = _leases.get(store)
        if found is None:
            found = _leases[store] = Leases(store)
        return found


def _begin_anew() -> None:
    global _making
    _making = threading.Lock()
    for leases in _leases.values():
        leases.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
