"""Snapshot and facts in, checkpoint out: what is stored, read back without the graph and without user code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from ..errors import StoreCorruptedError
from ..model.canonical import decode, encode
from ..model.event import (
    Answered,
    CallsOpened,
    Cancelled,
    Continued,
    Expired,
    Fact,
    Forked,
    FrameOpened,
    OnceRecorded,
    Paused,
    Remembered,
    RunCompleted,
    RunFailed,
    Started,
    StateUpdated,
    SuperstepCompleted,
    TaskRecorded,
    calls_from_json,
    calls_to_json,
    fact_from_json,
    fact_to_json,
    outcome_from_json,
    outcome_to_json,
    tasks_from_json,
    tasks_to_json,
)
from ..model.ids import frame_path, split_key
from ..model.json import Json, JsonObject
from ..model.memory import NO_MEMORY, changed
from ..model.outcome import NOTHING, Done
from ..model.patch import FieldPositions, Patch, apply
from ..model.position import NO_GRAPH, NO_MARKS, NO_WORK, ROOT, Conflict, Frame, Listing, Position, Work, merge_order
from ..model.status import Status


class Checkpoint(Struct):
    """A thread at one of its commits: the state as JSON, where it stands, and the states of its inner frames by path. It
    belongs to whoever made it."""

    state: JsonObject = field(default_factory=dict)
    position: Position = field(default_factory=Position)
    inner: dict[str, JsonObject] = field(default_factory=dict)
    places: dict[str, FieldPositions] = field(default_factory=dict)
    """Where messages stand in the lists of each frame, so that an edit of one need not look at all."""

    def apply(self, facts: Iterable[Fact], pause: int | None, at_ms: int) -> None:
        """Go on by one commit."""
        for fact in facts:
            self._apply_patches(fact)
            self.position = advance(self.position, fact, pause, at_ms)
            if self.inner and len(self.position.frames) <= len(self.inner):
                self.inner = {path: state for path, state in self.inner.items() if path in self.position.frames}

    def state_at(self, path: str) -> JsonObject:
        """The state of a frame."""
        return self.inner[path] if path else self.state

    def _apply_patches(self, fact: Fact) -> None:
        match fact:
            case SuperstepCompleted():
                path = fact.path
                frame = self.position.frames[path]
                for task in merge_order(frame.due) if frame.work else ():
                    outcome = frame.work_of(task.id).outcome
                    if isinstance(outcome, Done):
                        self._apply(outcome.patch, path)
                self._apply(fact.patch, path)
            case Started(_, patch, _):
                self._apply(patch, ROOT)
            case StateUpdated(patch, path):
                self._apply(patch, path)
            case FrameOpened(path, _, state, _):
                self.inner[path] = state
                self.places.pop(path, None)
            case CallsOpened(path, _):
                self.inner[path] = {}
            case _:
                return

    def _apply(self, patch: Patch, path: str) -> None:
        apply(self.state_at(path), patch, self.places.setdefault(path, {}))


def advance(position: Position, fact: Fact, pause: int | None, at_ms: int) -> Position:
    """The position after a fact; the one before it is used up. `pause` and `at_ms` are what the store numbered the fact's
    commit with."""
    match fact:
        case SuperstepCompleted(due, _, marks, path):
            frame = position.frames[path]
            after = frame.advanced(due, frame.marks if marks is None else marks)
            if len(position.frames) > 1:
                position = position.without_below(path)
            return position.with_frame(path, after)
        case TaskRecorded(task, outcome, path):
            frame = position.frames[path]
            if isinstance(outcome, Done):
                position = position.without(frame_path(path, task))
            return position.with_frame(path, frame.with_work(task, frame.work_of(task).with_outcome(outcome)))
        case OnceRecorded(task, id, value, path):
            return position.with_frame(path, position.frames[path].with_once(task, id, value))
        case Started(_, _, due):
            return Position({ROOT: Frame(position.root.superstep + 1, due, memory=position.root.memory)})
        case Remembered(change, path):
            frame = position.frames[path]
            return position.with_frame(path, replace(frame, memory=changed(frame.memory, change)))
        case FrameOpened(path, graph, _, due):
            return position.with_frame(path, Frame(1, due, graph=graph))
        case CallsOpened(path, due):
            return position.with_calls(path, due)
        case Answered(answers):
            return _closed(position, answers, _answered)
        case Expired(keys):
            return _closed(position, dict.fromkeys(keys), _expired)
        case Continued():
            return Position(position.frames, position.listed, position.conflict)
        case Paused():
            listed = _listed(position, pause, at_ms)
            return Position(position.frames, listed, position.conflict, Status.INTERRUPTED)
        case RunFailed(_, _, _, conflict):
            return Position(position.frames, _listed(position, pause, at_ms), conflict, Status.FAILED)
        case RunCompleted():
            return Position(position.frames, position.listed, position.conflict, Status.COMPLETED)
        case Cancelled():
            root = Frame(position.root.superstep, memory=position.root.memory)
            return Position({ROOT: root}, status=Status.CANCELLED)
        case StateUpdated() if not position.frames:  # the edit that made the thread
            return Position({ROOT: Frame(0)}, status=Status.COMPLETED)
        case StateUpdated() | Forked():
            return position


def _closed(position: Position, answers: Mapping[str, Json], close: Callable[[Work, str, Json], Work]) -> Position:
    """The position with these questions closed; when none is left open, the branch is ready."""
    for key, value in answers.items():
        path, task, question_id = split_key(key)
        frame = position.frames[path]
        work = close(frame.work_of(task), question_id, value)
        work = replace(work, pauses={**work.pauses, question_id: position.listed[key].pause})
        position = position.with_frame(path, frame.with_work(task, work))
    listed = {key: listing for key, listing in position.listed.items() if key not in answers}
    return replace(position, listed=listed, status=position.status if listed else Status.READY)


def _answered(work: Work, question_id: str, value: Json) -> Work:
    return replace(work, answers={**work.answers, question_id: value})


def _expired(work: Work, question_id: str, _: Json) -> Work:
    """A question past its deadline takes its default; without one, `interrupt()` will say that it expired."""
    for question in work.open_questions():
        if question.id == question_id and question.has_default:
            return _answered(work, question_id, question.default)
    return replace(work, expired=(*work.expired, question_id))


def _listed(position: Position, pause: int | None, at_ms: int) -> Mapping[str, Listing]:
    """Every question asked so far is shown from this commit on; one shown before keeps its number."""
    if pause is None:
        return position.listed
    new = Listing(pause, at_ms)
    return {key: position.listed.get(key, new) for key in position.asked()}


def record_to_bytes(facts: Iterable[Fact]) -> bytes:
    """The body of a commit's record."""
    return encode([fact_to_json(fact) for fact in facts])


def record_from_bytes(body: bytes) -> list[Fact]:
    """The facts of a record. Raises StoreCorruptedError for bytes that no nodestep of this version wrote."""
    try:
        return [fact_from_json(stored) for stored in decode(body)]
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise StoreCorruptedError(
            f"A record of history cannot be read ({type(error).__name__}). Nothing was changed; restore the store from a "
            "copy, or read it with the nodestep version that wrote it."
        ) from error


def snapshot_to_bytes(checkpoint: Checkpoint) -> bytes:
    """A checkpoint as stored, so that loading need not start at the thread's first record."""
    position = checkpoint.position
    frames = {path: _frame_to_json(frame) for path, frame in position.frames.items()}
    listed = {key: [listing.pause, listing.asked_at_ms] for key, listing in position.listed.items()}
    conflict = position.conflict and [position.conflict.field, list(position.conflict.nodes)]
    stored = {
        "state": checkpoint.state,
        "frames": frames,
        "listed": listed,
        "conflict": conflict,
        "status": position.status.value,
    }
    if checkpoint.inner:
        stored["inner"] = checkpoint.inner
    return encode(stored)


def snapshot_from_bytes(body: bytes) -> Checkpoint:
    """Raises StoreCorruptedError for bytes that no nodestep of this version wrote."""
    try:
        stored = decode(body)
        conflict = stored["conflict"]
        position = Position(
            {path: _frame_from_json(frame) for path, frame in stored["frames"].items()},
            {key: Listing(*listing) for key, listing in stored["listed"].items()},
            None if conflict is None else Conflict(conflict[0], tuple(conflict[1])),
            Status(stored["status"]),
        )
        return Checkpoint(stored["state"], position, stored.get("inner", {}))
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise StoreCorruptedError(
            f"A snapshot cannot be read ({type(error).__name__}). Nothing was changed; restore the store from a copy."
        ) from error


def _frame_to_json(frame: Frame) -> JsonObject:
    due = calls_to_json(frame.due) if frame.holds_calls else tasks_to_json(frame.due)
    out: JsonObject = {"superstep": frame.superstep, "due": due}
    if frame.work:
        out["work"] = {task: _work_to_json(work) for task, work in frame.work.items()}
    if frame.marks:
        out["marks"] = {join: list(sources) for join, sources in frame.marks.items()}
    if frame.graph is not None:
        out["graph"] = frame.graph
    if frame.memory:
        out["memory"] = dict(frame.memory)
    return out


def _frame_from_json(stored: JsonObject) -> Frame:
    work = {task: _work_from_json(item) for task, item in stored["work"].items()} if "work" in stored else NO_WORK
    marks = {join: tuple(sources) for join, sources in stored["marks"].items()} if "marks" in stored else NO_MARKS
    graph = stored.get("graph")
    due = calls_from_json(stored["due"]) if graph == NO_GRAPH else tasks_from_json(stored["due"])
    return Frame(stored["superstep"], due, work, marks, graph, stored.get("memory", NO_MEMORY))


def _work_to_json(work: Work) -> JsonObject:
    out: JsonObject = {}
    if work.outcome is not None:
        out["outcome"] = outcome_to_json(work.outcome)
    if work.answers:
        out["answers"] = dict(work.answers)
    if work.cache is not None:
        out["cache"] = work.cache
    if work.once:
        out["once"] = dict(work.once)
    if work.expired:
        out["expired"] = list(work.expired)
    if work.pauses:
        out["pauses"] = dict(work.pauses)
    return out


def _work_from_json(stored: JsonObject) -> Work:
    outcome = outcome_from_json(stored["outcome"]) if "outcome" in stored else None
    return Work(
        outcome,
        stored.get("answers", NOTHING),
        stored.get("cache"),
        stored.get("once", NOTHING),
        tuple(stored.get("expired", ())),
        stored.get("pauses", NOTHING),
    )
