"""Locks over `os.fork`: the child has none of its parent's threads, so a lock that one of them held would stay taken."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801 - in the place of the one of functools, which has a lock before Python 3.12
        """A property that is found when it is first read; threads that read it at once may each find it."""

        def __init__(self, find):
            self._find = find
            self.__doc__ = find.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            found = vars(instance)[self._name] = self._find(instance)
            return found


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
