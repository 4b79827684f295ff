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
    Head,
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

THREADS = st.sampled_from(["t", "t", "t", "u"])
NAMES = st.sampled_from(["main", "a", "b", "c", "d"])
STATUSES = st.sampled_from([Status.RUNNING, Status.RUNNING, *Status])
KEYS = st.sampled_from(["k:1", "k:2", "k:3"])
DEADLINES = st.one_of(st.none(), st.integers(-5, 50))
CHOICE = st.integers(0, 20)
SELDOM = st.sampled_from([False] * 9 + [True])


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

    def one_of(self, choice: int) -> Head:
        """A branch that is there, or one that is not."""
        heads = [row.head for thread in ("t", "u") for row in self.memory.branch_rows(thread)]
        return heads[choice % len(heads)] if heads else NOBODY

    @rule(thread=THREADS, name=NAMES, status=STATUSES, graph=st.sampled_from(["A", "B"]))
    def begin(self, thread: str, name: str, status: Status, graph: str) -> None:
        self.commit(thread, name, New(graph), status)

    @rule(choice=CHOICE, lengths=st.integers(1, 6), snapshot=st.booleans())
    def grow(self, choice: int, lengths: int, snapshot: bool) -> None:
        for _ in range(lengths):
            head = self.one_of(choice)
            body = b"=%d" % (head.sequence + 1) if snapshot else None
            self.commit(head.thread_id, head.branch_id, _fitting(head), Status.RUNNING, snapshot=body)

    @rule(
        choice=CHOICE,
        wrong=SELDOM,
        behind=SELDOM,
        status=STATUSES,
        opens=st.dictionaries(KEYS, DEADLINES, max_size=2),
        closes=st.sets(KEYS, max_size=2),
        audits=st.lists(KEYS, max_size=2),
    )
    def go_on(
        self,
        choice: int,
        wrong: bool,
        behind: bool,
        status: Status,
        opens: dict[str, int | None],
        closes: set[str],
        audits: list[str],
    ) -> None:
        head = self.one_of(choice)
        guard = (Unchanged if wrong else type(_fitting(head)))(head.no, head.epoch, head.sequence - behind)
        now_ms = self.clock.wall
        self.commit(
            head.thread_id,
            head.branch_id,
            guard,
            status,
            opens=tuple(question(key, expires_at_ms=None if ms is None else now_ms + ms) for key, ms in opens.items()),
            closes=tuple(sorted(closes)),
            audits=tuple(AuditRow(key, key, "api") for key in audits),
        )

    @rule(choice=CHOICE, name=NAMES, back=CHOICE, status=STATUSES, brings=st.booleans())
    def fork(self, choice: int, name: str, back: int, status: Status, brings: bool) -> None:
        head = self.one_of(choice)
        stored = self.memory.read(head.thread_id, head.branch_id)
        opens = stored.questions if stored is not None and brings else ()
        sequence = head.sequence - back % (head.sequence + 1)
        self.commit(head.thread_id, name, ForkOf(head.no, sequence), status, opens=opens)

    @rule(choice=CHOICE, status=STATUSES)
    def fence(self, choice: int, status: Status) -> None:
        head = self.one_of(choice)
        self.commit(head.thread_id, head.branch_id, Fenced(head.no), status)

    @rule(choice=CHOICE, back=CHOICE, gives=st.booleans())
    def prune(self, choice: int, back: int, gives: bool) -> None:
        """With the snapshots that forks need, or with the one for the start alone."""
        head = self.one_of(choice)
        first = head.sequence - back % (head.sequence + 1)
        points = {first - 1}
        if gives:
            points |= {row.fork_sequence or 0 for row in self.memory.branch_rows(head.thread_id)}
        readable = sorted(point for point in points if self.is_readable(head, point))
        self.both("prune_rows", head.no, first, [(point, b"=%d" % point) for point in readable])

    @rule(thread=THREADS, really=SELDOM)
    def delete(self, thread: str, really: bool) -> None:
        if really:
            self.both("delete_rows", thread)

    @rule(ms=st.sampled_from([1, 20, 29_999, 30_000]))
    def wait(self, ms: int) -> None:
        self.clock.forward(ms)

    @rule(choice=CHOICE)
    def renew(self, choice: int) -> None:
        head = self.one_of(choice)
        self.both("renew", [(head.no, head.epoch), (head.no, head.epoch - 1)])

    def is_readable(self, head: Head, sequence: int) -> bool:
        return not isinstance(_answer(self.memory, "read", head.thread_id, head.branch_id, sequence), str)

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


NOBODY = Head(1, "t", "main", "A", Status.READY, 0, 1, False, 0, 0)


def _fitting(head: Head) -> Holding | Unchanged:
    """The guard of a run that goes on, or of one that claims the branch."""
    return (Holding if head.live else Unchanged)(head.no, head.epoch, head.sequence)


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
