"""What SQLite's errors mean to a user of a store: one typed error each, told with the file's name."""

from __future__ import annotations

import errno
from typing import Final

import apsw

from ..errors import StateStoreError, StoreBusyError, StoreCorruptedError, StoreFullError
from .sqlite_checksums import is_checksum_fault

_FULL_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_DAMAGED: Final = (
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.SQLError,
    apsw.MismatchError,
    apsw.ConstraintError,
    UnicodeDecodeError,
)
_REFUSED: Final = (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError, apsw.AuthError)


def typed(error: Exception, path: str, errno_now: int = 0) -> StateStoreError:
    """The typed error for what apsw raised; `errno_now` is the operating system's number that SQLite kept."""
    extended = getattr(error, "extendedresult", 0)
    full = isinstance(error, apsw.IOError) and (errno_now in _FULL_ERRNOS or extended == apsw.SQLITE_IOERR_SHMSIZE)
    if full or isinstance(error, apsw.FullError):
        return StoreFullError(
            f"There is no room left for the store {path!r} ({error}). What was stored before is intact; free some space "
            "and go on."
        )
    if is_checksum_fault(error):
        return StoreCorruptedError(
            f"The store {path!r} is damaged: a page of it does not fit its checksum. Put back a backup, or copy what is "
            "readable to a new store."
        )
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return StoreBusyError(
            f"Another program kept the store {path!r} locked for too long. Nothing was written; find what holds it open "
            "in a transaction, then try again."
        )
    if isinstance(error, _DAMAGED):
        return StoreCorruptedError(
            f"The store {path!r} is damaged ({error}). Put back a backup, or copy what is readable to a new store."
        )
    if isinstance(error, apsw.ConnectionClosedError):
        return closed(path)
    if isinstance(error, _REFUSED):
        return StateStoreError(
            f"The store {path!r} cannot be opened for writing ({error}). This process needs to write the file and to "
            "make files beside it, in the same folder."
        )
    return StateStoreError(f"The store {path!r} failed: {type(error).__name__}: {error}.")


def closed(path: str) -> StateStoreError:
    """The error of a store that was closed."""
    return StateStoreError(f"The store {path!r} is closed. Open it again with SQLiteStateStore({path!r}).")
