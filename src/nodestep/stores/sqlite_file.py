"""A SQLite file as a store's database: one connection that writes, and a few that read beside it.

Knows transactions and connections, and nothing of threads and branches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

import apsw

from ..errors import StateStoreError
from .connection import Connection, Values
from .queries import Queries, queries
from .rows import Row
from .sqlite_errors import closed, typed
from .sqlite_open import bring_up_to_date, connect, make_file, settle

T = TypeVar("T")

_DRIVER_ERRORS: Final = (apsw.Error, UnicodeDecodeError)
_IDLE_READERS: Final = 4


class SQLiteConnection:
    """A connection of apsw as `connection.py` describes it; errors are made typed by its database."""

    __slots__ = ("_cursor", "execute", "raw")

    def __init__(self, raw: apsw.Connection) -> None:
        self.raw = raw
        self.execute = raw.execute
        # Statements without rows can share a cursor, which spares making one for each.
        self._cursor = raw.cursor()

    def rows(self, query: str, values: Values = ()) -> list[Row]:
        """All rows of a query."""
        return self.execute(query, values).fetchall()

    def change(self, query: str, values: Values = ()) -> int:
        """Run a statement that changes rows; says how many."""
        self._cursor.execute(query, values)
        return self.raw.changes()


class SQLiteFile:
    """The database in one file. `busy_s` is how long a writer waits for the lock of another process."""

    def __init__(self, path: str, *, busy_s: float) -> None:
        self._path = path
        self._busy_s = busy_s
        self._queries = queries("sqlite")
        self._closed = False
        self._writer: SQLiteConnection | None = None
        self._readers: list[SQLiteConnection] = []
        self._reading = 0
        self._pool = threading.Condition()
        make_file(path)
        self._writer = self._open(read_only=False)

    @property
    def queries(self) -> Queries:
        """The SQL of SQLite."""
        return self._queries

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run the work in one transaction."""
        connection = self._writing()
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise
        except _DRIVER_ERRORS as error:
            raise self._typed(error, connection) from error
        return result

    def write_one(self, query: str, values: Values = ()) -> int:
        """Run one statement as a transaction of its own."""
        connection = self._writer or self._writing()
        try:
            return connection.change(query, values)
        except _DRIVER_ERRORS as error:
            _roll_back(connection)
            raise self._typed(error, connection) from error

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run the work in one read transaction."""
        connection = self._take_reader()
        try:
            connection.execute("BEGIN")
            try:
                return work(connection)
            finally:
                _roll_back(connection)
        except _DRIVER_ERRORS as error:
            raise self._typed(error, connection) from error
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Close every connection; the last one of all processes also tidies the file. Nobody may write meanwhile."""
        self._closed = True
        self.hold()
        self.go_on()

    def hold(self) -> None:
        """Close every connection once nobody reads, and let no new reader in until `go_on`. Nobody may write meanwhile."""
        self._pool.acquire()
        self._pool.wait_for(lambda: self._reading == 0)
        connections = [*self._readers, *([self._writer] if self._writer else [])]
        self._readers, self._writer = [], None
        for connection in connections:
            with suppress(apsw.Error):
                connection.raw.close()

    def go_on(self) -> None:
        """Let readers in again; connections are opened as they are needed."""
        self._pool.release()

    def begin_anew(self) -> None:
        """In a forked child, after `hold` in its parent: the locks are the parent's."""
        self._pool = threading.Condition()

    def _writing(self) -> SQLiteConnection:
        if self._closed:
            raise closed(self._path)
        if self._writer is None:
            self._writer = self._open(read_only=False)
        return self._writer

    def _take_reader(self) -> SQLiteConnection:
        with self._pool:
            if self._closed:
                raise closed(self._path)
            self._reading += 1
            if self._readers:
                return self._readers.pop()
        try:
            return self._open(read_only=True)
        except BaseException:
            self._give_back(None)
            raise

    def _give_back(self, connection: SQLiteConnection | None) -> None:
        with self._pool:
            self._reading -= 1
            keep = connection is not None and len(self._readers) < _IDLE_READERS
            if keep and connection is not None:
                self._readers.append(connection)
            self._pool.notify_all()
        if connection is not None and not keep:
            connection.raw.close()

    def _open(self, *, read_only: bool) -> SQLiteConnection:
        raw = None
        try:
            raw = connect(self._path, busy_s=self._busy_s)
            if not read_only:
                bring_up_to_date(raw, self._path, self._busy_s)
            settle(raw, read_only=read_only)
            return SQLiteConnection(raw)
        except BaseException as error:
            errno_now = 0
            if raw is not None:
                errno_now = raw.system_errno
                raw.close()
            if isinstance(error, _DRIVER_ERRORS):
                raise typed(error, self._path, errno_now) from error
            raise

    def _typed(self, error: Exception, connection: SQLiteConnection) -> StateStoreError:
        if self._closed:
            return closed(self._path)
        try:
            return typed(error, self._path, connection.raw.system_errno)
        except apsw.Error:
            return typed(error, self._path)


def _roll_back(connection: SQLiteConnection) -> None:
    """End the transaction, if SQLite did not already: it does so itself after the worst errors."""
    with suppress(apsw.Error):
        if connection.raw.in_transaction:
            connection.execute("ROLLBACK")
