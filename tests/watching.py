"""A store seen from outside: every commit is noted, and a test may delay it, make it fail, or wait for what it shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from nodestep.engine.replay import record_from_bytes
from nodestep.model.event import Fact
from nodestep.stores.base import Append, Write


class Watched:
    """Passes everything on to `store`. `before(facts)` is called with the facts of each commit, in the thread that makes
    it, and may raise in its place; `instant` says otherwise than the store whether a commit may wait."""

    def __init__(
        self, store: Any, before: Callable[[list[Fact]], None] | None = None, *, instant: bool | None = None
    ) -> None:
        self.store = store
        self.before = before
        self.instant = store.instant if instant is None else instant
        self.commits: list[list[Fact]] = []

    def commit(self, writes: Sequence[Write | Append]) -> Any:
        facts = [fact for write in writes for fact in record_from_bytes(write.record)]
        if self.before is not None:
            self.before(facts)
        self.commits.append(facts)
        return self.store.commit(writes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def kinds(self) -> list[list[str]]:
        """What each commit said, by the names of its facts."""
        return [[type(fact).__name__ for fact in facts] for facts in self.commits]


PATIENCE_S = 20.0


def until(happened: Callable[[], bool]) -> None:
    """Look again and again until what must happen has happened."""
    end = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
