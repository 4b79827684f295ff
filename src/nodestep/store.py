"""The stores as users hold them: the rows of `stores`, with the methods that ask for threads."""

from __future__ import annotations

from typing import cast

from .errors import GraphConfigError
from .stores import memory, sqlite
from .stores.base import StateStore
from .threads import Threads


class _Own(Threads):
    """The thread methods of a store ask the store itself."""

    def _store_for(self, state_store: StateStore | None) -> StateStore:
        if state_store is not None:
            raise GraphConfigError("A store's methods ask that store; state_store= belongs to the methods of a graph.")
        return cast(StateStore, self)


class InMemoryStateStore(_Own, memory.InMemoryStateStore):
    """Threads kept in this process, and gone with it; it keeps and refuses exactly what the other stores do.

    `lease_s` is how long, in seconds, a run holds its branch without renewing.
    """


class SQLiteStateStore(_Own, sqlite.SQLiteStateStore):
    """Threads kept in one SQLite file, for any number of processes on one host.

    `path` is a file, made when it is missing, with its directory there; `lease_s` is how long, in seconds, a run holds its
    branch without renewing. A commit is on the disk before it is acknowledged. Raises StoreFormatError for a file that is
    no store of this version, StoreCorruptedError for a damaged one, StateStoreError for a path that cannot be used.
    """
