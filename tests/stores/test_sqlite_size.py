"""What a store costs on the disk: exact bounds, which do not depend on the machine."""

from __future__ import annotations

from pathlib import Path

from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import begin, go_on

SMALL_STEP = b'[["step",{"set":{"counter":7,"label":"step-7","total":14.0}},["b"]]]'


def size_with(path: Path, threads: int, steps: int) -> int:
    with SQLiteStateStore(path) as store:
        receipts = [begin(store, f"t{n}", record=SMALL_STEP) for n in range(threads)]
        for _ in range(1, steps):
            receipts = [go_on(store, r, thread=f"t{n}", record=SMALL_STEP) for n, r in enumerate(receipts)]
    return path.stat().st_size


def test_an_empty_store_takes_little(path: Path):
    assert size_with(path, 0, 0) <= 48 * 1024


def test_three_hundred_small_supersteps_take_little(path: Path, tmp_path: Path):
    empty = size_with(tmp_path / "empty.db", 0, 0)
    assert size_with(path, 1, 300) - empty <= 40 * 1024


def test_threads_that_take_turns_take_no_more_than_twice_as_much(path: Path, tmp_path: Path):
    alone = size_with(tmp_path / "alone.db", 1, 1000)
    assert size_with(path, 20, 50) <= 2 * alone


def test_the_log_beside_the_file_stays_small(path: Path):
    with SQLiteStateStore(path) as store:
        receipt = begin(store)
        for _ in range(40):
            receipt = go_on(store, receipt, record=bytes(1 << 20))
        assert (path.parent / "threads.db-wal").stat().st_size <= 16 << 20
