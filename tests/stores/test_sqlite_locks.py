"""Locks: another program's is waited for and then told, and a reader never stands in a writer's way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from nodestep.errors import StoreBusyError
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import begin, go_on, pause, seen


class Impatient(SQLiteStateStore):
    """Waits a fiftieth of a second for a lock, as `SQLiteStateStore` waits ten seconds."""

    _busy_s = 0.02


@pytest.fixture
def other(path: Path) -> Iterator[apsw.Connection]:
    """Another program's connection to the file of a store. (The module sqlite3 would not do: two copies of SQLite in one
    process do not see one another's locks.)"""
    Impatient(path).close()
    connection = apsw.Connection(str(path))
    yield connection
    connection.close()


def test_a_lock_that_is_held_for_too_long_is_told(path: Path, other: apsw.Connection):
    with Impatient(path) as store:
        held = begin(store)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match=r"kept the store .* locked"):
            go_on(store, held)
        with pytest.raises(StoreBusyError):
            begin(store, "new")
        with pytest.raises(StoreBusyError):
            store.renew([(held.no, held.epoch)])
        other.execute("ROLLBACK")
        assert go_on(store, held).sequence == 2


def test_a_locked_store_can_be_read(path: Path, other: apsw.Connection):
    with Impatient(path) as store:
        pause(store)
        other.execute("BEGIN IMMEDIATE")
        assert seen(store).head.sequence == 2
        assert len(store.questions()) == 1


def test_a_writer_waits_for_a_lock_that_is_given_back(path: Path, other: apsw.Connection):
    with SQLiteStateStore(path) as store:
        held = begin(store)
        other.execute("BEGIN IMMEDIATE")
        answers: list[int] = []
        writer = threading.Thread(target=lambda: answers.append(go_on(store, held).sequence))
        writer.start()
        while not store._group.lead.locked():
            seen(store)
        assert answers == []
        other.execute("ROLLBACK")
        writer.join(10)
        assert answers == [2]


def test_opening_a_store_that_is_locked_for_good_is_told(path: Path):
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreBusyError):
        Impatient(path)
    connection.close()
    Impatient(path).close()


def test_a_reader_in_the_middle_does_not_hold_up_writers(path: Path, other: apsw.Connection):
    """PE-04: one row taken, the query left open."""
    with Impatient(path) as store:
        held = begin(store)
        for _ in range(5):
            held = go_on(store, held)
        rows = other.execute("SELECT id FROM records")
        rows.fetchone()
        assert go_on(store, held).sequence == 7
        assert len(rows.fetchall()) == 5


def test_a_half_read_listing_does_not_hold_up_writers(path: Path):
    """PE-04 through the store: between two pages nothing is open."""
    with Impatient(path) as store, Impatient(path) as second:
        for number in range(4):
            pause(store, thread=f"t{number}")
        page = store.questions(limit=2)
        records = store.records("t0", "main", limit=1)
        pause(second, thread="second")
        last = page[-1]
        assert last.question.pause is not None
        rest = store.questions(after=(last.question.pause, last.branch_no, last.question.key))
        assert [listed.thread_id for listed in page + rest] == ["t0", "t1", "t2", "t3", "second"]
        assert len(records + store.records("t0", "main", after=1)) == 2


def test_two_stores_in_one_process_share_a_file(path: Path):
    with SQLiteStateStore(path) as one, SQLiteStateStore(path) as two:
        assert one.id == two.id
        held = begin(one)
        for store in (two, one, two):
            held = go_on(store, held)
        assert seen(one) == seen(two)
        assert seen(one).head.sequence == 4
