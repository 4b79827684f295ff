"""Which file is the store, and opening it. A command that only asks never makes one."""

from __future__ import annotations

import os
from typing import Final

from ..stores.sqlite import SQLiteStateStore
from .exits import Exit, Refusal
from .safe_text import name

VARIABLE: Final = "NODESTEP_STORE"


def named(path: str | None) -> str:
    """The path given, by option or environment. Raises Refusal without one."""
    if not path:
        raise Refusal(f"Which store? Give --store FILE, or set {VARIABLE}.")
    return path


def open_existing(path: str | None) -> SQLiteStateStore:
    """The store in a file that is there. Raises Refusal where it is not, and what SQLiteStateStore raises."""
    file = named(path)
    try:
        size = os.stat(file).st_size
    except (FileNotFoundError, NotADirectoryError):
        raise Refusal(
            f"There is no store {name(file)}, and none was made. Check the path; `nodestep run --input ...` makes a new store.",
            Exit.UNKNOWN,
        ) from None
    except OSError as error:
        raise Refusal(f"The store {name(file)} cannot be read: {error.strerror}.", Exit.STORE) from None
    if size == 0:
        raise Refusal(f"The file {name(file)} is empty: no thread was ever stored in it.", Exit.UNKNOWN)
    return SQLiteStateStore(file)
