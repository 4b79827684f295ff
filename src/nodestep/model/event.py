"""What history tells: the facts of a commit, as data, and the events that users read.

A commit appends one record: a list of facts, stored as compact JSON. One superstep of one task is one short fact, so what
a commit writes is proportional to the update. `HistoryEvent` is what users see of it; `engine/replay.py` derives those.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from msgspec import Struct

from .json import Json, JsonObject
from .memory import NO_MEMORY, MemoryChange
from .outcome import NOTHING, Asked, Done, Failed, Outcome, StoredQuestion, Target
from .patch import NO_PATCH, Patch
from .position import ROOT, Conflict, Marks, Task, tasks_of
from .value import locked_value


class Started(Struct, frozen=True):
    """A turn began: the input as a patch (on a thread's first turn the whole state), and the tasks due first."""

    run_id: str
    patch: Patch
    due: tuple[Task, ...]


class Continued(Struct, frozen=True):
    """A run went on with an unfinished superstep."""

    run_id: str


class Answered(Struct, frozen=True):
    """Answers were accepted, by question key. `source` is where from: `api`, `cli`, `page`."""

    answers: Mapping[str, Json]
    by: str | None = None
    note: str | None = None
    source: str = "api"


class Expired(Struct, frozen=True):
    """Deadlines passed, by question key: these questions closed without a person, with their default where they have
    one."""

    keys: tuple[str, ...]


class FrameOpened(Struct, frozen=True):
    """A graph began inside a task: its name, the whole state that its input gives, and its first tasks. The frame goes
    with the outer task's `Done`, or with its superstep."""

    path: str
    graph: str
    state: JsonObject
    due: tuple[Task, ...]


class Remembered(Struct, frozen=True):
    """A graph hook changed what its middleware keeps in the thread."""

    change: MemoryChange
    path: str = ROOT


class CallsOpened(Struct, frozen=True):
    """The tool calls of a task's turn, as tasks of a frame without a graph. What is recorded of a call that stands there
    already stays; of a call that is no longer the same, nothing does."""

    path: str
    due: tuple[Task, ...]


class TaskRecorded(Struct, frozen=True):
    """One task's outcome, recorded before its superstep ended."""

    task: str
    outcome: Outcome
    path: str = ROOT


class OnceRecorded(Struct, frozen=True):
    """The result of one `ctx.once` of a task."""

    task: str
    id: str
    value: Json
    path: str = ROOT


class SuperstepCompleted(Struct, frozen=True):
    """A superstep merged. `patch` is what the recorded outcomes do not already say: a lone task's update, and the results
    of custom reducers. `marks` is `None` where the joins' marks did not change."""

    due: tuple[Task, ...]
    patch: Patch = NO_PATCH
    marks: Marks | None = None
    path: str = ROOT


class Paused(Struct, frozen=True):
    """The run stopped for a person; its questions are listed from this commit on."""


class RunFailed(Struct, frozen=True):
    """The run stopped with an error. What finished is recorded."""

    error_type: str
    message: str
    node: str | None = None
    conflict: Conflict | None = None


class StateUpdated(Struct, frozen=True):
    """The state was edited from outside a run, or gained the defaults of new fields."""

    patch: Patch
    path: str = ROOT


class Cancelled(Struct, frozen=True):
    """The thread was ended from outside; what was open is closed."""

    reason: str | None = None


class Forked(Struct, frozen=True):
    """The branch began here, as a copy of where its parent stood at an event."""

    origin: str


class RunCompleted(Struct, frozen=True):
    """The thread came to its end; a new input starts another turn."""


Fact: TypeAlias = (
    Started
    | FrameOpened
    | Remembered
    | CallsOpened
    | Continued
    | Answered
    | Expired
    | TaskRecorded
    | OnceRecorded
    | SuperstepCompleted
    | Paused
    | RunFailed
    | RunCompleted
    | StateUpdated
    | Cancelled
    | Forked
)


def tasks_to_json(due: tuple[Task, ...]) -> list[Json]:
    return [task.node if task.payload is None else [task.node, task.payload] for task in due]


def tasks_from_json(stored: list[Json]) -> tuple[Task, ...]:
    if len(stored) == 1 and isinstance(stored[0], str):
        return (Task(stored[0], stored[0]),)
    return tasks_of(Target(item) if isinstance(item, str) else Target(item[0], item[1]) for item in stored)


def calls_to_json(due: tuple[Task, ...]) -> list[Json]:
    """Tool calls as tasks: their ids are not numbered but the model's."""
    return [[task.id, task.node, task.payload] for task in due]


def calls_from_json(stored: list[Json]) -> tuple[Task, ...]:
    return tuple(Task(id, node, payload) for id, node, payload in stored)


def _question_to_json(question: StoredQuestion) -> JsonObject:
    out: JsonObject = {"id": question.id, "payload": question.payload}
    if question.answer_schema is not None:
        out["schema"] = question.answer_schema
    if question.assignee is not None:
        out["assignee"] = question.assignee
    if question.expires_at_ms is not None:
        out["expires_at"] = question.expires_at_ms
    if question.has_default:
        out["default"] = question.default
    return out


def _question_from_json(stored: JsonObject) -> StoredQuestion:
    return StoredQuestion(
        stored["id"],
        stored["payload"],
        stored.get("schema"),
        stored.get("assignee"),
        stored.get("expires_at"),
        "default" in stored,
        stored.get("default"),
    )


def outcome_to_json(outcome: Outcome) -> JsonObject:
    out: JsonObject = {}
    match outcome:
        case Done(patch, goto):
            if patch:
                out["patch"] = patch
            if outcome.memory:
                out["memory"] = dict(outcome.memory)
            if goto is not None:
                out["goto"] = [t.node if t.payload is None else [t.node, t.payload] for t in goto]
        case Asked(questions, _, cache):
            out["asked"] = [_question_to_json(question) for question in questions]
            if cache is not None:
                out["cache"] = cache
        case Failed(error_type, message, _, cache):
            out["error"] = [error_type, message]
            if cache is not None:
                out["cache"] = cache
    if outcome.answers:
        out["answers"] = dict(outcome.answers)
    if outcome.rejected:
        out["rejected"] = dict(outcome.rejected)
    return out


def outcome_from_json(stored: JsonObject) -> Outcome:
    answers, rejected = stored.get("answers", NOTHING), stored.get("rejected", NOTHING)
    if "asked" in stored:
        questions = tuple(_question_from_json(question) for question in stored["asked"])
        return Asked(questions, answers, stored.get("cache"), rejected)
    if "error" in stored:
        error_type, message = stored["error"]
        return Failed(error_type, message, answers, stored.get("cache"), rejected)
    goto = stored.get("goto")
    targets = (
        None
        if goto is None
        else tuple(Target(item) if isinstance(item, str) else Target(item[0], item[1]) for item in goto)
    )
    return Done(stored.get("patch", NO_PATCH), targets, answers, rejected, stored.get("memory", NO_MEMORY))


def fact_to_json(fact: Fact) -> list[Json]:
    """The stored form of a fact: a list that begins with its tag; trailing parts that say nothing are left out."""
    if isinstance(fact, SuperstepCompleted):  # by far the most frequent, and a match is dear
        return _superstep_to_json(fact)
    match fact:
        case TaskRecorded(task, outcome, path):
            out: list[Json] = ["task", task, outcome_to_json(outcome)]
            return [*out, path] if path else out
        case OnceRecorded(task, id, value, path):
            out = ["once", task, id, value]
            return [*out, path] if path else out
        case FrameOpened(path, graph, state, due):
            return ["open", path, graph, state, tasks_to_json(due)]
        case Remembered(change, path):
            return ["memory", dict(change), path] if path else ["memory", dict(change)]
        case CallsOpened(path, due):
            return ["calls", path, calls_to_json(due)]
        case Started(run_id, patch, due):
            return ["start", run_id, patch or {}, tasks_to_json(due)]
        case Continued(run_id):
            return ["continue", run_id]
        case Answered(answers, by, note, source):
            return ["answer", dict(answers), by, note, source]
        case Paused():
            return ["pause"]
        case RunFailed(error_type, message, node, conflict):
            out = ["fail", error_type, message, node]
            return out if conflict is None else [*out, [conflict.field, list(conflict.nodes)]]
        case RunCompleted():
            return ["end"]
        case Expired(keys):
            return ["expire", list(keys)]
        case StateUpdated(patch, path):
            return ["edit", patch or {}, path] if path else ["edit", patch or {}]
        case Cancelled(reason):
            return ["cancel", reason]
        case Forked(origin):
            return ["fork", origin]


def _superstep_to_json(fact: SuperstepCompleted) -> list[Json]:
    out: list[Json] = ["step", fact.patch or {}, tasks_to_json(fact.due)]
    if fact.marks is not None or fact.path:
        out.append(None if fact.marks is None else {join: list(sources) for join, sources in fact.marks.items()})
    if fact.path:
        out.append(fact.path)
    return out


def fact_from_json(stored: list[Json]) -> Fact:
    """The fact that `fact_to_json` wrote. Raises ValueError for a tag this version does not know."""
    if len(stored) == 3 and stored[0] == "step":  # by far the most frequent
        return SuperstepCompleted(tasks_from_json(stored[2]), stored[1])
    tag, *rest = stored
    match tag:
        case "step":
            patch, due, marks, path = [*rest, ROOT][:4]
            stored_marks = None if marks is None else {join: tuple(sources) for join, sources in marks.items()}
            return SuperstepCompleted(tasks_from_json(due), patch, stored_marks, path)
        case "task":
            task, outcome, path = [*rest, ROOT][:3]
            return TaskRecorded(task, outcome_from_json(outcome), path)
        case "once":
            task, id, value, path = [*rest, ROOT][:4]
            return OnceRecorded(task, id, value, path)
        case "open":
            path, graph, state, due = rest
            return FrameOpened(path, graph, state, tasks_from_json(due))
        case "memory":
            return Remembered(*rest)
        case "calls":
            path, due = rest
            return CallsOpened(path, calls_from_json(due))
        case "start":
            run_id, patch, due = rest
            return Started(run_id, patch, tasks_from_json(due))
        case "continue":
            return Continued(*rest)
        case "answer":
            return Answered(*rest)
        case "pause":
            return Paused()
        case "fail":
            error_type, message, node, conflict = [*rest, None][:4]
            return RunFailed(
                error_type, message, node, None if conflict is None else Conflict(conflict[0], tuple(conflict[1]))
            )
        case "end":
            return RunCompleted()
        case "expire":
            return Expired(tuple(rest[0]))
        case "edit":
            return StateUpdated(*rest)
        case "cancel":
            return Cancelled(*rest)
        case "fork":
            return Forked(*rest)
    raise ValueError(f"unknown fact {tag!r}")


LAST_INSTANT_MS = int(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()) * 1000


def instant(at_ms: int) -> datetime:
    """A store's Unix milliseconds as a UTC instant; what lies beyond the calendar is its last instant."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC)
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(LAST_INSTANT_MS / 1000, UTC)


@locked_value
class HistoryEvent:
    """One event of a branch, as users read it. `sequence` numbers the commits of the branch from 1; events of one commit
    share it. `type` is one of `run_started, superstep_started, node_completed, interrupted, answered, answer_rejected,
    expired, superstep_completed, superstep_failed, run_completed, state_updated, forked, cancelled`. `path` is that of the
    graph inside a task that the event is of, such as `"review/legal"`, and empty for the thread's own graph."""

    id: str
    thread_id: str
    branch_id: str
    sequence: int
    type: str
    created_at: datetime
    node: str | None = None
    data: Any = None
    error_type: str | None = None
    message: str | None = None
    path: str = ROOT


@locked_value
class History:
    """The events of a branch, oldest first, those it shares with its parents included. `checkpoints` are the ids of the
    events at which the thread can be loaded and forked: the last of each commit."""

    thread_id: str
    branch_id: str
    events: tuple[HistoryEvent, ...]
    checkpoints: tuple[str, ...]
