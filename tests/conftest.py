"""Settings for every test, and the stores that tests of runs take place on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

from nodestep import InMemoryStateStore, SQLiteStateStore
from tests.stores.writing import StillClock

# Examples differ from run to run. A failure prints the blob that repeats it; CI prints its seed.
settings.register_profile("nodestep", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("nodestep")


@pytest.fixture
def clock() -> StillClock:
    """The clock of the stores: it moves only when a test says so."""
    return StillClock()


@pytest.fixture(params=["memory", "sqlite"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: StillClock
) -> Iterator[InMemoryStateStore | SQLiteStateStore]:
    """A fresh store; a test that takes it runs on each kind."""
    path = tmp_path / "threads.db"
    with InMemoryStateStore(clock=clock) if request.param == "memory" else SQLiteStateStore(path, clock=clock) as made:
        yield made


@pytest.fixture
def reopened(store, tmp_path: Path, clock: StillClock) -> Iterator[Callable[[], InMemoryStateStore | SQLiteStateStore]]:
    """Gives the store as another process finds it: a SQLite file is opened anew."""
    with ExitStack() as opened:

        def reopen() -> InMemoryStateStore | SQLiteStateStore:
            if isinstance(store, InMemoryStateStore):
                return store
            return opened.enter_context(SQLiteStateStore(tmp_path / "threads.db", clock=clock))

        yield reopen
