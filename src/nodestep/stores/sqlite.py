"""The store in a SQLite file: one file for any number of threads and processes of one host."""

from __future__ import annotations

import os
from typing import ClassVar

from .clock import SYSTEM_CLOCK, Clock
from .os_fork import watch_forks
from .sql import SqlStateStore
from .sqlite_file import SQLiteFile
from .sqlite_open import checked_path


class SQLiteStateStore(SqlStateStore):
    """Keeps threads in the file `path`, which is made if it does not exist; `lease_s` is in seconds.

    Every commit is on the disk when it returns. Raises StoreFormatError for a file that is no store or a newer
    nodestep's, StoreCorruptedError for a damaged one, and StateStoreError where the file cannot be made or opened.
    """

    _busy_s: ClassVar[float] = 10.0

    def __init__(self, path: str | os.PathLike[str], *, lease_s: float = 30, clock: Clock = SYSTEM_CLOCK) -> None:
        self._file = SQLiteFile(checked_path(path), busy_s=self._busy_s)
        try:
            super().__init__(self._file, lease_s=lease_s, clock=clock)
        except BaseException:
            self._file.close()
            raise
        watch_forks(self)

    def before_fork(self) -> None:
        """Finish what is running, and hold no file open."""
        self._group.lead.acquire()
        self._file.hold()

    def after_fork_in_parent(self) -> None:
        """Go on."""
        self._file.go_on()
        self._group.lead.release()

    def after_fork_in_child(self) -> None:
        """Go on as another process, with locks of its own."""
        self._file.begin_anew()
        self._begin()
