"""Counts what SQLite commits, by SQLite's own commit hook: exact, whatever the store calls a commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw
from graphs import SQLiteStateStore
from harness import Clock, new_path


def commits_of(run: Callable[[SQLiteStateStore], Any]) -> int:
    """How many transactions were committed while `run` worked on a new store. The hook costs time, so count in a run that
    is not timed; a profile does not see it."""
    counter = _Counter()
    watcher, Clock.watcher = Clock.watcher, None
    apsw.connection_hooks.append(counter.watch)
    try:
        with SQLiteStateStore(new_path()) as store:
            opened = counter.count
            run(store)
            return counter.count - opened
    finally:
        apsw.connection_hooks.remove(counter.watch)
        Clock.watcher = watcher


class _Counter:
    def __init__(self) -> None:
        self.count = 0

    def watch(self, connection: apsw.Connection) -> None:
        connection.set_commit_hook(self._commit)

    def _commit(self) -> bool:
        self.count += 1
        return False  # a true value would roll back
