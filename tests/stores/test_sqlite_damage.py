"""Damaged files: whatever is flipped or cut off, the answer is right or it is a typed error, and never wrong data."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

from nodestep.errors import StoreCorruptedError, StoreFormatError
from nodestep.stores.base import Audited, AuditRow, Head, Listed, ListedBranch, New, Record, Status, Stored
from nodestep.stores.sqlite import SQLiteStateStore
from nodestep.stores.sqlite_checksums import checksumming_vfs
from tests.stores.writing import begin, fork, go_on, pause, seen, write

THREADS = [f"thread {number}" for number in range(6)]
DAMAGED = (StoreCorruptedError, StoreFormatError)


@dataclass(frozen=True)
class Truth:
    """What was stored, and the bytes of the file that holds it."""

    content: bytes
    records: dict[str, tuple[Record, ...]]
    snapshots: dict[str, dict[int, bytes | None]]
    stored: dict[str, Stored]
    branches: dict[str, tuple[ListedBranch, ...]]
    questions: tuple[Listed, ...]
    audits: tuple[Audited, ...]
    threads: tuple[Head, ...]


@pytest.fixture
def truth(path: Path) -> Truth:
    """Threads at rest with large and small records, snapshots and questions; the file is closed."""
    with SQLiteStateStore(path) as store:
        for number, thread in enumerate(THREADS):
            receipt = begin(store, thread, record=b"input" * (2000 if number == 2 else 9))
            for step in range(8):
                snapshot = b"state %d" % step * 9 if step == 4 else None
                receipt = go_on(store, receipt, thread=thread, record=b"step %d " % step * 9, snapshot=snapshot)
            go_on(store, receipt, Status.COMPLETED, thread, audits=(AuditRow("a:x", thread * 9, "api", "Ann"),))
        for thread in THREADS:
            fork(store, seen(store, thread).head, 3, "side", audits=(AuditRow("a:x", None, "page"),))
        pruned = seen(store, THREADS[4]).head
        store.prune_rows(pruned.no, 6, [(3, b"state 1"), (5, b"state 3")])
        for number in range(12):
            pause(store, "a:x", "b:y", thread=f"paused {number}")
        stored = {thread: seen(store, thread) for thread in ("paused 3", *THREADS)}
        records = {thread: store.records(thread, "main") for thread in stored}
        snapshots = {thread: {stored[thread].snapshot_sequence: stored[thread].snapshot} for thread in stored}
        branches = {thread: store.branch_rows(thread) for thread in stored}
        rows = (store.questions(), store.audit_rows(), store.thread_rows())
    return Truth(path.read_bytes(), records, snapshots, stored, branches, *rows)


def answer(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except DAMAGED:
        return None


def error_of(store: SQLiteStateStore, thread: str) -> str:
    try:
        store.records(thread, "main")
    except StoreCorruptedError as error:
        return str(error)
    return ""


def check(path: Path, truth: Truth) -> int:
    """Ask everything of the file; says how many answers were errors. Fails for one that is wrong."""
    errors = 0
    with SQLiteStateStore(path) as store:
        for thread, expected in truth.records.items():
            records = answer(lambda thread=thread: store.records(thread, "main"))  # type: ignore[misc]
            assert records in (None, expected), thread
            errors += records is None
            try:
                agrees(store.read(thread, "main"), truth, thread)
            except DAMAGED:
                errors += 1
            open_there = answer(lambda thread=thread: store.questions(thread))  # type: ignore[misc]
            assert open_there in (None, tuple(q for q in truth.questions if q.thread_id == thread))
            audits = answer(lambda thread=thread: store.audit_rows(thread))  # type: ignore[misc]
            assert audits in (None, tuple(item for item in truth.audits if item.thread_id == thread))
            errors += audits is None
            branches = answer(lambda thread=thread: store.branch_rows(thread))  # type: ignore[misc]
            assert branches in (None, truth.branches[thread])
        questions = answer(store.questions)
        assert questions in (None, truth.questions)
        errors += questions is None
        errors += tells_nothing_wrong(store.audit_rows, truth.audits)
        errors += tells_nothing_wrong(store.thread_rows, truth.threads)
        answer(lambda: store.commit([write(New("g"), thread="new")]))
    return errors


def tells_nothing_wrong(page: Callable[[], tuple[Any, ...]], truth: tuple[Any, ...]) -> bool:
    """Whether a page over all threads is an error. What its table lost, it cannot miss, unlike the page of that thread;
    what it tells is true and in order."""
    found = answer(page)
    assert found is None or list(found) == [item for item in truth if item in found]
    return found is None


def agrees(stored: Stored | None, truth: Truth, thread: str) -> None:
    """A snapshot that cannot be found any more leaves the records, which say the same."""
    assert stored is not None, thread
    head, expected = stored.head, truth.stored[thread]
    assert (head.sequence, head.status, head.graph, head.epoch, head.created_at_ms, head.updated_at_ms) == (
        expected.head.sequence,
        expected.head.status,
        expected.head.graph,
        expected.head.epoch,
        expected.head.created_at_ms,
        expected.head.updated_at_ms,
    )
    assert stored.snapshot == truth.snapshots[thread].get(stored.snapshot_sequence)
    assert stored.records == tuple(r for r in truth.records[thread] if r.sequence > stored.snapshot_sequence)
    assert stored.questions == expected.questions


def damage(path: Path, content: bytes) -> None:
    for beside in path.parent.glob("threads.db-*"):
        beside.unlink()
    path.write_bytes(content)


def survey(path: Path, truth: Truth, contents: Iterable[bytes]) -> tuple[int, int]:
    """How many of the contents opened, and how many did not or gave an error."""
    opened = told = 0
    for content in contents:
        damage(path, content)
        try:
            told += check(path, truth) > 0
            opened += 1
        except DAMAGED:
            told += 1
    return opened, told


def survey_as_it_is(path: Path, truth: Truth) -> tuple[int, int]:
    """The same for the file as it stands."""
    return survey(path, truth, [path.read_bytes()])


def flipped(content: bytes, start: int, step: int) -> Iterable[bytes]:
    for number, offset in enumerate(range(start, len(content), step)):
        mask = (0x01, 0x80, 0xFF, 0x10)[number % 4]
        yield content[:offset] + bytes([content[offset] ^ mask]) + content[offset + 1 :]


@pytest.mark.parametrize("start", [0, 1, 2])
def test_a_flipped_byte_is_told_or_does_no_harm(path: Path, truth: Truth, start: int):
    opened, told = survey(path, truth, flipped(truth.content, 100 + start, 331))
    assert opened > 100
    assert told > 10


def test_a_flipped_byte_in_the_header_is_told_or_does_no_harm(path: Path, truth: Truth):
    _, told = survey(path, truth, flipped(truth.content[:100], 0, 1))
    assert told > 10


def test_a_file_that_was_cut_off_is_told(path: Path, truth: Truth):
    lengths = range(1, len(truth.content), 2531)
    _, told = survey(path, truth, (truth.content[:length] for length in lengths))
    assert told == len(lengths)


def test_a_page_of_zeros_is_told_or_does_no_harm(path: Path, truth: Truth):
    pages = range(0, len(truth.content), 4096)
    blanked = (truth.content[:page] + bytes(4096) + truth.content[page + 4096 :] for page in pages)
    _, told = survey(path, truth, blanked)
    assert told > len(pages) // 2


def tamper(path: Path, statement: str, *values: str | int | bytes) -> None:
    """Change the file past the checksums of its rows."""
    connection = apsw.Connection(str(path), vfs=checksumming_vfs())
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_a_damaged_record_is_named_and_the_other_threads_are_readable(path: Path, truth: Truth):
    damaged = truth.records[THREADS[2]][4]
    tamper(path, "UPDATE records SET body = ? WHERE id = ?", b"x", damaged.branch_no << 32 | damaged.sequence)
    with SQLiteStateStore(path) as store:
        told = {thread: error_of(store, thread) for thread in THREADS}
    assert "record 5 of branch number 3" in told.pop(THREADS[2])
    assert set(told.values()) == {""}


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM records WHERE id = (3 << 32) + 10",
        "DELETE FROM records WHERE id = (3 << 32) + 1",
        "DELETE FROM records WHERE id = (3 << 32) + 7",
        "DELETE FROM records WHERE id >> 32 = 3",
        "UPDATE records SET id = id + 1000 WHERE id >> 32 = 3 AND id & 255 > 6",
        "UPDATE records SET at_ms = at_ms + 1",
        "UPDATE records SET pause = 7 WHERE pause IS NULL",
        "UPDATE records SET body = CAST(body || ' ' AS BLOB)",
        "UPDATE snapshots SET body = CAST(body || ' ' AS BLOB)",
        "UPDATE branches SET status = 'ready'",
        "UPDATE branches SET graph = 'Other'",
        "UPDATE branches SET epoch = epoch - 1",
        "UPDATE branches SET no = no + 100",
        "UPDATE questions SET body = CAST('{}' AS BLOB)",
        "UPDATE questions SET pause = pause + 1",
        "UPDATE answers SET body = CAST('0' AS BLOB)",
        "UPDATE answers SET given_by = 'Eve'",
        "UPDATE answers SET number = number + 100",
        "UPDATE answers SET branch_no = branch_no + 1",
        "DELETE FROM answers WHERE given_by = 'Ann'",
        "UPDATE branches SET pruned_sequence = 0",
        "UPDATE branches SET fork_sequence = 1 WHERE parent_no IS NOT NULL",
        "UPDATE branches SET parent_no = NULL",
        "DELETE FROM snapshots",
        "UPDATE counters SET pause = 0",
        "DELETE FROM counters",
        "DROP TABLE snapshots",
    ],
)
def test_rows_that_were_changed_behind_the_store_are_never_believed(path: Path, truth: Truth, statement: str):
    tamper(path, statement)
    _, told = survey_as_it_is(path, truth)
    assert told


@pytest.mark.parametrize("column", ["branch_id", "graph", "assignee"])
def test_a_question_is_not_found_by_what_was_changed_behind_the_store(path: Path, truth: Truth, column: str):
    looked_for: dict[str, Any] = {column: "Eve"}
    tamper(path, f"UPDATE questions SET {column} = 'Eve'")
    with SQLiteStateStore(path) as store:
        assert store.questions() == truth.questions
        with pytest.raises(StoreCorruptedError):
            store.questions(**looked_for)


class Trap:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (TRAP,)


TRAP = "sprung"


def test_a_pickle_in_the_file_is_refused_and_runs_nothing(path: Path, truth: Truth, monkeypatch: pytest.MonkeyPatch):
    """SC-05: loading a thread never executes what is stored."""
    monkeypatch.chdir(path.parent)
    tamper(path, "UPDATE records SET body = ?", pickle.dumps(Trap()))
    tamper(path, "UPDATE questions SET body = ?", pickle.dumps(Trap()))
    _, told = survey_as_it_is(path, truth)
    assert told
    assert not os.path.exists(TRAP)
