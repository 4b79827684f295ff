"""Both stores answer alike, whatever is written, forked, fenced, pruned and deleted in whatever order."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from nodestep.errors import UnknownEventError
from nodestep.stores.base import (
    AuditRow,
    Fenced,
    ForkOf,
    Guard,
    Holding,
    New,
    StateStore,
    Status,
    Unchanged,
    Write,
)
from nodestep.stores.memory import InMemoryStateStore
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import StillClock, question

THREADS = st.sampled_from(["t", "u"])
BRANCHES = st.sampled_from(["main", "a", "b", "c"])
STATUSES = st.sampled_from(list(Status))
KEYS = st.sampled_from(["k:1", "k:2", "k:3"])
SMALL = st.integers(0, 9)


class BothStores(RuleBasedStateMachine):
    """Every call is made on both, and what comes back is compared; after every step, all that can be read is."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = StillClock()
        self.folder = tempfile.TemporaryDirectory()
        self.memory: StateStore = InMemoryStateStore(clock=self.clock)
        self.file: StateStore = SQLiteStateStore(Path(self.folder.name) / "threads.db", clock=self.clock)
        self.records = 0

    def teardown(self) -> None:
        self.memory.close()
        self.file.close()
        self.folder.cleanup()

    def both(self, method: str, *arguments: Any, **rest: Any) -> Any:
        one, other = (_answer(store, method, *arguments, **rest) for store in (self.memory, self.file))
        assert one == other
        return one

    def commit(self, thread: str, branch: str, guard: Guard, status: Status, **rest: Any) -> None:
        self.records += 1
        write = Write(thread, branch, guard, status, b"%d" % self.records, **rest)
        self.both("commit", [write])

    def branch(self, thread: str, branch: str) -> tuple[int, int, int]:
        head = self.memory.head(thread, branch)
        return (head.no, head.epoch, head.sequence) if head is not None else (1, 1, 1)

    @rule(thread=THREADS, branch=BRANCHES, status=STATUSES, graph=st.sampled_from(["A", "B"]))
    def begin(self, thread: str, branch: str, status: Status, graph: str) -> None:
        self.commit(thread, branch, New(graph), status)

    @rule(
        thread=THREADS,
        branch=BRANCHES,
        holds=st.booleans(),
        status=STATUSES,
        opens=st.dictionaries(KEYS, st.one_of(st.none(), st.integers(-5, 50)), max_size=2),
        closes=st.sets(KEYS, max_size=2),
        audits=st.lists(KEYS, max_size=2),
        snapshot=st.booleans(),
        behind=st.sampled_from([0, 0, 0, 0, 1]),
    )
    def go_on(
        self,
        thread: str,
        branch: str,
        holds: bool,
        status: Status,
        opens: dict[str, int | None],
        closes: set[str],
        audits: list[str],
        snapshot: bool,
        behind: int,
    ) -> None:
        no, epoch, sequence = self.branch(thread, branch)
        guard = (Holding if holds else Unchanged)(no, epoch, sequence - behind)
        now = self.clock.wall
        rows = tuple(question(key, expires_at_ms=None if d is None else now + d) for key, d in opens.items())
        self.commit(
            thread,
            branch,
            guard,
            status,
            opens=rows,
            closes=tuple(sorted(closes)),
            audits=tuple(AuditRow(key, key, "api") for key in audits),
            snapshot=b"=%d" % (sequence + 1) if snapshot else None,
        )

    @rule(thread=THREADS, branch=BRANCHES, name=BRANCHES, back=SMALL, status=STATUSES, brings=st.booleans())
    def fork(self, thread: str, branch: str, name: str, back: int, status: Status, brings: bool) -> None:
        no, _, sequence = self.branch(thread, branch)
        stored = self.memory.read(thread, branch)
        opens = stored.questions if stored is not None and brings else ()
        self.commit(thread, name, ForkOf(no, sequence - back), status, opens=opens)

    @rule(thread=THREADS, branch=BRANCHES, status=STATUSES)
    def fence(self, thread: str, branch: str, status: Status) -> None:
        self.commit(thread, branch, Fenced(self.branch(thread, branch)[0]), status)

    @rule(thread=THREADS, branch=BRANCHES, first=SMALL, points=st.sets(SMALL, max_size=4))
    def prune(self, thread: str, branch: str, first: int, points: set[int]) -> None:
        no, _, _ = self.branch(thread, branch)
        readable = {point for point in points | {first - 1} if self.is_readable(thread, branch, point)}
        snapshots = [(point, b"=%d" % point) for point in sorted(readable)]
        self.both("prune_rows", no, first, snapshots)

    @rule(thread=THREADS)
    def delete(self, thread: str) -> None:
        self.both("delete_rows", thread)

    @rule(ms=st.sampled_from([1, 20, 29_999, 30_000]))
    def wait(self, ms: int) -> None:
        self.clock.forward(ms)

    @rule(thread=THREADS, branch=BRANCHES)
    def renew(self, thread: str, branch: str) -> None:
        no, epoch, _ = self.branch(thread, branch)
        self.both("renew", [(no, epoch), (no, epoch - 1)])

    def is_readable(self, thread: str, branch: str, sequence: int) -> bool:
        return not isinstance(_answer(self.memory, "read", thread, branch, sequence), str)

    @invariant()
    def all_that_can_be_read_is_alike(self) -> None:
        for thread in ("t", "u"):
            for listed in self.both("branch_rows", thread):
                self.look(thread, listed.head.branch_id, listed.head.sequence, listed.first)
            self.both("questions", thread)
            self.both("audit_rows", thread)
        self.both("questions")
        self.both("audit_rows")
        for status in (None, *Status):
            self.both("thread_rows", status=status)

    def look(self, thread: str, branch: str, last: int, first: int) -> None:
        self.both("head", thread, branch)
        records = self.both("records", thread, branch)
        assert [record.sequence for record in records] == list(range(first, last + 1))
        for upto in (None, *range(-1, last + 2)):
            stored = self.both("read", thread, branch, upto)
            if upto is None or max(first - 1, 1) <= upto <= last:
                assert not isinstance(stored, str)


def _answer(store: StateStore, method: str, *arguments: Any, **rest: Any) -> Any:
    """What a call returns, or the error that it raises as text."""
    try:
        return getattr(store, method)(*arguments, **rest)
    except (UnknownEventError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.slow
def test_memory_and_file_answer_alike():
    run_state_machine_as_test(
        BothStores,
        settings=settings(
            max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
