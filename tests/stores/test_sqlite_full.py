"""A full disk: a typed error, nothing half written, and everything goes on once there is room."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nodestep.errors import StateStoreError, StoreFullError
from nodestep.stores.base import Receipt, Status
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import begin, bodies, go_on, holding, one, question, seen, write

BIG = bytes(200_000)


def fill(store: SQLiteStateStore, pages: int | None = None) -> None:
    """Let the file grow by no more than these pages; `None` gives all the room there is."""
    raw = store._file._writing().raw
    count = raw.pragma("page_count")
    raw.pragma("max_page_count", 0xFFFFFFFE if pages is None else count + pages)


def until_full(store: SQLiteStateStore, receipt: Receipt) -> Receipt:
    """Append records until there is no room; returns the last that was acknowledged."""
    for number in range(receipt.sequence + 1, 10_000):
        try:
            receipt = go_on(store, receipt, record=b"record %d " % number * 20)
        except StoreFullError:
            return receipt
    raise AssertionError("the disk never filled up")


def test_without_room_a_write_is_a_typed_error_that_says_so(path: Path):
    with SQLiteStateStore(path) as store:
        held = begin(store)
        fill(store, 0)
        with pytest.raises(StoreFullError, match=r"no room left.*free some space"):
            go_on(store, held, record=BIG)


def test_what_was_acknowledged_before_is_all_there(path: Path):
    with SQLiteStateStore(path) as store:
        held = begin(store, record=b"1")
        fill(store, 4)
        last = until_full(store, held)
        assert seen(store).head.sequence == last.sequence
    with SQLiteStateStore(path) as store:
        expected = [b"1", *(b"record %d " % number * 20 for number in range(2, last.sequence + 1))]
        assert bodies(seen(store)) == expected


def test_with_room_again_the_same_owner_goes_on(path: Path):
    with SQLiteStateStore(path) as store:
        held = begin(store)
        fill(store, 1)
        last = until_full(store, held)
        fill(store)
        more = go_on(store, last, record=BIG)
        assert more.sequence == last.sequence + 1
        assert bodies(seen(store))[-1] == BIG


def test_nothing_of_a_pause_without_room_is_left(path: Path):
    with SQLiteStateStore(path) as store:
        held = begin(store)
        fill(store, 0)
        asked = write(holding(held), Status.INTERRUPTED, opens=(question("a:x", payload="x" * 50_000),))
        with pytest.raises(StoreFullError):
            store.commit([asked])
        assert store.questions() == ()
        assert seen(store).head.status is Status.RUNNING
        fill(store)
        receipt = one(store, asked)
        assert isinstance(receipt, Receipt)
        assert receipt.pause == 1


def test_a_list_without_room_writes_none_of_it(path: Path):
    with SQLiteStateStore(path) as store:
        one_held, other = begin(store, "one"), begin(store, "other")
        fill(store, 0)
        with pytest.raises(StoreFullError):
            store.commit([write(holding(one_held), thread="one"), write(holding(other), thread="other", record=BIG)])
        assert len(seen(store, "one").records) == len(seen(store, "other").records) == 1


def test_a_store_without_room_can_still_be_read(path: Path):
    with SQLiteStateStore(path) as store:
        held = begin(store)
        fill(store, 0)
        with pytest.raises(StateStoreError):
            go_on(store, held, record=BIG)
        assert len(seen(store).records) == 1
        assert len(store.records("t", "main")) == 1


LIMITED = """
import resource, signal, sys
from nodestep.errors import StoreFullError
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import begin, go_on, seen

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SQLiteStateStore(sys.argv[1])
receipt = begin(store)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
try:
    for _ in range(1000):
        receipt = go_on(store, receipt, record=bytes(3000))
except StoreFullError:
    pass
else:
    raise SystemExit("never full")
assert seen(store).head.sequence == receipt.sequence
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
receipt = go_on(store, receipt, record=bytes(3000))
store.close()
print(receipt.sequence)
"""


def test_the_limit_of_the_operating_system_is_a_full_disk(path: Path):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    with SQLiteStateStore(path) as store:
        assert seen(store).head.sequence == int(done.stdout)
        assert len(store.records("t", "main")) == int(done.stdout)
