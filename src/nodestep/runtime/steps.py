"""The one loop: plan, run, merge, route, commit. It runs every frame alike; only the thread's own graph ends a run."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Any

from msgspec import Struct

from ..engine.merge import check_memory, merge
from ..engine.route import route
from ..errors import InvalidUpdateError, LimitExceededError, RunLimitExceededError
from ..model.event import Fact, Paused, RunCompleted, RunFailed, SuperstepCompleted
from ..model.ids import frame_path
from ..model.limits import MAX_OPEN_QUESTIONS
from ..model.outcome import Done, Failed
from ..model.patch import REDUCE, SET, Patch
from ..model.position import Conflict, Frame, Task
from ..model.schema import Update
from ..stores.base import Receipt, Status
from . import lazy_asyncio as asyncio
from .ends import TaskEnd, plain_text
from .frame import FrameRun
from .log import Entry
from .questions import question_rows
from .routing import chooser
from .superstep import run_tasks
from .together import Ends


async def supersteps(at: FrameRun) -> bool:
    """Run a frame until nothing is due, and return True, or until all that is left waits for a person, and return
    False. Raises what a task, a merge or a router raised."""
    run, is_thread = at.run, at.parent is None
    if not at.frame.due:
        if is_thread:
            await run.commit(at.door, [RunCompleted()], Status.COMPLETED)
        return True
    while True:
        if at.halted:
            raise asyncio.CancelledError
        if at.step >= at.blueprint.max_steps:
            raise RunLimitExceededError("max_steps", at.blueprint.max_steps)
        due, ends = at.frame.due, run_tasks(at)
        if not isinstance(ends, (TaskEnd, dict)):
            ends = await ends
        if isinstance(ends, TaskEnd) and _tells_more(ends):
            at.note(ends.task.id, ends.outcome)
            ends = {ends.task.id: ends}
        if isinstance(ends, TaskEnd):
            merged = _after_one(at, ends)
        elif await _stops(at, ends):
            return False
        else:
            merged = _after_all(at, ends)
        commit = _commit_superstep(at, merged)
        if commit is not None:
            await _written(at, commit, ends)
        if run.sink is not None:
            await _tell(at, due, merged)
        if not merged.frame.due:
            return True
        at.step += 1


def failure_of(error: BaseException, node: str | None = None, conflict: Conflict | None = None) -> RunFailed:
    """How history tells an error."""
    return RunFailed(type(error).__name__, plain_text(error), node, conflict)


async def _stops(at: FrameRun, ends: Ends) -> bool:
    """Whether a person is waited for, now that the tasks have ended; raises the error of one that failed. An inner frame
    leaves both to its outer task to tell."""
    for task in at.frame.due:
        end = ends.get(task.id)
        if end is not None and type(end.outcome) is Failed:
            await _fail(at, end)
    waits = at.frame.waits()
    if waits and at.parent is None:
        await _pause(at)
    return waits


async def _fail(at: FrameRun, end: TaskEnd) -> None:
    error = end.error
    assert error is not None
    if at.parent is None:
        run, failure = at.run, failure_of(error, end.task.node)
        await run.commit(at.door, [failure], Status.FAILED, question_rows(run, run.position.asked()))
    raise error


async def _pause(at: FrameRun) -> None:
    run = at.run
    asked = run.position.asked()
    if len(asked) > MAX_OPEN_QUESTIONS:
        raise LimitExceededError(
            f"Thread {run.thread_id!r} would wait for {len(asked)} answers, and a thread holds at most {MAX_OPEN_QUESTIONS} "
            "open questions. Ask them in smaller groups, or in one form."
        )
    await run.commit(at.door, [Paused()], Status.INTERRUPTED, question_rows(run, asked))


class _Merged(Struct, frozen=True):
    """What a superstep made: the values and the frame after it, the patch that goes with its own fact, and the updates by
    task."""

    values: dict[str, Any]
    frame: Frame
    patch: Patch
    updates: dict[str, Update]


def _after_one(at: FrameRun, end: TaskEnd) -> _Merged:
    """What a task that was due alone made: its update goes with the superstep's own fact. When merging or routing fails, its
    outcome is recorded instead."""
    outcome, update = end.outcome, end.update
    assert isinstance(outcome, Done)
    updates = {} if update is None else {end.task.id: update}
    try:
        values, extra = merge(at.schema, at.values, at.frame, updates)
        frame = route(at.blueprint, at.frame, {end.task.id: outcome}, chooser(at, values))
    except BaseException as error:
        at.note(end.task.id, outcome)
        _keep_conflict(at, error)
        raise
    return _Merged(values, frame, _joined(outcome.patch, extra), updates)


def _after_all(at: FrameRun, ends: Ends) -> _Merged:
    """What tasks made whose outcomes are recorded."""
    done, updates = _gathered(at, ends)
    try:
        check_memory(at.frame, done)
        values, extra = merge(at.schema, at.values, at.frame, updates)
        frame = route(at.blueprint, at.frame, done, chooser(at, values))
    except Exception as error:
        _keep_conflict(at, error)
        raise
    return _Merged(values, frame, extra, updates)


def _keep_conflict(at: FrameRun, error: BaseException) -> None:
    if isinstance(error, InvalidUpdateError) and at.parent is None:
        at.run.conflict = Conflict(error.field, error.nodes)


def _gathered(at: FrameRun, ends: Ends) -> tuple[dict[str, Done], dict[str, Update]]:
    """What the tasks did and wrote, in this run or as recorded before."""
    done: dict[str, Done] = {}
    updates: dict[str, Update] = {}
    for task in at.frame.due:
        end = ends.get(task.id)
        outcome = end.outcome if end is not None else at.frame.work_of(task.id).outcome
        assert isinstance(outcome, Done)
        done[task.id] = outcome
        update = end.update if end is not None else _recorded_update(at, outcome)
        if update is not None:
            updates[task.id] = update
    return done, updates


def _tells_more(end: TaskEnd) -> bool:
    """Whether the outcome of a task that was due alone says what its superstep's own fact cannot."""
    outcome = end.outcome
    return type(outcome) is not Done or bool(outcome.answers or outcome.rejected or outcome.memory)


def _recorded_update(at: FrameRun, outcome: Done) -> Update | None:
    return at.schema.update_from_patch(outcome.patch) if outcome.patch else None


def _joined(patch: Patch, extra: Patch) -> Patch:
    """A lone task's patch with the results of custom reducers in the place of what they were given."""
    if not extra:
        return patch
    joined = {operation: fields for operation, fields in patch.items() if operation != REDUCE}
    joined[SET] = {**joined.get(SET, {}), **extra[SET]}
    return joined


def _commit_superstep(at: FrameRun, merged: _Merged) -> Awaitable[object] | None:
    """Go on to what the superstep made: with its commit, for which the caller waits, if there is one. The last superstep of
    an inner frame goes with the next commit of its outer one."""
    run, frame, due = at.run, at.frame, merged.frame.due
    log = run.log
    if log is None:
        _close_inside(at, frame)
        _go_on(at, merged)
        return None
    marks = None if merged.frame.marks == frame.marks else merged.frame.marks
    facts: list[Fact] = [SuperstepCompleted(due, merged.patch, marks, at.path)]
    status = Status.RUNNING
    if not due:
        if at.parent is not None:
            _close_inside(at, frame)
            _go_on(at, merged)
            run.unrecorded += facts
            return None
        facts.append(RunCompleted())
        status = Status.COMPLETED

    def make() -> Entry:
        _close_inside(at, frame)
        snapshot = partial(run.checkpoint, at, merged.values, merged.frame) if log.wants_snapshot() else None
        return run.entry(facts, status, (), snapshot, partial(_go_on, at, merged))

    receipt = at.door.commit(log, make)
    return None if isinstance(receipt, Receipt) else receipt


async def _written(at: FrameRun, commit: Awaitable[object], ends: TaskEnd | Ends) -> None:
    """Wait for the commit of a superstep. Where that was cancelled before its turn came, the outcome of a task that was due
    alone is still to be recorded."""
    superstep = at.frame.superstep
    try:
        await commit
    except asyncio.CancelledError:
        if isinstance(ends, TaskEnd) and at.frame.superstep == superstep:
            at.note(ends.task.id, ends.outcome)
        raise


def _go_on(at: FrameRun, merged: _Merged) -> None:
    at.values, at.frame = merged.values, merged.frame


def _close_inside(at: FrameRun, frame: Frame) -> None:
    if len(at.run.frames) > 1:
        for task in frame.due:
            at.run.close_frames(frame_path(at.path, task.id))


async def _tell(at: FrameRun, due: tuple[Task, ...], merged: _Merged) -> None:
    """The events of a superstep, after its commit; then wait until they were taken."""
    assert at.run.sink is not None
    for task in due:
        update, node = merged.updates.get(task.id), at.blueprint.name_now(task.node)
        written = at.schema.shown(update) if update is not None and update.values else None
        if at.run.listens("debug"):
            at.emit("debug", {"type": "node_output", "update": written}, node, task.id)
        if at.run.listens("updates"):
            at.emit("updates", written, node, task.id)
    if at.run.listens("debug"):
        at.emit("debug", {"type": "state_merge", "state": at.schema.data(at.values)})
        at.emit("debug", {"type": "routes", "next": [task.id for task in merged.frame.due]})
    if at.run.listens("values"):
        at.emit("values", at.schema.data(at.values))
    await at.door.drained(at.run.sink)
