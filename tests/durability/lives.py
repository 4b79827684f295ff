"""A thread over several lives of a process: each goes on from what is stored, and is killed at one of its writes.

`live` is what a child does. `History` is what a store holds, read without the engine's replay, so that it may judge it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from nodestep import Graph, Resume, SQLiteStateStore
from nodestep.engine.replay import record_from_bytes
from nodestep.model.event import (
    Answered,
    CallsOpened,
    FrameOpened,
    OnceRecorded,
    Paused,
    RunFailed,
    Started,
    SuperstepCompleted,
    TaskRecorded,
)
from nodestep.model.ids import idempotency_key
from nodestep.model.outcome import Asked, Done
from nodestep.stores.base import Append, Receipt, Record, Refused, Status, Write
from nodestep.testing import DyingStore, kill_process
from tests.durability.shapes import SHAPES, THREAD, FlakyError, Work
from tests.persistence.programs.effects import Effects

FORMS = ("invoke", "ainvoke")
ENDS = ("exit", "kill")
"""How a process dies: by `os._exit`, which runs no handlers, or by SIGKILL."""


@dataclass(frozen=True)
class Kill:
    """The process dies at its `at`-th write, before it or after it."""

    at: int
    after: bool
    how: str = "exit"


class Acknowledging:
    """Notes each commit of a store when its caller is about to hear of it."""

    def __init__(self, store: Any, effects: Effects) -> None:
        self.store = store
        self.effects = effects

    def commit(self, writes: Sequence[Write | Append]) -> list[Receipt | Refused]:
        answers: list[Receipt | Refused] = self.store.commit(writes)
        for answer in answers:
            if isinstance(answer, Receipt):
                self.effects.do(f"ack:{answer.sequence}")
        return answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


def live(shape: str, path: str, effects: str, form: str, kill: list[Any] | None) -> None:
    """One life: take the thread to its end from wherever it stands, unless death comes first."""
    noted = Effects(effects)
    with SQLiteStateStore(path) as inner:
        store: Any = Acknowledging(inner, noted)
        if kill is not None:
            at, after, how = kill
            die = kill_process if how == "kill" else lambda: os._exit(137)
            store = DyingStore(store, at=at, after=after, die=die)
        finish(SHAPES[shape](store, noted), store, noted, form)


Form: TypeAlias = str | Callable[[Graph[Work], Any, Resume | None], Any]
"""How a graph is called: one of FORMS, or by a function of the test."""


def finish(graph: Graph[Work], store: Any, effects: Effects, form: Form = "invoke") -> None:
    """Start the thread if need be, answer what it asks, and try again what failed."""
    for _ in range(20):
        head = store.head(THREAD, "main")
        if head is not None and head.status is Status.COMPLETED:
            return
        asked = {listed.question.key: listed.question for listed in store.questions(THREAD)}
        for key, question in asked.items():
            effects.do(f"answer:{question.pause}:{key}")
        answers = {key: _answer_to(question.payload) for key, question in asked.items()}
        pauses = {key: question.pause or 0 for key, question in asked.items()}
        resume = Resume(answers=answers, pause=pauses) if asked else None
        try:
            call(graph, form, {} if head is None else None, resume)
        except FlakyError:
            continue
    raise AssertionError("the thread does not come to its end")


def _answer_to(payload: Any) -> Any:
    is_call = isinstance(payload, dict) and payload.get("kind") == "tool_interrupt"
    return True if is_call else f"yes to {payload}"


def call(graph: Graph[Work], form: Form, given: Any, resume: Resume | None) -> Any:
    if not isinstance(form, str):
        return form(graph, given, resume)
    if form == "ainvoke":
        return asyncio.run(graph.ainvoke(given, thread_id=THREAD, resume=resume))
    return graph.invoke(given, thread_id=THREAD, resume=resume)


@dataclass
class History:
    """What the records of a thread say. `done` are the tasks that finished, by their idempotency keys, `ends` how often
    each finished; `once` those with a result of `ctx.once`; questions are named by the pause that showed them and their key."""

    status: Status | None = None
    last: int = 0
    log: list[str] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)
    once: set[str] = field(default_factory=set)
    answered: list[tuple[int, str]] = field(default_factory=list)
    waiting: dict[str, int] = field(default_factory=dict)
    shown: list[tuple[int, str]] = field(default_factory=list)
    asked_again: list[str] = field(default_factory=list)

    @property
    def done(self) -> set[str]:
        return set(self.ends)

    @property
    def open(self) -> set[tuple[int, str]]:
        return {(pause, key) for key, pause in self.waiting.items()}


def history(path: Path) -> History:
    """What a file holds."""
    with SQLiteStateStore(path) as store:
        return history_of(store)


def history_of(store: Any) -> History:
    head = store.head(THREAD, "main")
    if head is None:
        return History()
    told = History(head.status, head.sequence)
    _Reading(told, f"{store.id}/{head.no}").read(store.records(THREAD, "main"))
    listed = {(one.question.pause, one.question.key) for one in store.questions(THREAD)}
    assert listed == told.open, "what is listed is not what the records say"
    told.log = asyncio.run(store.load(THREAD))["log"]
    return told


@dataclass
class _Frame:
    """A graph at work: the thread's own, or one inside a task."""

    path: str
    origin: str
    superstep: int = 0
    due: tuple[Any, ...] = ()
    asks: dict[str, set[str]] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)

    def next(self, due: tuple[Any, ...]) -> None:
        self.superstep += 1
        self.due, self.asks, self.answered = due, {}, set()

    def key(self, task: str) -> str:
        call = next((one.payload for one in self.due if one.id == task and "call" in (one.payload or {})), None)
        return idempotency_key(self.origin, self.superstep, self.path, task if call is None else f"{task}\0{call}")

    def inside(self, task: str) -> str:
        """The path of what is inside a task of it."""
        return f"{self.path}/{task}" if self.path else task


class _Reading:
    """Walks through records, superstep by superstep, in every graph at work."""

    def __init__(self, told: History, origin: str) -> None:
        self.told = told
        self.frames = {"": _Frame("", origin)}

    def read(self, records: Iterable[Record]) -> None:
        for record in records:
            for fact in record_from_bytes(record.body):
                self._take(fact, record.pause)

    def _take(self, fact: Any, pause: int | None) -> None:
        match fact:
            case Started(_, _, due):
                self.frames[""].next(due)
            case FrameOpened(path, _, _, due):
                outer = max((at for at in self.frames if not at or path.startswith(f"{at}/")), key=len)
                frame = self.frames[outer]
                assert path not in self.frames, "a graph inside a task began anew"
                self.frames[path] = _Frame(path, f"{frame.origin}/{frame.superstep}/{path}")
                self.frames[path].next(due)
            case CallsOpened(path, due):
                assert path not in self.frames, "a turn of tool calls began anew"
                frame = self.frames[path.rpartition("/")[0]]
                self.frames[path] = _Frame(path, f"{frame.origin}/{frame.superstep}/{path}")
                self.frames[path].next(due)
            case SuperstepCompleted(due, _, _, path):
                frame = self.frames[path]
                for task in frame.due:
                    self.told.ends.setdefault(frame.key(task.id), 1)
                    self._close(frame.inside(task.id))
                frame.next(due)
            case TaskRecorded(task, Asked(questions), path):
                frame = self.frames[path]
                frame.asks[task] = {f"{frame.inside(task)}:{question.id}" for question in questions}
                self.told.asked_again += frame.answered & frame.asks[task]
            case TaskRecorded(task, Done(), path):
                frame = self.frames[path]
                key = frame.key(task)
                self.told.ends[key] = self.told.ends.get(key, 0) + 1
                frame.asks.pop(task, None)
                self._close(frame.inside(task))
            case OnceRecorded(task, _, _, path):
                self.told.once.add(self.frames[path].key(task))
            case Answered(answers):
                self.told.answered += [(self.told.waiting.pop(key), key) for key in answers]
                for key in answers:
                    self.frames[key.rpartition(":")[0].rpartition("/")[0]].answered.add(key)
            case Paused() | RunFailed() if pause is not None:
                self._show(pause)

    def _close(self, path: str) -> None:
        self.frames = {at: frame for at, frame in self.frames.items() if at != path and not at.startswith(f"{path}/")}

    def _show(self, pause: int) -> None:
        for frame in self.frames.values():
            for key in sorted(set().union(*frame.asks.values()) - frame.answered - self.told.waiting.keys()):
                self.told.waiting[key] = pause
                self.told.shown.append((pause, key))


def noted_as(kind: str, notes: Iterable[str]) -> list[str]:
    """What was noted of a kind, such as `run`."""
    return [note.partition(":")[2] for note in notes if note.startswith(f"{kind}:")]


def once_is_once(notes: Sequence[str]) -> bool:
    """Whether nothing was done again that `ctx.once` had returned, over all lives."""
    return all(f"once:{key}" not in notes[notes.index(f"returned:{key}") :] for key in noted_as("returned", notes))


class Life:
    """A thread in one process whose calls break off, with what was stored at each break; at its end it is judged."""

    def __init__(self, store: Any, effects: Effects) -> None:
        self.store = store
        self.effects = effects
        self.before: list[tuple[History, int]] = []

    def breaks(self) -> None:
        """A call broke off here."""
        self.before.append((history_of(self.store), len(self.effects.done())))

    def ends(self, log: list[str]) -> None:
        """The thread is at its end: nothing was lost, and nothing that was recorded at a break was done after it."""
        after, noted = history_of(self.store), self.effects.done()
        assert after.status is Status.COMPLETED
        assert after.log == log
        assert set(after.ends.values()) == {1}, "a task is recorded twice"
        assert not after.asked_again, "a task asked again what was answered"
        assert once_is_once(noted), "what had been done once was done again"
        for before, read in self.before:
            assert before.done.isdisjoint(noted_as("run", noted[read:])), "a recorded task ran again"
            assert before.once.isdisjoint(noted_as("once", noted[read:])), (
                "what was recorded as done once was done again"
            )
            assert before.done <= after.done, "a recorded task is lost"
            assert before.answered == after.answered[: len(before.answered)], "an answer is lost"
