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
    """A connection of apsw as `connection.py` describes it; errors are made typed by its database. A reader holds `in_use`
    while it reads."""

    __slots__ = ("execute", "in_use", "is_open", "raw", "run")

    def __init__(self, raw: apsw.Connection) -> None:
        self.raw = raw
        self.execute = raw.execute
        # Statements without rows can share a cursor, which spares making one for each.
        self.run = raw.cursor().execute
        self.in_use = threading.Lock()
        self.is_open = True

    def rows(self, query: str, values: Values = ()) -> list[Row]:
        """All rows of a query."""
        return self.execute(query, values).fetchall()

    def change(self, query: str, values: Values = ()) -> int:
        """Run a statement that changes rows; says how many."""
        self.run(query, values)
        return self.raw.changes()

    def close(self) -> None:
        """Let go of the file."""
        self.is_open = False
        with suppress(apsw.Error):
            self.raw.close()

    def tidy(self) -> None:
        """End the transaction that an interrupted caller left open, if there is one."""
        if self.raw.in_transaction:
            self.roll_back()

    def roll_back(self) -> None:
        """End the transaction, if SQLite did not already: it does so itself after the worst errors."""
        try:
            if self.raw.in_transaction:
                self.execute("ROLLBACK")
        except apsw.Error:
            pass


class SQLiteFile:
    """The database in one file. `busy_s` is how long a writer waits for the lock of another process. Every lock is held by
    a `with`, so none stays taken where a caller is interrupted."""

    def __init__(self, path: str, *, busy_s: float) -> None:
        self._path = path
        self._busy_s = busy_s
        self._queries = queries("sqlite")
        self._closed = False
        self._writer: SQLiteConnection | None = None
        self._readers: list[SQLiteConnection] = []
        self._idle: list[SQLiteConnection] = []
        self._opening = threading.Lock()
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
            connection.tidy()
            try:
                connection.execute("BEGIN IMMEDIATE")
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                connection.roll_back()
                raise
        except _DRIVER_ERRORS as error:
            raise self._typed(error, connection) from error
        return result

    def write_one(self, query: str, values: Values = ()) -> int:
        """Run one statement as a transaction of its own."""
        connection = self._writer or self._writing()
        try:
            connection.tidy()
            return connection.change(query, values)
        except _DRIVER_ERRORS as error:
            connection.roll_back()
            raise self._typed(error, connection) from error

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run the work in one read transaction."""
        while True:
            connection = self._reader()
            with connection.in_use:
                if connection.is_open:
                    return self._read_with(connection, work)

    def read_between_writes(self, work: Callable[[Connection], T]) -> T:
        """The same on the connection that writes. It has the pages at hand that it wrote, where a reader reads all of them
        anew."""
        return self._look(self._writing(), work)

    def close(self) -> None:
        """Close every connection; the last one of all processes also tidies the file. Nobody may write meanwhile."""
        self._closed = True
        with self._opening:
            self._let_go()

    def hold(self) -> None:
        """Close every connection once nobody reads, and let no new reader in until `go_on`. Nobody may write meanwhile."""
        self._opening.acquire()
        self._let_go()

    def go_on(self) -> None:
        """Let readers in again; connections are opened as they are needed."""
        self._opening.release()

    def begin_anew(self) -> None:
        """In a forked child, after `hold` in its parent: the locks are the parent's."""
        self._opening = threading.Lock()

    def _let_go(self) -> None:
        for reader in tuple(self._readers):
            with reader.in_use:
                reader.close()
        self._readers, self._idle = [], []
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _writing(self) -> SQLiteConnection:
        if self._closed:
            raise closed(self._path)
        if self._writer is None:
            self._writer = self._open(read_only=False)
        return self._writer

    def _reader(self) -> SQLiteConnection:
        """A connection to read with, which may have been closed meanwhile."""
        try:
            return self._idle.pop()
        except IndexError:
            pass
        with self._opening:
            if self._closed:
                raise closed(self._path)
            connection = self._open(read_only=True)
            self._readers.append(connection)
            return connection

    def _read_with(self, reader: SQLiteConnection, work: Callable[[Connection], T]) -> T:
        try:
            return self._look(reader, work)
        finally:
            self._give_back(reader)

    def _look(self, connection: SQLiteConnection, work: Callable[[Connection], T]) -> T:
        try:
            connection.tidy()
            try:
                connection.execute("BEGIN")
                return work(connection)
            finally:
                connection.roll_back()
        except _DRIVER_ERRORS as error:
            raise self._typed(error, connection) from error

    def _give_back(self, connection: SQLiteConnection) -> None:
        if len(self._idle) < _IDLE_READERS:
            self._idle.append(connection)
        else:
            self._readers.remove(connection)
            connection.close()

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
