"""Locks over `os.fork`: the child has none of its parent's threads, so a lock that one of them held would stay taken."""

from __future__ import annotations

import os
from typing import Any, Protocol, TypeVar


class Lock(Protocol):
    """What `threading.Lock()` and `threading.RLock()` make."""

    def acquire(self) -> Any:
        """Wait for the lock and take it."""

    def release(self) -> Any:
        """Give it back."""


L = TypeVar("L", bound=Lock)

_locks: list[Lock] = []


def whole_over_forks(lock: L) -> L:
    """The lock, which the thread that forks holds meanwhile: on both sides nobody has it, and what it guards is whole. For
    locks of a module, held for a moment. Inside one only those may be taken that came before it."""
    _locks.append(lock)
    return lock


def _take() -> None:
    for lock in reversed(_locks):
        lock.acquire()


def _give_back() -> None:
    for lock in _locks:
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_give_back, after_in_child=_give_back)
