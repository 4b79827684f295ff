"""Opening a SQLite file: the path, the file's mode, whose file it is, and its tables brought up to date.

A zero-byte file, and one that does not exist, become a new store. Any other file that is no store is left alone.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from typing import Final

import apsw

from ..errors import StateStoreError, StoreCorruptedError, StoreFormatError
from ..model.locks import whole_over_forks
from .migrate import migrations_after, newest_version
from .queries import queries, sql_file
from .rows import Counters
from .sqlite_checksums import (
    checksumming_vfs,
    has_checksums,
    ignore_checksums,
    is_checksum_fault,
    leave_room,
    write_checksums,
)

APPLICATION_ID: Final = 0x6E6F6465
"""The bytes "node" in the header of every store (https://sqlite.org/pragma.html#pragma_application_id)."""

_SMALLEST_BYTES: Final = 512
_MAGIC: Final = b"SQLite format 3\x00"
_APPLICATION_ID_AT: Final = 68
_WAL_LIMIT_BYTES: Final = 8 << 20
_RETRY_S: Final = 0.005

_SWITCHES: Final = {
    # What is in the file is data: no view, trigger or function of it ever runs.
    apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_VIEW: 0,
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_DEFENSIVE: 1,
    # Otherwise SQLite plans a query anew for every new value.
    apsw.SQLITE_DBCONFIG_ENABLE_QPSG: 1,
}

_making = whole_over_forks(threading.Lock())


def checked_path(path: str | os.PathLike[str]) -> str:
    """The absolute path, which a later chdir does not change."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"the path of a store is text or a pathlib.Path, not {type(text).__name__}")
    if text in ("", ":memory:"):
        raise StateStoreError(
            f"SQLiteStateStore({text!r}) names no file. Use InMemoryStateStore() for a store in memory, or give a path "
            "such as 'threads.db'."
        )
    if text.startswith("file:"):
        raise StateStoreError(
            f"SQLiteStateStore takes a path, not the URI {text!r}. Leave out 'file:' and what follows a '?'; for a store "
            "in memory use InMemoryStateStore()."
        )
    if "\x00" in text:
        raise StateStoreError(f"The path {text!r} holds a NUL character, which no file name may.")
    return os.path.abspath(text)


def make_file(path: str) -> None:
    """Make the file, for its owner alone, if it does not exist."""
    folder = os.path.dirname(path)
    try:
        os.stat(folder)
    except FileNotFoundError:
        raise StateStoreError(
            f"There is no folder {folder!r} to keep the store {path!r} in. Make the folder first."
        ) from None
    except OSError as error:
        raise _no_access(path, error) from error
    if os.path.isdir(path):
        raise StateStoreError(
            f"{path!r} is a folder. Give the path of a file in it, such as {os.path.join(path, 'threads.db')!r}."
        )
    if _size(path + "-wal") > 0 and _size(path) == 0:
        # SQLite would take it for a new one, and empty the log. (Of what is new it writes the file before the log.)
        raise StoreCorruptedError(
            f"The store {path!r} is empty, and the log {path + '-wal'!r} beside it is not. Put back the file or a backup; to "
            "begin a new store, remove the log as well."
        )
    # Closing a file drops this process's locks on it, so nobody may open it between these two lines.
    with _making:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            if 0 < _size(path) < _SMALLEST_BYTES:
                # SQLite takes such a file for an empty one and writes over it.
                raise _foreign(path, "is no SQLite database") from None
        except OSError as error:
            raise _no_access(path, error) from error


def _size(path: str) -> int:
    """In bytes; 0 for a file that is not there."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _no_access(path: str, error: OSError) -> StateStoreError:
    return StateStoreError(
        f"The store {path!r} cannot be made: {error.strerror}. Choose a folder that this process may write to."
    )


def connect(path: str, *, busy_s: float) -> apsw.Connection:
    """A connection to a file that exists, which was not looked at yet. Raises apsw's errors."""
    raw = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=checksumming_vfs())
    try:
        raw.set_busy_timeout(int(busy_s * 1000))
        for switch, on in _SWITCHES.items():
            raw.config(switch, on)
    except BaseException:
        raw.close()
        raise
    return raw


def settle(raw: apsw.Connection, *, read_only: bool) -> None:
    """How a connection to a store works from now on. Raises apsw's errors."""
    raw.pragma("cell_size_check", True)
    raw.pragma("synchronous", "FULL")
    raw.pragma("journal_size_limit", _WAL_LIMIT_BYTES)
    raw.pragma("query_only", read_only)


def bring_up_to_date(raw: apsw.Connection, path: str, busy_s: float) -> None:
    """Make a new store, or migrate an older one. Several processes may do so at once; one is first."""
    version = _first_look(raw, path)
    if version == 0:
        leave_room(raw)
    elif not has_checksums(raw):
        write_checksums(raw, path, version)
    if version < newest_version():
        raw.execute("BEGIN IMMEDIATE")
        try:
            _migrate(raw, _version(raw, path))
            raw.execute("COMMIT")
        except BaseException:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
            raise
    _use_wal(raw, path, busy_s)


def _first_look(raw: apsw.Connection, path: str) -> int:
    """The version of the store, also where its first page does not fit its checksum."""
    try:
        return _version(raw, path)
    except apsw.IOError as error:
        if not is_checksum_fault(error):
            raise
    ignore_checksums(raw)
    return _version(raw, path)


def _version(raw: apsw.Connection, path: str) -> int:
    """The schema version of the store in this file, 0 for a new one. Raises StoreFormatError if it is none of ours."""
    try:
        application, version, tables = raw.execute(sql_file("sqlite/whose_file.sql")).get
    except apsw.NotADBError as error:
        if _has_our_header(raw):
            raise StoreCorruptedError(
                f"The store {path!r} is damaged: its header is not valid. Put back a backup."
            ) from error
        raise _foreign(path, "is no SQLite database") from error
    if application == APPLICATION_ID:
        if not 0 <= version <= newest_version():
            raise StoreFormatError(
                f"The store {path!r} has version {version}, and this nodestep knows versions up to {newest_version()}. "
                "Upgrade nodestep to open it."
            )
        return int(version)
    if application != 0 or version != 0 or tables:
        raise _foreign(path, "belongs to another program")
    return 0


def _has_our_header(raw: apsw.Connection) -> bool:
    _, header = raw.read("main", 0, 0, 100)
    ours = APPLICATION_ID.to_bytes(4, "big")
    return header.startswith(_MAGIC) or header[_APPLICATION_ID_AT : _APPLICATION_ID_AT + 4] == ours


def _foreign(path: str, what: str) -> StoreFormatError:
    return StoreFormatError(
        f"{path!r} {what}, so it was left as it is. Give the path of a nodestep store or of a new file."
    )


def _migrate(raw: apsw.Connection, version: int) -> None:
    for migration in migrations_after("sqlite", version):
        raw.execute(migration.script)
        raw.pragma("user_version", migration.number)
    if version == 0:
        raw.pragma("application_id", APPLICATION_ID)
        raw.execute(queries("sqlite").add_counters, Counters.made(secrets.token_hex(16), 0, 0, 0))


def _use_wal(raw: apsw.Connection, path: str, busy_s: float) -> None:
    """Switch to a write-ahead log, so that readers and the writer do not wait for one another. SQLite does not wait for
    others here, so this does."""
    give_up_at = time.monotonic() + busy_s
    while True:
        try:
            mode = raw.pragma("journal_mode", "wal")
            break
        except apsw.BusyError:
            if time.monotonic() >= give_up_at:
                raise
            time.sleep(_RETRY_S)
    if mode != "wal":
        raise StateStoreError(
            f"The store {path!r} cannot keep a write-ahead log where it is (SQLite offers mode {mode!r}). Choose a folder "
            "on a local disk."
        )
