"""The store in memory as users hold it: the rows of `stores`, with the methods that ask for threads."""

from __future__ import annotations

from typing import cast

from .errors import GraphConfigError
from .stores import memory
from .stores.base import StateStore
from .threads import Threads


class OwnThreads(Threads):
    """The thread methods of a store ask the store itself."""

    def _store_for(self, state_store: StateStore | None) -> StateStore:
        if state_store is not None:
            raise GraphConfigError("A store's methods ask that store; state_store= belongs to the methods of a graph.")
        return cast(StateStore, self)


class InMemoryStateStore(OwnThreads, memory.InMemoryStateStore):
    """Threads kept in this process, and gone with it; it keeps and refuses exactly what the other stores do.

    `lease_s` is how long, in seconds, a run holds its branch without renewing.
    """
