"""Counts what SQLite commits, by SQLite's own commit hook: exact, whatever the store calls a commit."""

from __future__ import annotations

from typing import Self

import apsw


class Commits:
    """The transactions that were committed under `with`, on connections opened inside it."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Self:
        apsw.connection_hooks.append(self._watch)
        return self

    def __exit__(self, *_: object) -> None:
        apsw.connection_hooks.remove(self._watch)

    def _watch(self, connection: apsw.Connection) -> None:
        connection.set_commit_hook(self._commit)

    def _commit(self) -> bool:
        self.count += 1
        return False  # a true value would roll back
