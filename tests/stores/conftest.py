"""The stores under test. What takes `store` runs on each of them: they keep the same promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nodestep.stores.base import StateStore
from nodestep.stores.memory import InMemoryStateStore
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import StillClock

pytest.register_assert_rewrite("nodestep.testing.contract")


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, path: Path, clock: StillClock) -> Iterator[StateStore]:
    made: InMemoryStateStore | SQLiteStateStore = (
        InMemoryStateStore(clock=clock) if request.param == "memory" else SQLiteStateStore(path, clock=clock)
    )
    with made:
        yield made
