"""A store as users hold it: the protocol, and beside it the methods that ask for threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodestep.sqlite_store import SQLiteStateStore
from nodestep.store import InMemoryStateStore
from nodestep.stores import memory, sqlite
from nodestep.stores.base import StateStore
from nodestep.threads import Threads


def names(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("__")}


def held_by_users(path: Path) -> tuple[StateStore, StateStore]:
    """That both satisfy the protocol is for the type checker to say."""
    return InMemoryStateStore(), SQLiteStateStore(path)


def test_the_methods_for_users_and_the_protocol_share_no_name():
    assert names(Threads) & names(StateStore) == set()


@pytest.mark.parametrize("number", [0, 1])
def test_the_methods_for_users_hide_nothing_of_a_store(path: Path, number: int):
    held = held_by_users(path)
    rows = names((memory.InMemoryStateStore, sqlite.SQLiteStateStore)[number]) | vars(held[number]).keys()
    assert names(Threads) & rows == set()
    for store in held:
        store.close()
