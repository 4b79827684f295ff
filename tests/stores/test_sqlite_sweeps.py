"""What is deleted or pruned is out of sight at once; its space comes back in steps, whatever happens in between."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import apsw
import pytest

from nodestep.errors import StoreCorruptedError
from nodestep.stores.base import AuditRow, Holding, StateStore, Status
from nodestep.stores.sqlite import SQLiteStateStore
from nodestep.stores.sweeping import STEP_BYTES, STEP_ROWS, Sweeping
from tests.stores.writing import begin, bodies, done, fork, go_on, question, seen, unchanged, write

LENGTH = 3 * STEP_ROWS


class DiedError(Exception):
    """Stands for the end of the process."""


class Watched(SQLiteStateStore):
    """Does something before each step of a sweep."""

    _busy_s = 0.02

    def __init__(self, path: Path, before: Callable[[int], object] = lambda step: None) -> None:
        super().__init__(path)
        self.steps = 0
        self.before = before

    def _step(self, sweeping: Sweeping) -> bool:
        self.steps += 1
        self.before(self.steps)
        return super()._step(sweeping)


def die_at(step: int) -> Callable[[int], None]:
    def before(now: int) -> None:
        if now == step:
            raise DiedError

    return before


def grown(store: StateStore, length: int = LENGTH, thread: str = "t", record: bytes = b"x" * 60) -> int:
    """A thread at rest with questions and decisions, and with a snapshot every hundred records."""
    started = begin(store, thread, record=record)
    guards = (Holding(started.no, started.epoch, sequence) for sequence in range(1, length - 1))
    store.commit(
        [
            write(guard, thread=thread, record=record, snapshot=b"=" * 90 if guard.sequence % 100 == 99 else None)
            for guard in guards
        ]
    )
    opens = tuple(question(f"ask:{n}") for n in range(40))
    audits = tuple(AuditRow(f"ask:{n}", "x" * 60, "api") for n in range(40))
    last = write(Holding(started.no, started.epoch, length - 1), Status.INTERRUPTED, thread, opens=opens, audits=audits)
    done(store, last)
    return started.no


def rows_in(store: SQLiteStateStore) -> dict[str, int]:
    tables = ("branches", "records", "snapshots", "questions", "answers", "sweeps")
    raw = store._file._writing().raw
    return {table: raw.execute(f"SELECT count(*) FROM {table}").get for table in tables}


NOTHING = dict.fromkeys(("branches", "records", "snapshots", "questions", "answers", "sweeps"), 0)


def test_a_deleted_thread_leaves_no_row(path: Path):
    with SQLiteStateStore(path) as store:
        grown(store, 300)
        fork(store, seen(store).head, 250, "side", audits=(AuditRow("a:x", 1, "api"),))
        store.delete_rows("t")
        assert rows_in(store) == NOTHING


def test_a_pruned_branch_leaves_no_row_before_its_start(path: Path):
    with SQLiteStateStore(path) as store:
        no = grown(store, 300)
        fork(store, seen(store).head, 120, "side")
        assert store.prune_rows(no, 251, [(120, b"=120"), (250, b"=250")])
        assert rows_in(store) == {
            **NOTHING,
            "branches": 2,
            "records": 51,
            "snapshots": 2,
            "questions": 40,
            "answers": 40,
        }


def test_a_long_thread_is_freed_in_steps_of_some_rows(path: Path):
    with Watched(path) as store:
        grown(store)
        left: list[int] = []
        store.before = lambda step: left.append(rows_in(store)["records"])
        store.delete_rows("t")
        assert left == [LENGTH, LENGTH - STEP_ROWS, LENGTH - 2 * STEP_ROWS, 0]


def test_large_rows_are_freed_a_few_at_a_time(path: Path):
    with Watched(path) as store:
        grown(store, 20, record=bytes(1 << 20))
        left: list[int] = []
        store.before = lambda step: left.append(rows_in(store)["records"])
        store.delete_rows("t")
        freed = [before - after for before, after in pairwise(left)]
        assert max(freed) == STEP_BYTES >> 20
        assert rows_in(store) == NOTHING


def test_the_many_forks_of_a_thread_take_few_steps(path: Path):
    with Watched(path) as store:
        begin(store, status=Status.READY)
        head = seen(store).head
        for number in range(300):
            fork(store, head, 1, f"fork-{number}")
        store.delete_rows("t")
        assert rows_in(store) == NOTHING
        assert store.steps == 2


def test_between_the_steps_others_read_and_write(path: Path):
    with Watched(path) as store, SQLiteStateStore(path) as other:
        grown(store)
        held = begin(other, "busy")

        def meanwhile(step: int) -> None:
            nonlocal held
            held = go_on(other, held, thread="busy", record=b"%d" % step)

        store.before = meanwhile
        store.delete_rows("t")
        assert bodies(seen(store, "busy")) == [b"[]", b"1", b"2", b"3", b"4"]


def test_nothing_of_the_thread_is_seen_between_the_steps(path: Path):
    with Watched(path) as store, SQLiteStateStore(path) as other:
        grown(store)
        begin(other, "kept", Status.INTERRUPTED, opens=(question("a:x"),), audits=(AuditRow("a:x", 1, "api"),))

        def look(step: int) -> None:
            assert other.read("t", "main") is None
            assert not any([other.branch_rows("t"), other.audit_rows("t"), other.questions("t")])
            assert [listed.thread_id for listed in other.questions(limit=1000)] == ["kept"]
            assert [item.thread_id for item in other.audit_rows(limit=1000)] == ["kept"]
            assert [head.thread_id for head in other.thread_rows()] == ["kept"]

        store.before = look
        store.delete_rows("t")
        assert store.steps == 4


def test_a_new_thread_of_the_same_id_begins_between_the_steps(path: Path):
    with Watched(path) as store, SQLiteStateStore(path) as other:
        grown(store)
        store.before = lambda step: step == 2 and begin(other, record=b"new")
        store.delete_rows("t")
        assert bodies(seen(store)) == [b"new"]


@pytest.mark.parametrize("step", [1, 2, 4])
def test_what_a_dead_process_left_is_freed_by_the_next_delete(path: Path, step: int):
    with Watched(path, die_at(step)) as store:
        grown(store)
        with pytest.raises(DiedError):
            store.delete_rows("t")
    with SQLiteStateStore(path) as store:
        assert not any([store.branch_rows("t"), store.questions(), store.audit_rows()])
        assert rows_in(store)["sweeps"] == 1
        assert store.delete_rows("nobody") == ()
        assert rows_in(store) == NOTHING


@pytest.mark.parametrize("step", [1, 2, 3])
def test_what_a_dead_process_left_of_a_prune_is_freed_by_the_next_delete(path: Path, step: int):
    with Watched(path, die_at(step)) as store:
        no = grown(store)
        side = fork(store, seen(store).head, 720, "side")
        with pytest.raises(DiedError):
            store.prune_rows(no, LENGTH, [(720, b"=720"), (LENGTH - 1, b"=")])
    with SQLiteStateStore(path) as store:
        assert len(store.records("t", "main")) == 1
        store.delete_rows("nobody")
        assert rows_in(store) == {
            **NOTHING,
            "branches": 2,
            "records": 2,
            "snapshots": 2,
            "questions": 40,
            "answers": 40,
        }
        assert (seen(store).snapshot, seen(store, branch="side").snapshot) == (b"=", b"=720")
        assert seen(store, branch="side").head == side


def test_a_thread_can_be_deleted_in_the_middle_of_its_prune(path: Path):
    with Watched(path) as store, SQLiteStateStore(path) as other:
        no = grown(store)
        store.before = lambda step: step == 2 and other.delete_rows("t")
        store.prune_rows(no, LENGTH, [(LENGTH - 1, b"=")])
        assert rows_in(store) == NOTHING


def test_a_killed_process_leaves_no_more_than_rows_to_sweep(path: Path):
    script = """
import os, sys
from tests.stores.test_sqlite_sweeps import Watched, grown
store = Watched(sys.argv[1], lambda step: step == 2 and os._exit(9))
grown(store)
store.delete_rows("t")
"""
    killed = subprocess.run([sys.executable, "-c", script, str(path)], timeout=60, check=False)
    assert killed.returncode == 9
    with SQLiteStateStore(path) as store:
        assert store.branch_rows("t") == ()
        assert rows_in(store)["records"] == LENGTH - STEP_ROWS
        begin(store, record=b"new", status=Status.READY)
        assert bodies(seen(store)) == [b"new"]
        store.delete_rows("t")
        assert rows_in(store) == NOTHING


def test_a_lock_held_elsewhere_leaves_the_rest_to_the_next_sweep(path: Path):
    SQLiteStateStore(path).close()
    other = apsw.Connection(str(path))
    with Watched(path) as store:
        grown(store)
        store.before = lambda step: step == 2 and other.execute("BEGIN IMMEDIATE")
        assert len(store.delete_rows("t")) == 1
        other.execute("ROLLBACK")
        assert rows_in(store)["records"] == LENGTH - STEP_ROWS
        store.before = lambda step: None
        store.delete_rows("nobody")
        assert rows_in(store) == NOTHING
    other.close()


def test_what_is_to_be_freed_is_not_believed_when_it_was_changed(path: Path):
    with Watched(path, die_at(2)) as store:
        grown(store)
        with pytest.raises(DiedError):
            store.delete_rows("t")
        kept = grown(store, 10, "kept")
        raw = store._file._writing().raw
        raw.execute("UPDATE sweeps SET branch_no = ?", (kept,))
        store.before = lambda step: None
        with pytest.raises(StoreCorruptedError, match="to be freed"):
            store.delete_rows("nobody")
        assert len(seen(store, "kept").records) == 10


@pytest.mark.parametrize("record", [b"x" * 60, b"x" * 30_000])
def test_the_file_reuses_the_space_of_a_deleted_thread(path: Path, record: bytes):
    with SQLiteStateStore(path) as store:
        grown(store, 600, record=record)
    size = path.stat().st_size
    for _ in range(3):
        with SQLiteStateStore(path) as store:
            store.delete_rows("t")
            grown(store, 600, record=record)
        assert path.stat().st_size <= size + 8192


def test_the_file_reuses_the_space_of_what_was_pruned(path: Path):
    with SQLiteStateStore(path) as store:
        no = grown(store, 600)
    size = path.stat().st_size
    with SQLiteStateStore(path) as store:
        store.prune_rows(no, 600, [(599, b"=")])
        receipt = done(store, write(unchanged(seen(store).head)))
        for _ in range(550):
            receipt = go_on(store, receipt, record=b"x" * 60)
    assert path.stat().st_size <= size + 8192
