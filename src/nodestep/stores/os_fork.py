"""Stores over `os.fork`: a child must not touch what its parent has open.

SQLite keeps the locks of a process in that process's memory, so a child that inherits an open file believes to hold
locks that it does not (https://sqlite.org/howtocorrupt.html#_carrying_an_open_database_connection_across_a_fork). So
every store lets go of its files before a fork, and both sides open them again when they next need them.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol

# Hooks of a fork run in reverse order before it: the locks of modules are taken when every store has come to rest, which
# may need them for it.
from ..model import locks as locks


class Forkable(Protocol):
    """What has to take note of a fork."""

    def before_fork(self) -> None:
        """Finish what is running, let nothing new begin, and hold nothing open."""

    def after_fork_in_parent(self) -> None:
        """Go on."""

    def after_fork_in_child(self) -> None:
        """Go on in another process: locks of other threads and the own identity are the parent's."""


_watched: weakref.WeakSet[Forkable] = weakref.WeakSet()
_waiting: list[Forkable] = []


def watch_forks(store: Forkable) -> None:
    """Tell the store of every fork from now on, as long as somebody holds it."""
    _watched.add(store)


def _before() -> None:
    for store in list(_watched):
        store.before_fork()
        _waiting.append(store)


def _in_parent() -> None:
    while _waiting:
        _waiting.pop().after_fork_in_parent()


def _in_child() -> None:
    while _waiting:
        _waiting.pop().after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
