"""A file that was cut or changed behind the store's back: every answer is right or a typed error, and so is going on."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    Resume,
    SQLiteStateStore,
    StoreCorruptedError,
    StoreFormatError,
    ThreadBusyError,
    UnknownThreadError,
    add,
    interrupt,
    node,
    when,
)
from nodestep.testing import DyingStore, StoreDiedError
from tests.durability.stage import Instant, at_once
from tests.stores.writing import StillClock

DAMAGED = (StoreCorruptedError, StoreFormatError)
PLACES = 500
PARTS = 5
ROUNDS = 10


class Case(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)
    n: int = 0


@node
def work(state: Case) -> Any:
    return {"log": [f"{state.n} " * 1000], "n": state.n + 1}


@node
def ask(state: Case) -> Any:
    return {"log": [interrupt({"rounds": state.n}, id="ok")]}


cases = Graph(Case, name="case", max_steps=100).flow(
    START >> work >> when(lambda state: state.n < ROUNDS, work, otherwise=ask), ask >> END
)
"""Rounds of work, long enough for a snapshot, and then a question."""

THREADS = ("done", "paused", "answered", "pruned", "cut off")
WAITING = {"paused": Resume("yes"), "answered": None, "cut off": None}
"""What can go on, and how."""
REST = tuple(thread for thread in THREADS if thread not in WAITING)


def fill(path: Path, clock: StillClock) -> None:
    """A thread for each way to stand."""
    with SQLiteStateStore(path, clock=clock) as store:
        for thread in THREADS:
            with suppress(StoreDiedError):
                dying = DyingStore(store, at=ROUNDS - 3 if thread == "cut off" else 1000)
                cases.invoke({}, thread_id=thread, state_store=dying)
        cases.invoke(None, thread_id="done", resume=Resume("yes"), state_store=store)
        asyncio.run(store.answer("answered", {"ask:ok": "yes"}, by="anna"))
        asyncio.run(store.fork("paused", from_=asyncio.run(store.history("paused")).checkpoints[-1]))
        asyncio.run(store.prune("pruned", keep=2))
    clock.forward(60_000)


def everything(file: SQLiteStateStore, threads: Sequence[str] = THREADS) -> dict[str, Any]:
    """All that can be read, by its name; `None` where the answer was an error."""
    store = Instant(file)
    reads: dict[str, Any] = {"threads": store.threads, "pending": store.pending, "audit": store.audit}
    for thread in threads:
        for method in (store.history, store.load, store.branches, store.pending, store.audit):
            reads[f"{method.__name__} of {thread}"] = partial(method, thread)
    found: dict[str, Any] = {}
    for name, read in reads.items():
        try:
            found[name] = at_once(read())
        except DAMAGED:
            found[name] = None
    return found


@dataclass(frozen=True)
class Truth:
    """A whole file, what it answers, and what its waiting threads come to."""

    path: Path
    clock: StillClock
    content: bytes
    answers: dict[str, Any]
    ends: dict[str, Any]

    @classmethod
    def of(cls, path: Path, clock: StillClock) -> Truth:
        content = path.read_bytes()
        with SQLiteStateStore(path, clock=clock) as store:
            answers = everything(store)
            ends = {
                thread: cases.invoke(None, thread_id=thread, resume=how, state_store=store)
                for thread, how in WAITING.items()
            }
        assert None not in answers.values()
        return cls(path, clock, content, answers, {thread: (end.status, end.data) for thread, end in ends.items()})

    def check(self, content: bytes) -> int:
        """Ask everything of a file with this content, go on with every thread, and ask again; says how often it was told
        that there is damage."""
        for beside in self.path.parent.glob("t.db-*"):
            beside.unlink()
        self.path.write_bytes(content)
        try:
            with SQLiteStateStore(self.path, clock=self.clock) as store:
                told = self._agrees(everything(store), ())
                told += sum(not self._goes_on(store, thread) for thread in WAITING)
                return told + self._agrees(everything(store, REST), tuple(WAITING))
        except DAMAGED:
            return 1

    def _agrees(self, found: dict[str, Any], gone_on: tuple[str, ...]) -> int:
        told = 0
        for name, answer in found.items():
            told += answer is None
            general = " of " not in name
            if gone_on and (general or name.endswith(gone_on)):
                continue
            assert answer in (None, self.answers[name]), name
        return told

    def _goes_on(self, store: SQLiteStateStore, thread: str) -> bool:
        try:
            done = cases.invoke(None, thread_id=thread, resume=WAITING[thread], state_store=store)
        except DAMAGED:
            return False
        except ThreadBusyError:  # the lease that was changed errs on the safe side
            return thread != "cut off"
        assert (done.status, done.data) == self.ends[thread]
        return True


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, StillClock]:
    path, clock = tmp_path_factory.mktemp("whole") / "t.db", StillClock()
    fill(path, clock)
    return path.read_bytes(), clock


@pytest.fixture
def truth(made: tuple[bytes, StillClock], quick: Path) -> Truth:
    content, clock = made
    (quick / "t.db").write_bytes(content)
    return Truth.of(quick / "t.db", clock)


@pytest.fixture
def chance() -> random.Random:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return random.Random(seed)


def flipped(content: bytes, places: Sequence[int], chance: random.Random) -> Iterator[bytes]:
    """One changed byte, at each of these places."""
    for at in places:
        yield content[:at] + bytes([content[at] ^ chance.randrange(1, 256)]) + content[at + 1 :]


def spread(length: int, count: int, chance: random.Random) -> list[int]:
    """Places all over a file."""
    return [(place * length + chance.randrange(length)) // count for place in range(count)]


PAGE = 4096
HEAD = (4, 9)
"""Bytes of a page that say how many cells it has, and where one of them is."""


@pytest.mark.parametrize("part", range(PARTS))
def test_a_flipped_byte_is_told_or_does_no_harm_to_any_thread(part, truth, chance):
    places = spread(len(truth.content), PLACES // PARTS, chance)
    told = sum(truth.check(content) > 0 for content in flipped(truth.content, places, chance))
    assert told > PLACES // PARTS // 2
    assert truth.check(truth.content) == 0


def test_a_flipped_byte_that_could_hide_rows_is_told_or_does_no_harm(truth, chance):
    pages = range(0, len(truth.content), PAGE)
    places = [page + (100 if page == 0 else 0) + at for page in pages for at in HEAD]
    told = sum(truth.check(content) > 0 for content in flipped(truth.content, places, chance))
    assert told > len(places) // 2


def test_a_flipped_byte_in_an_index_is_told_or_does_no_harm(truth, chance):
    connection = sqlite3.connect(truth.path)
    pages = [page for (page,) in connection.execute("SELECT rootpage FROM sqlite_schema WHERE type = 'index'")]
    connection.close()
    used = [at for page in pages for at in range((page - 1) * PAGE, page * PAGE) if truth.content[at]]
    for content in flipped(truth.content, chance.sample(used, 150), chance):
        truth.check(content)


def test_a_file_that_was_cut_is_told_and_whole_when_it_is_put_back(truth, chance):
    for _ in range(60):
        assert truth.check(truth.content[: chance.randrange(1, len(truth.content))]) > 0
    assert truth.check(truth.content) == 0


def test_a_block_of_zeros_is_told_or_does_no_harm_to_any_thread(truth, chance):
    for at in (at * 512 for at in spread(len(truth.content) // 512, 30, chance)):
        size = chance.choice((16, 128, 512))
        truth.check(truth.content[:at] + bytes(size) + truth.content[at + size :])
    assert truth.check(truth.content) == 0


def _foreign(path: Path) -> None:
    path.unlink()
    other = sqlite3.connect(path)
    other.executescript("CREATE TABLE branches (no)")
    other.close()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


MISTAKEN: dict[str, Callable[[Path], Any]] = {
    "another program's database": _foreign,
    "a text": lambda path: path.write_text("hello " * 1000),
    "a few bytes": lambda path: path.write_bytes(b"SQLite format 3"),
    "a folder": _folder,
}


@pytest.mark.parametrize("what", MISTAKEN)
def test_a_file_that_is_no_store_is_told_and_the_threads_are_there_when_it_is_put_back(what, truth):
    MISTAKEN[what](truth.path)
    with pytest.raises(Exception, match=r"t\.db") as told:
        SQLiteStateStore(truth.path)
    assert type(told.value).__name__ in ("StoreFormatError", "StateStoreError")
    if truth.path.is_dir():
        truth.path.rmdir()
    assert truth.check(truth.content) == 0


def test_a_damaged_log_is_told_or_gives_the_thread_as_it_once_was(quick, chance):
    """What was committed last stands in the log beside the file. A log that is damaged ends there for SQLite."""
    clock, path = StillClock(), quick / "t.db"
    with SQLiteStateStore(path, clock=clock) as store:
        cases.invoke({}, thread_id="t", state_store=store)
        whole, log = path.read_bytes(), (quick / "t.db-wal").read_bytes()
        history = asyncio.run(store.history("t"))
        states = {at: asyncio.run(store.load("t", at)) for at in history.checkpoints}
    for content in flipped(log, spread(len(log), 40, chance), chance):
        for beside in quick.glob("t.db-*"):
            beside.unlink()
        path.write_bytes(whole)
        (quick / "t.db-wal").write_bytes(content)
        with suppress(*DAMAGED, UnknownThreadError), SQLiteStateStore(path, clock=clock) as store:
            found = asyncio.run(store.history("t"))
            assert found.events == history.events[: len(found.events)]
            assert asyncio.run(store.load("t")) == states[found.checkpoints[-1]]


def test_an_empty_file_is_a_new_store_and_the_threads_are_there_when_it_is_put_back(truth):
    truth.path.write_bytes(b"")
    with SQLiteStateStore(truth.path) as store:
        assert asyncio.run(store.threads()).items == ()
    assert truth.check(truth.content) == 0


@pytest.mark.parametrize("what", ["emptied", "deleted"])
def test_an_empty_file_beside_its_log_is_told_and_whole_when_it_is_put_back(what, quick):
    """As after a process that died: what was committed last stands in the log alone."""
    clock, path, log = StillClock(), quick / "t.db", quick / "t.db-wal"
    with SQLiteStateStore(path, clock=clock) as store:
        cases.invoke({}, thread_id="t", state_store=store)
        whole, last = path.read_bytes(), log.read_bytes()
        state = asyncio.run(store.load("t"))
    path.write_bytes(b"")
    log.write_bytes(last)
    if what == "deleted":
        path.unlink()
    with pytest.raises(StoreCorruptedError):
        SQLiteStateStore(path)
    assert log.read_bytes() == last
    path.write_bytes(whole)
    with SQLiteStateStore(path, clock=clock) as store:
        assert asyncio.run(store.load("t")) == state


def test_a_copy_of_a_closed_file_is_a_store_with_everything(truth, quick):
    shutil.copy(truth.path, quick / "copy.db")
    with (
        SQLiteStateStore(quick / "copy.db", clock=truth.clock) as copy,
        SQLiteStateStore(truth.path, clock=truth.clock) as store,
    ):
        assert everything(copy) == everything(store)
