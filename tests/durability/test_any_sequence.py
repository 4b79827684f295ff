"""Any sequence of calls on threads and branches, on both stores, against an oracle: after each, everything that can be read
is what it should be."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from nodestep import Graph, InMemoryStateStore, Resume, SQLiteStateStore
from nodestep.testing import DyingStore, ManualClock
from tests.durability.oracle import HOUR_MS, LEASE_MS, PLANS, Commit, Line, Oracle, Refused, Told, build, outcome
from tests.durability.stage import Instant, at_once

THREADS = "abc"
NUMBERS = st.integers(0, 99)
"""Which of those there are."""
MEMORY = Path("/dev/shm")
DEATHS = st.none() | st.none() | st.tuples(st.integers(1, 4), st.booleans())
"""At which write the process dies that makes a call, and whether before or after it."""
HOWS = ["right"] * 8 + ["some"] * 3 + ["late", "late", "pause", "type", "key"]
"""How questions are answered: as they should, not all, one that was answered or has expired, for another pause, with a value
of another type, one that is not there."""


class Side:
    """One of the stores, with the graph of a process that uses it."""

    def __init__(self, store: Any) -> None:
        self.failed: set[str] = set()
        self.use(store)

    def use(self, store: Any) -> None:
        self.inner = store
        self.store = Instant(store)
        self.graph = build(self.store, self.failed)


class AnySequence(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.exists() else None))
        self.clock = ManualClock()
        self.oracle = Oracle(self.clock)
        self.sides = [Side(InMemoryStateStore(clock=self.clock)), Side(self.opened())]
        self.given: list[tuple[str, str, str]] = []

    def opened(self) -> SQLiteStateStore:
        return SQLiteStateStore(self.folder / "t.db", clock=self.clock)

    def teardown(self) -> None:
        if hasattr(self, "sides"):
            for side in self.sides:
                side.inner.close()
            shutil.rmtree(self.folder)

    # what is done

    @rule(thread=st.sampled_from(THREADS), plan=st.text(PLANS, max_size=4), death=DEATHS)
    def start(self, thread: str, plan: str, death: Any) -> None:
        self.runs(thread, "main", lambda: self.oracle.start(thread, "main", plan), death, {"plan": plan, "at": 0})

    @precondition(lambda self: self.oracle.lines)
    @rule(number=NUMBERS, plan=st.text(PLANS, max_size=3), death=DEATHS)
    def start_a_turn(self, number: int, plan: str, death: Any) -> None:
        thread, name = self.line(number, lambda line: not line.now.open and line.now.status != "ready")
        self.runs(thread, name, lambda: self.oracle.start(thread, name, plan), death, {"plan": plan, "at": 0})

    @precondition(lambda self: self.oracle.lines)
    @rule(number=NUMBERS, death=DEATHS)
    def go(self, number: int, death: Any) -> None:
        thread, name = self.line(number, lambda line: self.oracle.status(line) in ("ready", "failed", "unfinished"))
        self.runs(thread, name, lambda: self.oracle.go(thread, name), death)

    @precondition(lambda self: self.oracle.lines)
    @rule(number=NUMBERS, how=st.sampled_from(HOWS), death=DEATHS)
    def resume(self, number: int, how: str, death: Any) -> None:
        thread, name = self.line(number, self.oracle.waiting)
        given, pauses = self.answers(thread, name, how)
        if not given and self.oracle.expired(self.oracle.line(thread, name)):
            return  # such a resume goes on, which is not decided yet
        resume = Resume(answers=given, pause=pauses or None)
        self.runs(thread, name, lambda: self.oracle.resume(thread, name, given, pauses), death, None, resume)

    @precondition(lambda self: self.oracle.lines)
    @rule(number=NUMBERS, how=st.sampled_from(HOWS))
    def answer(self, number: int, how: str) -> None:
        thread, name = self.line(number, self.oracle.waiting)
        given, pauses = self.answers(thread, name, how)
        if given:
            self.does(
                lambda: self.oracle.answer(thread, name, given, pauses),
                lambda graph: graph.answer(thread, given, branch_id=name, pause=pauses or None),
            )

    @precondition(lambda self: self.oracle.lines)
    @rule(number=NUMBERS, at=NUMBERS, name=st.sampled_from(["f", "g", "h", "main"]))
    def fork(self, number: int, at: int, name: str) -> None:
        thread, origin = self.line(number)
        line = self.oracle.line(thread, origin)
        at = 1 + at % len(line.moments)
        event = self.oracle.event(line, at)
        self.does(
            lambda: self.oracle.fork(thread, origin, at, name),
            lambda graph: graph.fork(thread, from_=event, branch_id=origin, name=name),
        )

    @precondition(lambda self: self.oracle.lines)
    @rule(number=NUMBERS, values=st.sampled_from([{"n": 5}, {"log": ["edit"]}, {"n": 6, "log": ["e"]}]))
    def edit(self, number: int, values: Any) -> None:
        thread, name = self.line(number, lambda line: line.now.status != "completed")
        self.does(
            lambda: self.oracle.edit(thread, name, values),
            lambda graph: graph.update_state(thread, values, branch_id=name),
        )

    @precondition(lambda self: self.oracle.lines)
    @rule(number=NUMBERS)
    def cancel(self, number: int) -> None:
        thread, name = self.line(number)
        self.does(lambda: self.oracle.cancel(thread, name), lambda graph: graph.cancel(thread, branch_id=name))

    @precondition(lambda self: self.oracle.lines)
    @rule(number=NUMBERS, keep=st.integers(1, 2))
    def prune(self, number: int, keep: int) -> None:
        thread, name = self.line(number, lambda line: len(line.moments) > 4)
        self.does(
            lambda: self.oracle.prune(thread, name, keep),
            lambda graph: graph.prune(thread, branch_id=name, keep=keep),
        )

    @precondition(lambda self: len(self.oracle.lines) > 2)
    @rule(thread=st.sampled_from(THREADS))
    def delete(self, thread: str) -> None:
        self.does(lambda: self.oracle.delete(thread), lambda graph: graph.delete(thread))

    @precondition(lambda self: len(self.oracle.lines) == 1)
    @rule(thread=st.sampled_from(THREADS))
    def nobody_is_there(self, thread: str) -> None:
        """Every call on a branch that does not exist."""
        self.runs(thread, "nowhere", lambda: self.oracle.go(thread, "nowhere"), None)
        self.runs(thread, "nowhere", lambda: self.oracle.start(thread, "nowhere", ""), None, {"plan": ""})
        calls: list[tuple[Callable[[], Any], Callable[[Graph[Told]], Any]]] = [
            (
                lambda: self.oracle.answer(thread, "nowhere", {"step:a": 1}, {}),
                lambda graph: graph.answer(thread, {"step:a": 1}, branch_id="nowhere"),
            ),
            (
                lambda: self.oracle.edit(thread, "nowhere", {"n": 1}),
                lambda graph: graph.update_state(thread, {"n": 1}, branch_id="nowhere"),
            ),
            (lambda: self.oracle.cancel(thread, "nowhere"), lambda graph: graph.cancel(thread, branch_id="nowhere")),
        ]
        for told, call in calls:
            self.does(told, call)

    @rule()
    def leases_end(self) -> None:
        self.clock.lease += LEASE_MS

    @rule()
    def deadlines_pass(self) -> None:
        self.clock.wall += HOUR_MS

    @rule()
    def processes_end(self) -> None:
        self.sides[1].inner.close()
        self.sides[1].use(self.opened())

    # how it is done

    def line(self, number: int, wanted: Callable[[Line], Any] = lambda line: True) -> tuple[str, str]:
        """One of the branches; if there are such, one that is wanted."""
        lines = list(self.oracle.lines.values())
        some = [line for line in lines if wanted(line)] if number % 5 < 4 else lines
        line = (some or lines)[number % len(some or lines)]
        return line.thread, line.name

    def answers(self, thread: str, branch: str, how: str) -> tuple[dict[str, Any], dict[str, int]]:
        line = self.oracle.lines.get((thread, branch))
        waiting = self.oracle.waiting(line) if line else {}
        if line and how == "late":
            waiting = {**waiting, **self.oracle.expired(line)}
        given: dict[str, Any] = {key: 7 if asked.number else f"yes {asked.pause}" for key, asked in waiting.items()}
        pauses = {key: asked.pause for key, asked in waiting.items()}
        match how:
            case "late":
                given |= dict.fromkeys((key for of, at, key in self.given if (of, at) == (thread, branch)), "again")
                pauses = {}
            case "pause":
                pauses = {key: pause + 1 for key, pause in pauses.items()}
            case "type":
                given = {key: "text" if waiting[key].number else value for key, value in given.items()}
            case "key":
                given["step:nothing"] = 1
            case "some":
                given = dict(list(given.items())[:1])
                pauses = {key: pause for key, pause in pauses.items() if key in given}
        self.given += [(thread, branch, key) for key in given]
        return given, pauses

    def runs(
        self,
        thread: str,
        branch: str,
        commits: Callable[[], Iterator[Commit]],
        death: tuple[int, bool] | None,
        given: Mapping[str, Any] | None = None,
        resume: Resume | None = None,
    ) -> None:
        """A call that runs the graph, in a process that may die at one of its writes."""
        expected = self.ends(commits, death)
        for side in self.sides:
            store: Any = side.store
            if death is not None:
                store = DyingStore(side.store, at=death[0], after=death[1])

            def call(side: Side = side, store: Any = store) -> str:
                return side.graph.invoke(
                    given, thread_id=thread, branch_id=branch, resume=resume, state_store=store
                ).status

            assert heard(call) == expected

    def ends(self, commits: Callable[[], Iterator[Commit]], death: tuple[int, bool] | None) -> str:
        """Make the commits that come before the death; what the caller hears."""
        at, after = death or (1000, False)
        made: Commit | None = None
        try:
            for number, commit in enumerate(commits(), start=1):
                if number == at and not after:
                    self.dies(made)
                    return "StoreDiedError"
                self.oracle.make(commit)
                made = commit
                if number == at:
                    self.dies(made)
                    return "StoreDiedError"
        except Refused as refused:
            return str(refused)
        assert made is not None
        return outcome(made.moment)

    def dies(self, last: Commit | None) -> None:
        """The process died and left its lease behind, unless it had given the branch back."""
        if last is not None and last.moment.status == "unfinished":
            last.line.live_until_ms = self.clock.lease + LEASE_MS

    def does(self, told: Callable[[], Iterator[Commit] | None], call: Callable[[Graph[Told]], Any]) -> None:
        """A call that runs nothing."""
        try:
            for commit in told() or ():
                self.oracle.make(commit)
            expected = ""
        except Refused as refused:
            expected = str(refused)
        for side in self.sides:
            assert told_by(call(side.graph)) == expected

    # what is read

    @invariant()
    def everything_reads_as_it_should(self) -> None:
        for thread in THREADS:
            self.compare(thread)
        now = [
            (item.pause, self.oracle.lines[item.thread_id or "", item.branch_id].no, item.key)
            for item in self.both(lambda side: at_once(side.store.pending()).items)
        ]
        assert now == self.oracle.pending()
        mains = sorted((line for line in self.oracle.lines.values() if line.name == "main"), key=lambda line: -line.no)
        assert [
            (item.thread_id, str(item.status)) for item in self.both(lambda side: at_once(side.store.threads()).items)
        ] == [(line.thread, self.oracle.status(line)) for line in mains]
        assert [
            (item.thread_id, item.branch_id, item.key, item.value, item.source)
            for item in self.both(lambda side: at_once(side.store.audit(limit=1000)).items)
        ] == [(one.thread, one.branch, one.key, one.value, one.source) for one in self.oracle.decisions]

    def compare(self, thread: str) -> None:
        """Every branch of a thread at each of its moments."""
        lines = self.oracle.of(thread)
        if not lines:
            assert {told_by(side.store.branches(thread)) for side in self.sides} == {"UnknownThreadError"}
            return
        assert [item.id for item in self.both(lambda side: at_once(side.store.branches(thread)))] == [
            line.name for line in lines
        ]
        for line in lines:
            self.compare_branch(line)

    def compare_branch(self, line: Line) -> None:
        first, last = line.first(), len(line.moments)
        history = self.both(lambda side: without_runs(at_once(side.store.history(line.thread, branch_id=line.name))))
        assert history.checkpoints == tuple(self.oracle.event(line, at) for at in range(first, last + 1))
        states = self.both(
            lambda side: [
                at_once(side.store.load(line.thread, event, branch_id=line.name)) for event in history.checkpoints
            ]
        )
        assert states == [moment.state for moment in line.moments[first - 1 :]]
        snapshot = self.both(lambda side: at_once(side.graph.get_state(line.thread, branch_id=line.name)))
        assert (snapshot.value.model_dump(), snapshot.sequence) == (line.now.state, last)
        assert self.both(lambda side: side.store.head(line.thread, line.name).live) == self.oracle.live(line)

    def both(self, read: Callable[[Side], Any]) -> Any:
        """What both stores answer, which is the same."""
        one, other = map(read, self.sides)
        assert one == other
        return one


def heard(call: Callable[[], str]) -> str:
    """What comes of a call: its result, or the name of its error."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__


def told_by(work: Coroutine[Any, Any, Any]) -> str:
    """The same for a call that runs nothing, whose result does not count."""

    def call() -> str:
        at_once(work)
        return ""

    return heard(call)


def without_runs(history: Any) -> Any:
    """A history without the ids of runs, which are drawn at random."""
    for event in history.events:
        if event.type == "run_started":
            event.data.pop("run_id")
    return history


AnySequence.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
test_any_sequence_of_calls = AnySequence.TestCase
