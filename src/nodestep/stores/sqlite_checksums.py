"""Page checksums: each page of a file ends with one, which SQLite writes with it and compares when it reads it.

So a byte that was changed behind SQLite's back is told wherever it is, also in an index, where it could hide a row. They
are SQLite's own (https://sqlite.org/cksumvfs.html), an extension that apsw brings along. Other programs do not write them:
a copy that one of these made is checked as a whole and gets its checksums when it is opened.
"""

from __future__ import annotations

import os
import threading
from typing import Final

import apsw

from ..errors import StateStoreError, StoreCorruptedError
from ..model.locks import whole_over_forks
from .migrate import migrations_after
from .rows import Row

_EXTENSION: Final = os.path.join(os.path.dirname(apsw.__file__), "sqlite_extra_binaries", "cksumvfs")
"""As `apsw.sqlite_extra` finds it, whose import alone takes as long as that of all else."""
_VFS: Final = "cksmvfs"
_RESERVED_BYTES: Final = 8
"""What a page keeps free for its checksum."""
_VERIFICATION: Final = "checksum_verification"

_loading = whole_over_forks(threading.Lock())


def checksumming_vfs() -> str:
    """The name of the VFS that writes and compares checksums; loads it once. Raises StateStoreError where apsw came
    without it."""
    with _loading:
        if _VFS not in apsw.vfs_names():
            _load()
    return _VFS


def _load() -> None:
    """Other connections of this process go on with the VFS that was theirs."""
    default = apsw.vfs_names()[0]
    connection = apsw.Connection(":memory:")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(_EXTENSION)
    except apsw.Error as error:
        raise StateStoreError(
            f"This apsw came without the extension 'cksumvfs', which writes the checksums of a store's pages ({error}). "
            "Install it as it is published on PyPI: pip install --force-reinstall apsw."
        ) from error
    finally:
        connection.close()
    apsw.set_default_vfs(default)


def is_checksum_fault(error: Exception) -> bool:
    """Whether a page did not fit its checksum."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA


def leave_room(raw: apsw.Connection) -> None:
    """Before anything is written to a new file: its pages will have checksums."""
    raw.reserve_bytes("main", _RESERVED_BYTES)


def has_checksums(raw: apsw.Connection) -> bool:
    """Whether the pages of this file have checksums, and they are compared. Its first page was read."""
    return raw.reserve_bytes("main", -1) == _RESERVED_BYTES and raw.pragma(_VERIFICATION) == "1"


def ignore_checksums(raw: apsw.Connection) -> None:
    """Compare none, until they are written anew."""
    raw.pragma(_VERIFICATION, "off")


def write_checksums(raw: apsw.Connection, path: str, version: int) -> None:
    """Check a whole store of this version without them, and write the checksums of all pages. Raises StoreCorruptedError
    where anything but them is wrong."""
    sound = raw.pragma("encoding") == "UTF-8" and _schema(raw) == _schema_of(version)
    if not sound or raw.pragma("integrity_check", 1) != "ok":
        raise StoreCorruptedError(
            f"The store {path!r} is damaged: its pages do not fit their checksums, nor one another. Put back a backup."
        )
    leave_room(raw)
    raw.execute("VACUUM")
    raw.pragma(_VERIFICATION, "on")


def _schema_of(version: int) -> list[Row]:
    fresh = apsw.Connection(":memory:")
    try:
        for migration in migrations_after("sqlite", 0):
            if migration.number <= version:
                fresh.execute(migration.script)
        return _schema(fresh)
    finally:
        fresh.close()


def _schema(raw: apsw.Connection) -> list[Row]:
    return raw.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").fetchall()
