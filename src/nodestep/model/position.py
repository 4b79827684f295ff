"""Where a thread stands between two commits, frame by frame.

A frame is a graph at work; the thread's own graph is the frame with the path `""`. Everything that is due and everything
recorded of it stands here, so a process that has read a position needs nothing else to go on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from .ids import frame_path, interrupt_key, is_within, split_key, task_id
from .json import Json, JsonObject
from .locks import cached_property
from .memory import NO_MEMORY, Memory, changed
from .outcome import NOTHING, Asked, Done, Outcome, StoredQuestion, Target
from .status import Status

ROOT = ""
NO_GRAPH = ""
"""Stands for the graph's name in a frame that holds the tool calls of its outer task."""


class Task(Struct, frozen=True):
    """One run of a node in a superstep; `payload` is what a `Send` lays over the state for this task alone."""

    id: str
    node: str
    payload: JsonObject | None = None


class Work(Struct, frozen=True):
    """What is recorded of one due task. `answers`, `expired`, `cache` and `once` outlive pauses, failures, crashes and
    forks; `expired` holds the ids of questions whose deadline passed without a default, `pauses` the pause of each question
    that a person answered."""

    outcome: Outcome | None = None
    answers: Mapping[str, Json] = NOTHING
    cache: JsonObject | None = None
    once: Mapping[str, Json] = NOTHING
    expired: tuple[str, ...] = ()
    pauses: Mapping[str, int] = NOTHING

    def open_questions(self) -> tuple[StoredQuestion, ...]:
        """What this task asked and nobody answered yet, in the order asked."""
        if not isinstance(self.outcome, Asked):
            return ()
        answers, expired = self.answers, self.expired
        return tuple([q for q in self.outcome.questions if q.id not in answers and q.id not in expired])

    def with_outcome(self, outcome: Outcome) -> Work:
        answers = self.answers
        if outcome.rejected:
            answers = {id: answer for id, answer in answers.items() if id not in outcome.rejected}
        if outcome.answers:
            answers = {**answers, **outcome.answers}
        cache = self.cache if isinstance(outcome, Done) or outcome.cache is None else outcome.cache
        return Work(outcome, answers, cache, self.once, self.expired, self.pauses)


UNTOUCHED = Work()
NO_WORK: Mapping[str, Work] = MappingProxyType({})
Marks: TypeAlias = Mapping[str, tuple[str, ...]]
NO_MARKS: Marks = MappingProxyType({})


class Frame(Struct, frozen=True):
    """A graph at work: the number of the superstep that is due, its tasks in scheduling order, what is recorded of them,
    the marks of half-arrived joins (join target to the sources that have arrived), the graph's name where it works inside
    a task, and what its middleware keeps. An inner frame with nothing due has come to its end, and stands until its outer
    task is done."""

    superstep: int
    due: tuple[Task, ...] = ()
    work: Mapping[str, Work] = NO_WORK
    marks: Marks = NO_MARKS
    graph: str | None = None
    memory: Memory = NO_MEMORY

    def work_of(self, task: str) -> Work:
        return self.work.get(task, UNTOUCHED)

    def with_work(self, task: str, work: Work) -> Frame:
        """The frame with one task's work recorded. The frame it was called on is used up, and may be this very one, so that
        recording a thousand tasks costs a thousand times one."""
        if isinstance(self.work, dict):
            self.work[task] = work
            return self
        return Frame(self.superstep, self.due, {**self.work, task: work}, self.marks, self.graph, self.memory)

    def with_once(self, task: str, id: str, value: Json) -> Frame:
        """The frame with the result of one `ctx.once` of a task recorded."""
        work = self.work_of(task)
        return self.with_work(task, replace(work, once={**work.once, id: value}))

    def advanced(self, due: tuple[Task, ...], marks: Marks) -> Frame:
        """The frame one superstep later."""
        return Frame(
            self.superstep + 1, due, NO_WORK, marks, self.graph, self.remembered() if self.work else self.memory
        )

    def remembered(self) -> Memory:
        """The memory with what the finished tasks changed."""
        memory = self.memory
        for work in self.work.values():
            if isinstance(work.outcome, Done) and work.outcome.memory:
                memory = changed(memory, work.outcome.memory)
        return memory

    @property
    def holds_calls(self) -> bool:
        """Whether the tasks are the tool calls of the outer task, rather than those of a graph."""
        return self.graph == NO_GRAPH

    def with_calls(self, due: tuple[Task, ...]) -> Frame:
        """A frame of tool calls with these due: of those that stood here before as they are now, the work is kept."""
        kept = {task.id: self.work[task.id] for task in due if task in self.due and task.id in self.work}
        return replace(self, due=due, work=kept or NO_WORK)

    def waits(self, besides: Collection[str] = ()) -> bool:
        """Whether a task waits for an answer, asked by itself or below it, besides those named. True only after what could
        run has run."""
        return any(isinstance(work.outcome, Asked) for task, work in self.work.items() if task not in besides)


CALLS = Frame(1, graph=NO_GRAPH)
NO_FRAME = Frame(0)
"""Where a graph stands that was never at work."""


class Conflict(Struct, frozen=True):
    """A merge that cannot happen; only a new input or a fork goes on."""

    field: str
    nodes: tuple[str, ...]


class OpenQuestion(Struct, frozen=True):
    """A question with where it was asked."""

    key: str
    path: str
    task: Task
    question: StoredQuestion


class Listing(Struct, frozen=True):
    """When a question was first shown: the number of that pause, and its instant in Unix milliseconds of the store."""

    pause: int
    asked_at_ms: int


NO_FRAMES: Mapping[str, Frame] = MappingProxyType({})
NOTHING_LISTED: Mapping[str, Listing] = MappingProxyType({})


class Position(Struct, frozen=True, dict=True):
    """Every frame at work by its path, the open questions that people can see (by key), the conflict where the superstep's
    updates could not be merged, and how the branch stands when nobody works on it."""

    frames: Mapping[str, Frame] = NO_FRAMES
    listed: Mapping[str, Listing] = NOTHING_LISTED
    conflict: Conflict | None = None
    status: Status = Status.UNFINISHED

    @property
    def root(self) -> Frame:
        return self.frames.get(ROOT, NO_FRAME)

    def with_frame(self, path: str, frame: Frame) -> Position:
        return Position({**self.frames, path: frame}, self.listed, self.conflict, self.status)

    def outer_of(self, path: str) -> str:
        """The path of the frame around an inner one."""
        while path:
            path = path.rpartition("/")[0]
            if path in self.frames:
                return path
        return ROOT

    def graph_of(self, path: str) -> str:
        """The path of the graph that a frame belongs to: its own, or the one around tool calls."""
        return self.outer_of(path) if self.frames[path].holds_calls else path

    def without(self, path: str) -> Position:
        """The position without a frame, those inside it, and their questions."""
        gone = [inner for inner in self.frames if is_within(inner, path)]
        if not gone:
            return self
        frames = {inner: frame for inner, frame in self.frames.items() if inner not in gone}
        listed = {key: listing for key, listing in self.listed.items() if split_key(key)[0] not in gone}
        return replace(self, frames=frames, listed=listed)

    def with_calls(self, path: str, due: tuple[Task, ...]) -> Position:
        """The position with these tool calls in the frame at a path; what belonged to other calls there is gone."""
        before = self.frames.get(path, CALLS)
        position = self
        for task in before.due:
            if task not in due:
                position = position.without(frame_path(path, task.id))
        listed = {key: listing for key, listing in position.listed.items() if not _is_of(key, path, before.due, due)}
        return replace(position.with_frame(path, before.with_calls(due)), listed=listed)

    def without_below(self, path: str) -> Position:
        """The position without the frames inside this one, when its superstep is over."""
        position = self
        for task in self.frames[path].due:
            position = position.without(frame_path(path, task.id))
        return position

    def waits_below(self, path: str, task: str) -> bool:
        """Whether a frame inside this task of a frame has a question that nobody answered."""
        inner = frame_path(path, task)
        return any(
            work.open_questions()
            for at, frame in self.frames.items()
            if is_within(at, inner)
            for work in frame.work.values()
        )

    def asked(self) -> dict[str, OpenQuestion]:
        """Every question that nobody answered yet, by its key, in scheduling order."""
        return self._asked

    @cached_property
    def _asked(self) -> dict[str, OpenQuestion]:
        return {
            key: OpenQuestion(key, path, task, question)
            for path, frame in self.frames.items()
            for task in (frame.due if frame.work else ())
            for question in frame.work_of(task.id).open_questions()
            for key in (interrupt_key(path, task.id, question.id),)
        }

    def open_questions(self) -> dict[str, OpenQuestion]:
        """Those of them that a pause has shown: the ones that people can answer."""
        listed = self.listed
        return {key: found for key, found in self.asked().items() if key in listed} if listed else {}


NOWHERE = Position()


def _is_of(key: str, path: str, before: tuple[Task, ...], due: tuple[Task, ...]) -> bool:
    """Whether a question was asked by a call that is due no longer."""
    at, task, _ = split_key(key)
    return at == path and any(old.id == task and old not in due for old in before)


def tasks_of(targets: Iterable[Target]) -> tuple[Task, ...]:
    """Number targets into tasks: a plain target named several times runs once, every `Send` is a task of its own."""
    tasks: list[Task] = []
    plain: set[str] = set()
    count: dict[str, int] = {}
    for target in targets:
        node = target.node
        if target.payload is None:
            if node in plain:
                continue
            plain.add(node)
        index = count.get(node, 0)
        count[node] = index + 1
        tasks.append(Task(task_id(node, index), node, target.payload))
    return tuple(tasks)


def merge_order(due: Iterable[Task]) -> list[Task]:
    """The order in which updates merge: by node name, then scheduling order, so that timing never changes a result."""
    return sorted(due, key=lambda task: task.node)
