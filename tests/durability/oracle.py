"""What threads do, told a second time in the plainest way: a thread is a list of moments, one for each commit.

It knows one graph, `build`, whose input is a plan: what each superstep does, by a letter. Nothing here reads a store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    NodeContext,
    Send,
    add,
    interrupt,
    interrupt_many,
    node,
    when,
)
from nodestep.testing import ManualClock

HOUR_MS = 3_600_000
LEASE_MS = 30_000
PLANS = "watxyfms"
"""What a superstep can do: write; ask; ask for a number; ask with a deadline and a default; ask with a deadline alone; fail
the first time; ask two at once; send three tasks, of which two ask and one writes."""


class Told(BaseState):
    plan: str = ""
    at: int = 0
    log: Annotated[list[str], add] = Field(default_factory=list)
    n: int = 0


class BrokenError(Exception):
    """What a failing node raises."""


def build(store: Any, failed: set[str]) -> Graph[Told]:
    """`failed` remembers which tasks have failed once."""

    def answered(state: Told, ctx: NodeContext) -> Any:
        match state.plan[state.at]:
            case "w":
                return f"{state.n}"
            case "a":
                return interrupt("a?", id="a")
            case "t":
                return interrupt("t?", id="t", answer=int)
            case "x":
                return interrupt("x?", id="x", expires=timedelta(hours=1), default="never")
            case "y":
                return interrupt("y?", id="y", expires=timedelta(hours=1))
            case "m":
                return " ".join(map(str, interrupt_many({"m": "m?", "o": "o?"}).values()))
        if ctx.idempotency_key not in failed:
            failed.add(ctx.idempotency_key)
            raise BrokenError
        return "mended"

    @node
    async def side(state: Told) -> Any:
        if state.n == 2:
            return {"n": 70 + state.at}
        return {"log": [f"s{state.n} {interrupt('s?', id='s')}"]}

    @node(goto=[side])
    def step(state: Told, ctx: NodeContext) -> Any:
        if state.at == len(state.plan):
            return None
        if state.plan[state.at] == "s":
            return Command(update={"at": state.at + 1}, goto=[Send(side, {"n": number}) for number in range(3)])
        return {"at": state.at + 1, "log": [f"{state.plan[state.at]} {answered(state, ctx)}"]}

    return Graph(Told, name="told", state_store=store).flow(
        START >> step >> when(lambda state: state.at < len(state.plan), step, otherwise=END), side >> step
    )


@dataclass(frozen=True)
class Question:
    """An open question. `deadline_ms` is by the wall clock; `default` counts only with a deadline."""

    key: str
    pause: int
    deadline_ms: int | None = None
    default: str | None = None
    number: bool = False

    def waits(self, now_ms: int) -> bool:
        return self.deadline_ms is None or now_ms < self.deadline_ms


@dataclass(frozen=True)
class Moment:
    """A branch after one of its commits. `open` are the questions that nobody answered, `answers` the answers to the task
    that is due, `expired` what passed its deadline without a default; `sides` says that the three tasks of an `s` are due,
    and `written` that one of them has finished."""

    status: str
    plan: str = ""
    at: int = 0
    log: tuple[str, ...] = ()
    n: int = 0
    superstep: int = 0
    open: Mapping[str, Question] = field(default_factory=dict)
    answers: Mapping[str, Any] = field(default_factory=dict)
    expired: frozenset[str] = frozenset()
    sides: bool = False
    written: bool = False
    merged: bool = False
    """A superstep ended here."""

    @property
    def state(self) -> dict[str, Any]:
        return {"plan": self.plan, "at": self.at, "log": list(self.log), "n": self.n}


@dataclass
class Line:
    """A branch: its moments, those of its parent up to the fork included."""

    no: int
    thread: str
    name: str
    moments: list[Moment] = field(default_factory=list)
    parent: Line | None = None
    fork_at: int = 0
    pruned: int = 0
    live_until_ms: int = 0

    @property
    def now(self) -> Moment:
        return self.moments[-1]

    def first(self) -> int:
        """The number of the first moment that can still be loaded, from 1."""
        gone, line, end = self.pruned, self, len(self.moments)
        while line is not None:
            if end > line.fork_at:
                gone = max(gone, min(line.pruned, end))
            end = min(end, line.fork_at)
            if line.parent is None:
                break
            line = line.parent
        return gone + 1


@dataclass(frozen=True)
class Decision:
    thread: str
    branch: str
    key: str
    value: Any
    source: str


@dataclass(frozen=True)
class Commit:
    """One write: the moment it makes of a branch, and the decisions that it records."""

    line: Line
    moment: Moment
    decisions: tuple[Decision, ...] = ()


class Refused(Exception):  # noqa: N818 - a finding, told as the name of an error
    """What a call raises, by its type's name; nothing was written."""


class Oracle:
    """Every thread there is."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.lines: dict[tuple[str, str], Line] = {}
        self.decisions: list[Decision] = []
        self.failed: set[tuple[int, int]] = set()
        self.pauses = 0
        self.branches = 0

    # what is asked

    def of(self, thread: str) -> list[Line]:
        return [line for (name, _), line in self.lines.items() if name == thread]

    def line(self, thread: str, branch: str) -> Line:
        if (thread, branch) not in self.lines:
            raise Refused("UnknownThreadError")
        return self.lines[thread, branch]

    def live(self, line: Line) -> bool:
        return self.clock.lease < line.live_until_ms

    def waiting(self, line: Line) -> dict[str, Question]:
        return {key: asked for key, asked in line.now.open.items() if asked.waits(self.clock.wall)}

    def expired(self, line: Line) -> dict[str, Question]:
        return {key: asked for key, asked in line.now.open.items() if not asked.waits(self.clock.wall)}

    def status(self, line: Line) -> str:
        """As a list of threads tells it."""
        if self.live(line):
            return "running"
        if line.now.open and not self.waiting(line):
            return "ready"
        return line.now.status

    def pending(self) -> list[tuple[int, int, str]]:
        return sorted(
            (asked.pause, line.no, key) for line in self.lines.values() for key, asked in self.waiting(line).items()
        )

    def event(self, line: Line, at: int) -> str:
        """The id of a moment's last event."""
        while line.parent is not None and at <= line.fork_at:
            line = line.parent
        return f"{line.no}-{at}"

    # what is done: calls that run give their commits one by one, and the test says which of them were made

    def make(self, commit: Commit) -> None:
        line = commit.line
        if (line.thread, line.name) not in self.lines:
            self.branches += 1
            self.lines[line.thread, line.name] = line
        line.moments.append(commit.moment)
        line.live_until_ms = 0
        self.decisions += commit.decisions
        self.pauses = max(self.pauses, *(asked.pause for asked in commit.moment.open.values()), 0)

    def start(self, thread: str, branch: str, plan: str) -> Iterator[Commit]:
        line = self.lines.get((thread, branch))
        if line is None:
            if branch != "main":
                raise Refused("UnknownThreadError")
            line, now = Line(self.branches + 1, thread, branch), Moment("new")
        else:
            self._check_free(line)
            if self.waiting(line) or self.status(line) == "ready":
                raise Refused("ResumeError")
            now = line.now
        begun = Moment("unfinished", plan, 0, now.log, now.n, now.superstep + 1)
        yield Commit(line, begun)
        yield from self._run(line, begun)

    def go(self, thread: str, branch: str) -> Iterator[Commit]:
        line = self.line(thread, branch)
        self._check_free(line)
        if self.status(line) in ("completed", "cancelled", "interrupted"):
            raise Refused("ResumeError")
        yield from self._go_on(line, {})

    def resume(self, thread: str, branch: str, given: Mapping[str, Any], pauses: Mapping[str, int]) -> Iterator[Commit]:
        line = self.line(thread, branch)
        self._check_free(line)
        waiting = self.waiting(line)
        self._check_answers(line, given, pauses)
        if not waiting or waiting.keys() - given.keys():
            raise Refused("ResumeError")
        yield from self._go_on(line, given)

    def answer(self, thread: str, branch: str, given: Mapping[str, Any], pauses: Mapping[str, int]) -> Iterator[Commit]:
        line = self.line(thread, branch)
        self._check_free(line)
        if not line.now.open:
            raise Refused("ResumeError")
        self._check_answers(line, given, pauses)
        yield Commit(line, self._closed(line.now, given), self._decided(line, given, "api"))

    def fork(self, thread: str, branch: str, at: int, name: str) -> Iterator[Commit]:
        line = self.line(thread, branch)
        if not line.first() <= at <= len(line.moments):
            raise Refused("UnknownEventError")
        if (thread, name) in self.lines:
            raise Refused("GraphConfigError")
        made = Line(self.branches + 1, thread, name, line.moments[:at], line, at)
        yield Commit(made, replace(line.moments[at - 1], merged=False))

    def edit(self, thread: str, branch: str, values: Mapping[str, Any]) -> Iterator[Commit]:
        line = self.line(thread, branch)
        self._check_free(line)
        now = replace(line.now, merged=False)
        if now.written and "n" in values:
            raise Refused("InvalidUpdateError")
        yield Commit(line, replace(now, n=values.get("n", now.n), log=(*now.log, *values.get("log", ()))))

    def cancel(self, thread: str, branch: str) -> Iterator[Commit]:
        line = self.line(thread, branch)
        now = line.now
        if now.status in ("completed", "cancelled"):
            raise Refused("ResumeError")
        yield Commit(line, Moment("cancelled", now.plan, now.at, now.log, now.n, now.superstep))

    def delete(self, thread: str) -> None:
        lines = self.of(thread)
        if not lines:
            raise Refused("UnknownThreadError")
        if any(self.live(line) for line in lines):
            raise Refused("ThreadBusyError")
        for line in lines:
            del self.lines[thread, line.name]
        self.decisions = [decision for decision in self.decisions if decision.thread != thread]

    def prune(self, thread: str, branch: str, keep: int) -> None:
        line = self.line(thread, branch)
        held = max(line.pruned, line.fork_at)
        ends = [at for at in range(held + 1, len(line.moments) + 1) if line.moments[at - 1].merged]
        if len(ends) > keep:
            line.pruned = ends[-keep - 1]

    # how it comes about

    def _check_free(self, line: Line) -> None:
        if self.live(line):
            raise Refused("ThreadBusyError")

    def _check_answers(self, line: Line, given: Mapping[str, Any], pauses: Mapping[str, int]) -> None:
        waiting, expired = self.waiting(line), self.expired(line)
        for key in given:
            if key in expired:
                raise Refused("InterruptExpiredError")
            if key not in waiting:
                raise Refused("ResumeError")
        for key, pause in pauses.items():
            if key not in given or waiting[key].pause != pause:
                raise Refused("ResumeError")
        if any(waiting[key].number and not isinstance(value, int) for key, value in given.items()):
            raise Refused("ResumeError")

    def _closed(self, now: Moment, given: Mapping[str, Any]) -> Moment:
        still = {key: asked for key, asked in now.open.items() if key not in given}
        status = now.status if still else "ready"
        return replace(now, open=still, answers={**now.answers, **given}, status=status, merged=False)

    def _decided(self, line: Line, given: Mapping[str, Any], source: str) -> tuple[Decision, ...]:
        return tuple(Decision(line.thread, line.name, key, value, source) for key, value in given.items())

    def _go_on(self, line: Line, given: Mapping[str, Any]) -> Iterator[Commit]:
        now = line.now
        late = {key: asked.default for key, asked in self.expired(line).items()}
        defaults = {key: value for key, value in late.items() if value is not None}
        claimed = replace(
            now,
            open={},
            answers={**now.answers, **defaults, **given},
            expired=now.expired | (late.keys() - defaults.keys()),
            status="unfinished",
            merged=False,
        )
        yield Commit(line, claimed, self._decided(line, late, "expiry") + self._decided(line, given, "api"))
        yield from self._run(line, claimed)

    def _run(self, line: Line, now: Moment) -> Iterator[Commit]:
        """The commits to come; the last one says how it ends."""
        while now.status == "unfinished":
            now = self._superstep(line, now)
            yield Commit(line, now)

    def _superstep(self, line: Line, now: Moment) -> Moment:
        if now.sides:
            return self._sides(now)
        after = replace(
            now,
            superstep=now.superstep + 1,
            answers={},
            expired=frozenset(),
            status="unfinished",
            merged=True,
            at=now.at + 1,
        )
        if now.at == len(now.plan):
            return replace(after, at=now.at, status="completed")
        what = now.plan[now.at]
        end = "unfinished" if after.at < len(now.plan) else "completed"
        match what:
            case "s":
                return replace(after, sides=True)
            case "w":
                return replace(after, log=(*now.log, f"w {now.n}"), status=end)
            case "f":
                if (line.no, now.superstep) not in self.failed:
                    self.failed.add((line.no, now.superstep))
                    return replace(now, status="failed", merged=False)
                return replace(after, log=(*now.log, "f mended"), status=end)
        keys = ["step:m", "step:o"] if what == "m" else [f"step:{what}"]
        if keys[0] in now.expired:
            return replace(now, status="failed", merged=False)
        if missing := [key for key in keys if key not in now.answers]:
            return self._paused(now, missing)
        said = " ".join(str(now.answers[key]) for key in keys)
        return replace(after, log=(*now.log, f"{what} {said}"), status=end)

    def _sides(self, now: Moment) -> Moment:
        keys = ["side:s", "side[1]:s"]
        if missing := [key for key in keys if key not in now.answers]:
            return replace(self._paused(now, missing), written=True)
        said = tuple(f"s{number} {now.answers[key]}" for number, key in enumerate(keys))
        return replace(
            now,
            superstep=now.superstep + 1,
            answers={},
            log=(*now.log, *said),
            n=70 + now.at,
            sides=False,
            written=False,
            merged=True,
        )

    def _paused(self, now: Moment, keys: list[str]) -> Moment:
        asked = {}
        for key in keys:
            what = key.rpartition(":")[2]
            deadline_ms = self.clock.wall + HOUR_MS if what in "xy" else None
            asked[key] = Question(key, self.pauses + 1, deadline_ms, "never" if what == "x" else None, what == "t")
        return replace(now, open=asked, status="interrupted", merged=False)


def outcome(moment: Moment) -> str:
    """What a call hears whose run ends with this moment."""
    if moment.status != "failed":
        return moment.status
    return "BrokenError" if moment.plan[moment.at] == "f" else "InterruptExpiredError"
