"""The one loop: plan, run, merge, route, commit. It runs every frame alike; only the thread's own graph ends a run."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..engine.merge import check_memory, merge
from ..engine.route import Routed, route
from ..errors import InvalidUpdateError, LimitExceededError, RunLimitExceededError
from ..model.event import Paused, RunCompleted, RunFailed, SuperstepCompleted
from ..model.ids import frame_path
from ..model.limits import MAX_OPEN_QUESTIONS
from ..model.outcome import Asked, Done, Failed, Outcome
from ..model.patch import REDUCE, SET, Patch
from ..model.position import Conflict, Task
from ..model.schema import Update
from ..stores.base import Status
from .frame import FrameRun
from .questions import question_rows
from .routing import chooser
from .superstep import run_tasks
from .task import TaskEnd, plain_text


async def supersteps(at: FrameRun) -> bool:
    """Run a frame until nothing is due, and return True, or until all that is left waits for a person, and return
    False. Raises what a task, a merge or a router raised."""
    run, is_thread = at.run, at.parent is None
    if not at.frame.due:
        if is_thread:
            await run.commit(at.door, [RunCompleted()], Status.COMPLETED)
        return True
    while True:
        if at.step >= at.blueprint.max_steps:
            raise RunLimitExceededError("max_steps", at.blueprint.max_steps)
        ends = await run_tasks(at)
        lone = ends.get(at.frame.due[0].id) if len(at.frame.due) == 1 else None
        if lone is not None and type(lone.outcome) is not Done:
            at.note(lone.task.id, lone.outcome)
        for task in at.frame.due:
            end = ends.get(task.id)
            if end is not None and type(end.outcome) is Failed:
                await _fail(at, end)
        if at.frame.waits() if lone is None else type(lone.outcome) is Asked:
            if is_thread:
                await _pause(at)
            return False
        if await _merge_and_route(at, ends, lone):
            return True
        at.step += 1


def failure_of(error: BaseException, node: str | None = None) -> RunFailed:
    """How history tells an error."""
    return RunFailed(type(error).__name__, plain_text(error), node)


async def _fail(at: FrameRun, end: TaskEnd) -> None:
    """Raise a task's error; an inner frame leaves it to its outer task to tell."""
    error = end.error
    assert error is not None
    if at.parent is None:
        await at.run.commit(at.door, [failure_of(error, end.task.node)], Status.FAILED, question_rows(at.run))
    raise error


async def _pause(at: FrameRun) -> None:
    run = at.run
    asked = run.position.asked()
    if len(asked) > MAX_OPEN_QUESTIONS:
        raise LimitExceededError(
            f"Thread {run.thread_id!r} would wait for {len(asked)} answers, and a thread holds at most {MAX_OPEN_QUESTIONS} "
            "open questions. Ask them in smaller groups, or in one form."
        )
    await run.commit(at.door, [Paused()], Status.INTERRUPTED, question_rows(run))


async def _merge_and_route(at: FrameRun, ends: dict[str, TaskEnd], lone: TaskEnd | None) -> bool:
    """End the superstep in one commit. Says whether the thread came to its end. A lone task's update goes with the
    superstep's own fact; when merging or routing fails, its outcome is recorded instead."""
    frame = at.frame
    done: dict[str, Done] = {}
    updates: dict[str, Update] = {}
    for task in frame.due:
        end = ends.get(task.id)
        outcome = end.outcome if end is not None else frame.work_of(task.id).outcome
        assert isinstance(outcome, Done)
        done[task.id] = outcome
        update = end.update if end is not None else _recorded_update(at, outcome)
        if update is not None:
            updates[task.id] = update
    try:
        if lone is None:
            check_memory(frame, done)
        values, extra = merge(at.schema, at.values, frame, updates)
        routed = route(at.blueprint, frame, done, chooser(at, values))
    except Exception as error:
        if lone is not None:
            at.note(lone.task.id, lone.outcome)
        if isinstance(error, InvalidUpdateError) and at.parent is None:
            at.run.conflict = Conflict(error.field, error.nodes)
        raise
    if lone is not None and frame.work_of(lone.task.id).outcome is None and not _tells_more(lone.outcome):
        extra = _joined(done[lone.task.id].patch, extra)
    elif lone is not None:
        at.note(lone.task.id, lone.outcome)
    await _commit_superstep(at, values, routed, extra)
    if at.run.sink is not None:
        await _tell(at, frame.due, updates, routed)
    return not routed.due


def _tells_more(outcome: Outcome) -> bool:
    """Whether a lone task's outcome says what its superstep's own fact cannot."""
    return bool(outcome.answers or outcome.rejected or (type(outcome) is Done and outcome.memory))


def _recorded_update(at: FrameRun, outcome: Done) -> Update | None:
    return at.schema.update_from_patch(outcome.patch) if outcome.patch else None


def _joined(patch: Patch, extra: Patch) -> Patch:
    """A lone task's patch with the results of custom reducers in the place of what they were given."""
    if not extra:
        return patch
    joined = {operation: fields for operation, fields in patch.items() if operation != REDUCE}
    joined[SET] = {**joined.get(SET, {}), **extra[SET]}
    return joined


async def _commit_superstep(at: FrameRun, values: dict[str, Any], routed: Routed, patch: Patch) -> None:
    """The last superstep of an inner frame goes with the next commit of its outer one."""
    run, frame = at.run, at.frame
    after = frame.advanced(routed.due, routed.marks)
    if len(run.frames) > 1:
        for task in frame.due:
            run.close_frames(frame_path(at.path, task.id))
    if run.log is not None:
        completed = SuperstepCompleted(
            routed.due, patch, None if routed.marks == frame.marks else routed.marks, at.path
        )
        snapshot = partial(run.checkpoint, at, values, after) if run.log.wants_snapshot() else None
        if routed.due:
            await run.commit(at.door, [completed], snapshot=snapshot)
        elif at.parent is None:
            await run.commit(at.door, [completed, RunCompleted()], Status.COMPLETED, snapshot=snapshot)
        else:
            run.unrecorded.append(completed)
    at.values = values
    at.frame = after


async def _tell(at: FrameRun, due: tuple[Task, ...], updates: dict[str, Update], routed: Routed) -> None:
    """The events of a superstep, after its commit; then wait until they were taken."""
    assert at.run.sink is not None
    for task in due:
        update, node = updates.get(task.id), at.blueprint.name_now(task.node)
        written = None if update is None else at.schema.shown(update)
        if at.run.listens("debug"):
            at.emit("debug", {"type": "node_output", "update": written}, node, task.id)
        if at.run.listens("updates"):
            at.emit("updates", written, node, task.id)
    if at.run.listens("debug"):
        at.emit("debug", {"type": "state_merge", "state": at.schema.data(at.values)})
        at.emit("debug", {"type": "routes", "next": [task.id for task in routed.due]})
    if at.run.listens("values"):
        at.emit("values", at.schema.data(at.values))
    await at.door.drained(at.run.sink)
