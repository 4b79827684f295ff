"""The store in a SQLite file as users hold it. Only who uses it loads SQL and the driver."""

from __future__ import annotations

from .store import OwnThreads
from .stores import sqlite


class SQLiteStateStore(OwnThreads, sqlite.SQLiteStateStore):
    """Threads kept in one SQLite file, for any number of processes on one host.

    `path` is a file, made when it is missing, with its directory there; `lease_s` is how long, in seconds, a run holds its
    branch without renewing. A commit is on the disk before it is acknowledged. Raises StoreFormatError for a file that is
    no store of this version, StoreCorruptedError for a damaged one, StateStoreError for a path that cannot be used.
    """
