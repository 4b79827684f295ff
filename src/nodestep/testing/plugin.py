"""A pytest plugin that runs the contract of stores against a store of yours.

    pytest -p nodestep.testing.plugin --nodestep-store my_package.stores:make --pyargs nodestep.testing.contract

`make(clock)` returns a fresh, empty store that reads the time from this clock, a `ManualClock`. The store is closed after
each test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from ..stores.base import StateStore
from .clock import ManualClock

pytest.register_assert_rewrite("nodestep.testing.contract")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--nodestep-store`."""
    parser.addoption(
        "--nodestep-store",
        metavar="MODULE:FUNCTION",
        help="what makes a fresh store for each test of the contract of stores, given its clock",
    )


@pytest.fixture
def clock() -> ManualClock:
    """The clock of the store, which moves only when a test says so."""
    return ManualClock()


@pytest.fixture
def store(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[StateStore]:
    """A fresh store, made by the function that `--nodestep-store` names."""
    made = _maker(request.config.getoption("--nodestep-store"))(clock)
    yield made
    made.close()


def _maker(name: Any) -> Callable[[ManualClock], StateStore]:
    module, _, function = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not module or not function:
        raise pytest.UsageError(
            "Say what makes the store, as in --nodestep-store my_package.stores:make, or define a fixture `store`."
        )
    found: Callable[[ManualClock], StateStore] = getattr(import_module(module), function)
    return found
