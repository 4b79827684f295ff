"""Threads, branches, answers, edits, forks, cuts and clocks in any order, on both stores against a simple oracle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from nodestep import InMemoryStateStore, Resume, SQLiteStateStore, UnknownEventError, UnknownThreadError
from tests.history.oracle import HOUR_MS, Line, Refusal, X, Y, asking
from tests.running.making import run
from tests.stores.writing import StillClock

Place = tuple[str, str]
KEYS = st.sampled_from([X, Y, "ask:other"])
VALUES = st.sampled_from(["yes", "no", 0, None])
PICK = st.integers(0, 30)
MAX_BRANCHES = 6


class Threads(RuleBasedStateMachine):
    """`lines` is the oracle: every branch by thread and name, and `points` where it stood at some of its checkpoints."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = StillClock()
        self.folder = TemporaryDirectory()
        self.memory = InMemoryStateStore(clock=self.clock)
        self.file = self.opened()
        self.lines: dict[Place, Line] = {}
        self.points: dict[Place, dict[str, Line]] = {}

    def opened(self) -> SQLiteStateStore:
        return SQLiteStateStore(Path(self.folder.name) / "threads.db", clock=self.clock)

    def teardown(self) -> None:
        self.memory.close()
        self.file.close()
        self.folder.cleanup()

    # how rules are told

    def place(self, pick: int) -> Place:
        return sorted(self.lines)[pick % len(self.lines)]

    def both(self, ask: Callable[[Any], Any]) -> Any:
        """What both stores answer, or the error that both raise."""
        outcomes: list[Any] = []
        for store in (self.memory, self.file):
            try:
                outcomes.append(ask(asking(store)))
            except Exception as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]
        return outcomes[0]

    def change(self, place: Place, model: Callable[[Line], Any], call: Callable[[Any], Any]) -> Any:
        """Do the same to the oracle and to both stores."""
        after = self.lines[place].copy()
        told, refused = None, None
        try:
            told = model(after)
        except Refusal as refusal:
            refused = refusal.error
        outcome = self.both(lambda graph: (call(graph), None)[1])
        if refused is not None:
            assert outcome is not None, f"{refused.__name__} expected"
            assert outcome[0] is refused, outcome
            return None
        assert outcome is None, outcome
        self.lines[place] = after
        self.points[place][self.checkpoints(place)[-1]] = after.copy()
        return told

    def checkpoints(self, place: Place) -> list[str]:
        return self.both(lambda graph: list(run(graph.history(place[0], branch_id=place[1])).checkpoints))

    def loaded(self, place: Place, at: str | None = None) -> Any:
        return self.both(lambda graph: run(graph.load(place[0], at, branch_id=place[1])))

    # rules

    @rule(thread=st.sampled_from(["t", "u"]), pick=PICK)
    def start(self, thread: str, pick: int) -> None:
        place = (thread, "main")
        if place in self.lines and pick:
            place = self.place(pick)
        self.lines.setdefault(place, Line())
        self.points.setdefault(place, {})
        middle = self.change(
            place,
            lambda line: line.take_input(self.clock.wall),
            lambda graph: graph.invoke({"log": ["in"]}, thread_id=place[0], branch_id=place[1]),
        )
        if middle is not None:
            self.points[place][self.checkpoints(place)[-2]] = middle

    @precondition(lambda self: self.lines)
    @rule(pick=PICK, given=st.dictionaries(KEYS, VALUES, min_size=1, max_size=2))
    def answer(self, pick: int, given: dict[str, Any]) -> None:
        thread, branch = place = self.place(pick)
        self.change(
            place,
            lambda line: line.answer(given, self.clock.wall),
            lambda graph: run(graph.answer(thread, given, branch_id=branch, by="ann")),
        )

    @precondition(lambda self: self.lines)
    @rule(pick=PICK, given=st.dictionaries(KEYS, VALUES, min_size=1, max_size=2))
    def resume(self, pick: int, given: dict[str, Any]) -> None:
        thread, branch = place = self.place(pick)
        self.change(
            place,
            lambda line: line.resume(given, self.clock.wall),
            lambda graph: graph.invoke(None, thread_id=thread, branch_id=branch, resume=Resume(answers=given)),
        )

    @precondition(lambda self: self.lines)
    @rule(pick=PICK)
    def resume_all(self, pick: int) -> None:
        waits = self.lines[self.place(pick)].waits(self.clock.wall)
        self.resume(pick, dict.fromkeys(waits or [X], "all"))

    @precondition(lambda self: self.lines)
    @rule(pick=PICK)
    def go_on(self, pick: int) -> None:
        thread, branch = place = self.place(pick)
        self.change(
            place,
            lambda line: line.go_on(self.clock.wall),
            lambda graph: graph.invoke(None, thread_id=thread, branch_id=branch),
        )

    @precondition(lambda self: self.lines)
    @rule(pick=PICK)
    def edit(self, pick: int) -> None:
        thread, branch = place = self.place(pick)
        self.change(
            place,
            lambda line: line.log.append("edit"),
            lambda graph: run(graph.update_state(thread, {"log": ["edit"]}, branch_id=branch)),
        )

    @precondition(lambda self: self.lines)
    @rule(pick=PICK)
    def cancel(self, pick: int) -> None:
        thread, branch = place = self.place(pick)
        self.change(place, Line.cancel, lambda graph: run(graph.cancel(thread, branch_id=branch)))

    @precondition(lambda self: 0 < len(self.lines) < MAX_BRANCHES)
    @rule(pick=PICK, at=PICK)
    def fork(self, pick: int, at: int) -> None:
        thread, branch = place = self.place(pick)
        known = [point for point in self.checkpoints(place) if point in self.points[place]]
        from_ = known[at % len(known)]
        made = self.both(lambda graph: run(graph.fork(thread, branch_id=branch, from_=from_)))
        new = (thread, made.id)
        self.lines[new] = self.points[place][from_].copy()
        self.points[new] = dict(self.points[place])
        self.points[new][self.checkpoints(new)[-1]] = self.lines[new].copy()

    @precondition(lambda self: self.lines)
    @rule(pick=PICK, keep=st.integers(1, 3))
    def prune(self, pick: int, keep: int) -> None:
        thread, branch = self.place(pick)
        assert self.both(lambda graph: run(graph.prune(thread, keep=keep, branch_id=branch))) is None

    @precondition(lambda self: len(self.lines) > 2)
    @rule(thread=st.sampled_from(["t", "u"]))
    def delete(self, thread: str) -> None:
        known = (thread, "main") in self.lines
        outcome = self.both(lambda graph: run(graph.delete(thread)))
        assert outcome is None if known else outcome[0] is UnknownThreadError
        for place in [place for place in self.lines if place[0] == thread]:
            del self.lines[place], self.points[place]

    @rule(hours=st.sampled_from([-2, 1, 1, 5]))
    def move_the_clock(self, hours: int) -> None:
        self.clock.wall += hours * HOUR_MS

    @rule()
    def open_the_file_anew(self) -> None:
        self.file.close()
        self.file = self.opened()

    # what must hold

    @invariant()
    def the_open_questions_are_the_oracles(self) -> None:
        now = self.clock.wall
        listed = self.both(lambda graph: run(graph.pending(limit=1000)))
        seen = sorted((item.thread_id, item.branch_id, item.key) for item in listed.items)
        assert seen == sorted((*place, key) for place, line in self.lines.items() for key in line.waits(now))

    @invariant()
    def every_branch_stands_where_the_oracle_says(self) -> None:
        now = self.clock.wall
        for place, line in self.lines.items():
            assert self.loaded(place)["log"] == line.log
        found = self.both(lambda graph: run(graph.threads()))
        assert {item.thread_id: item.status for item in found.items} == {
            thread: line.standing(now) for (thread, branch), line in self.lines.items() if branch == "main"
        }

    @precondition(lambda self: self.lines)
    @rule(pick=PICK)
    def read_the_past(self, pick: int) -> None:
        thread, _ = place = self.place(pick)
        left = self.checkpoints(place)
        for at, line in self.points[place].items():
            past = self.loaded(place, at)
            if at in left:
                assert past["log"] == line.log
            else:
                assert past[0] is UnknownEventError
        assert self.both(lambda graph: run(graph.branches(thread)))
        self.both(lambda graph: run(graph.audit(limit=1000)))


Threads.TestCase.settings = settings(max_examples=6, stateful_step_count=20)
TestThreadsAreAsTheOracleSays = Threads.TestCase
