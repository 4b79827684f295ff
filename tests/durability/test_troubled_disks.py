"""A disk that fails in the middle of a run: a typed error, and once the cause is gone nothing is missing."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest

from nodestep import (
    Graph,
    NodestepError,
    Resume,
    SQLiteStateStore,
    StateStoreError,
    StoreBusyError,
    StoreFullError,
)
from tests.durability.disk import Deed, Disk, Made, Resized, Synced, Wrote
from tests.durability.lives import Life, call, finish
from tests.durability.shapes import LOGS, SHAPES, THREAD, Work
from tests.persistence.programs.effects import Effects
from tests.stores.writing import StillClock

LEASE_MS = 30_000


class Trouble:
    """Raises an error at the `at`-th deed of these kinds: at that one alone, or from there until the disk is well again."""

    def __init__(self, error: type[Exception], at: int, kinds: Any, *, lasts: bool) -> None:
        self.error = error
        self.at = at
        self.kinds = kinds
        self.lasts = lasts
        self.count = 0
        self.struck = False

    def __call__(self, deed: Deed) -> None:
        if not isinstance(deed, self.kinds):
            return
        self.count += 1
        if self.count == self.at or (self.lasts and self.count > self.at):
            self.struck = True
            raise self.error("the disk fails, as the test wanted")


CAUSES = {
    "full": (apsw.FullError, Wrote | Resized | Made, StoreFullError),
    "write fails": (apsw.IOError, Wrote | Resized, StateStoreError),
    "sync fails": (apsw.IOError, Synced, StateStoreError),
    "read only": (apsw.ReadOnlyError, Wrote | Resized | Made, StateStoreError),
    "no permission": (apsw.PermissionsError, Wrote | Made, StateStoreError),
}
"""What SQLite is told, at what, and what a caller is told."""


@pytest.fixture
def chance() -> random.Random:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return random.Random(seed)


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_on_a_disk_that_fails_is_told_and_goes_on_when_it_is_well(shape, cause, quick, chance):
    error, kinds, told = CAUSES[cause]
    at = chance.randint(1, 6)
    while True:
        trouble = Trouble(error, at, kinds, lasts=chance.random() < 0.5)
        _fail_and_go_on(shape, trouble, told, quick)
        if not trouble.struck:
            return
        at += chance.randint(2, 12)


def _fail_and_go_on(shape: str, trouble: Trouble, told: type[NodestepError], folder: Path) -> None:
    for file in folder.glob("*"):
        file.unlink()
    clock, effects = StillClock(), Effects(folder / "effects")
    with Disk() as disk, SQLiteStateStore(folder / "t.db", clock=clock) as store:
        graph = SHAPES[shape](store, effects)
        disk.trouble = trouble
        with suppress(told):
            finish(graph, store, effects)
        disk.trouble = lambda deed: None
        goes_on(graph, store, effects, clock)


def goes_on(graph: Graph[Work], store: Any, effects: Effects, clock: StillClock) -> None:
    """Once the cause is gone, and the lease of the run that failed, the thread comes to its end with nothing missing."""
    life = Life(store, effects)
    life.breaks()
    clock.forward(LEASE_MS)
    finish(graph, store, effects)
    life.ends(LOGS[graph.name])


@pytest.mark.parametrize("cause", CAUSES)
def test_a_store_is_opened_on_a_disk_that_fails_or_it_is_told_and_opens_when_the_disk_is_well(cause, quick):
    error, kinds, told = CAUSES[cause]
    for at in range(1, 100):
        trouble = Trouble(error, at, kinds, lasts=at % 2 == 0)
        path = quick / f"{at}.db"
        with Disk() as disk:
            disk.trouble = trouble
            try:
                SQLiteStateStore(path).close()
            except NodestepError as failure:
                told_now = type(failure)
            else:
                told_now = told
            assert told_now is told
            disk.trouble = lambda deed: None
            with SQLiteStateStore(path) as store:
                assert len(store.id) == 32
        if not trouble.struck:
            return
    raise AssertionError("opening a store never ends")


LOCKER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
for line in sys.stdin:
    connection.execute(line)
    print("done", flush=True)
"""


class Locker(AbstractContextManager["Locker"]):
    """Another program that takes the lock of a file and gives it back."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", LOCKER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=20)

    def does(self, statement: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(statement, file=self._process.stdin, flush=True)
        assert self._process.stdout.readline() == "done\n"


class Impatient(SQLiteStateStore):
    """Waits a hundredth of a second for a lock."""

    _busy_s = 0.01


class Before:
    """Does something before the `at`-th commit of a store."""

    def __init__(self, store: Any, at: int, act: Callable[[], None]) -> None:
        self.store = store
        self.at = at
        self.act = act
        self.commits = 0

    def commit(self, writes: Any) -> Any:
        self.commits += 1
        if self.commits == self.at:
            self.act()
        return self.store.commit(writes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_meets_the_lock_of_another_program_and_goes_on_when_it_is_free(shape, quick):
    for at in range(1, 100):
        clock, effects, path = StillClock(), Effects(quick / f"effects {at}"), quick / f"{at}.db"
        with Impatient(path, clock=clock) as inner, Locker(path) as locker:
            store = Before(inner, at, partial(locker.does, "BEGIN IMMEDIATE"))
            graph = SHAPES[shape](store, effects)
            try:
                finish(graph, store, effects)
            except StoreBusyError:
                locker.does("ROLLBACK")
            else:
                assert store.commits < at
                return
            goes_on(graph, inner, effects, clock)
    raise AssertionError("the thread does not come to its end")


def as_nobody(folder: str) -> None:
    """A run whose node takes away every permission to its files, in a process that is not root."""
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    clock = StillClock()
    with SQLiteStateStore(f"{folder}/t.db", clock=clock) as store:
        effects = Effects(f"{folder}/effects")
        graph = SHAPES["two_pauses"](store, effects)
        call(graph, "invoke", {}, None)

        def lose() -> None:
            store.before_fork()  # what is open is closed, as by a restart
            store.after_fork_in_parent()
            for file in Path(folder).glob("t.db*"):
                file.chmod(0)

        losing = Before(store, 2, lose)
        with pytest.raises(StateStoreError, match="needs to write"):
            graph.invoke(None, thread_id=THREAD, resume=Resume("yes to First?"), state_store=losing)
        for reading in (store.pending, store.threads):
            with pytest.raises(StateStoreError):
                asyncio.run(reading())
        for file in Path(folder).glob("t.db*"):
            file.chmod(0o600)
        goes_on(graph, store, effects, clock)


def test_a_run_loses_its_permission_and_goes_on_when_it_has_it_back(nursery, quick):
    os.chmod(quick, 0o755)
    nursery.child(as_nobody, str(quick))
