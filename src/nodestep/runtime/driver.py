"""The one loop: plan, run, merge, route, commit.

`drive` takes a run from its claim to its end. It is async, and knows nothing of how it is stepped; `blocking.py` says how.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any, Literal

from ..engine.merge import merge
from ..engine.replay import snapshot_to_bytes
from ..engine.route import Routed, route
from ..errors import (
    InvalidUpdateError,
    LeaseLostError,
    LimitExceededError,
    RunLimitExceededError,
    ThreadCancelledError,
)
from ..hooks.contexts import RunOutcome
from ..hooks.middleware import GraphHooks
from ..model.event import Fact, Paused, RunCompleted, RunFailed, SuperstepCompleted
from ..model.interrupt import Interrupt
from ..model.limits import MAX_OPEN_QUESTIONS, check_size
from ..model.outcome import Done, Failed
from ..model.patch import REDUCE, SET, Patch
from ..model.position import ROOT, Conflict, Position, Task
from ..model.schema import Update
from ..stores.base import Status
from .blocking import Door
from .context import CURRENT
from .lease import leases_of
from .opening import begin
from .questions import open_interrupts, question_rows
from .result import GraphResult
from .routing import chooser
from .run import Call, Run
from .stream import FinalEventData, InterruptEventData, Sink
from .superstep import run_tasks
from .task import TaskEnd, plain_text


async def drive(call: Call, door: Door, sink: Sink | None = None) -> GraphResult[Any]:
    """Run a call to its end, its pause or its failure."""
    run = Run(call, door, sink)
    token = CURRENT.set(None)
    try:
        try:
            await begin(run)
        except BaseException as error:
            if run.log is not None:
                _abandon(run, error)
            raise
        return await _held(run)
    finally:
        CURRENT.reset(token)


async def _held(run: Run) -> GraphResult[Any]:
    """The run between its claim and its end, with its lease renewed."""
    if run.log is None or run.store is None:
        return await _hooked(run)
    leases, lease = leases_of(run.store), (run.log.no, run.log.epoch)
    leases.hold(lease, run.lose_lease)
    try:
        return await _hooked(run)
    finally:
        leases.release(lease)


async def _hooked(run: Run) -> GraphResult[Any]:
    """The run with its graph hooks around it; a middleware whose `before_graph` was reached gets its `on_run_end`."""
    outcome = RunOutcome("failed")
    entered: list[GraphHooks] = []
    try:
        for hooks in run.hooks.around_graph:
            entered.insert(0, hooks)
            if hooks.before_graph is not None:
                await _called(run, hooks.before_graph(run.graph_context()))
        result = await _supersteps(run)
        if result.status == "completed":
            for hook in run.hooks.after_graph:
                await _called(run, hook(run.graph_context()))
        outcome = RunOutcome("completed" if result.status == "completed" else "paused", result.interrupts)
    except BaseException as error:
        error = _abandon(run, error)
        outcome = RunOutcome("failed" if isinstance(error, Exception) else "cancelled", error=error)
        await _end_hooks(run, entered, outcome, error)
        raise error from error.__cause__
    failed = await _end_hooks(run, entered, outcome, None)
    if failed is not None:
        raise failed
    return result


async def _end_hooks(
    run: Run, entered: list[GraphHooks], outcome: RunOutcome, failure: BaseException | None
) -> BaseException | None:
    """Ask every `on_run_end`. The first error of one is returned where the run itself did not fail; each further one is a
    note."""
    for hooks in entered:
        if hooks.on_run_end is None:
            continue
        try:
            await _called(run, hooks.on_run_end(run.graph_context(), outcome))
        except Exception as error:
            if failure is None:
                failure = error
            else:
                failure.add_note(f"on_run_end failed as well: {type(error).__name__}: {error}")
    return failure


async def _called(run: Run, result: Any) -> Any:
    if not isinstance(result, Awaitable):
        return result

    async def waited() -> Any:
        return await result

    return await run.door.in_loop(waited())


def _abandon(run: Run, error: BaseException) -> BaseException:
    """Give the branch back after an error that no commit has told yet. It blocks, since it must happen even while the run
    is being cancelled. Returns the error to raise: a run that was stopped because its lease is gone says so."""
    if run.stopped is not None:
        run.stopped.uncancel()  # the cancellation was ours, and ends here
    if run.log is None:
        return error
    run.log.settle()
    if run.log.closed:
        return run.log.lost if run.log.lost is not None and run.lease_lost else error
    failure = replace(_failure(error), conflict=run.conflict)
    try:
        run.abandon(failure)
    except (LeaseLostError, ThreadCancelledError) as lost:
        return lost if run.lease_lost else error
    except Exception as refused:
        error.add_note(f"The end of this run could not be recorded: {type(refused).__name__}: {refused}")
    return error


def _failure(error: BaseException, node: str | None = None) -> RunFailed:
    return RunFailed(type(error).__name__, plain_text(error), node)


async def _supersteps(run: Run) -> GraphResult[Any]:
    if not run.frame.due:
        await run.commit([RunCompleted()], Status.COMPLETED)
        return await _finished(run)
    while True:
        if run.step >= run.blueprint.max_steps:
            raise RunLimitExceededError("max_steps", run.blueprint.max_steps)
        ends = await run_tasks(run)
        lone = ends.get(run.frame.due[0].id) if len(run.frame.due) == 1 else None
        if lone is not None and type(lone.outcome) is not Done:
            run.note(lone.task.id, lone.outcome)
        for task in run.frame.due:
            end = ends.get(task.id)
            if end is not None and type(end.outcome) is Failed:
                await _fail(run, end)
        if run.frame.work and run.position.asked():
            return await _pause(run, ends)
        if await _merge_and_route(run, ends, lone):
            return await _finished(run)
        run.step += 1


async def _fail(run: Run, end: TaskEnd) -> None:
    error = end.error
    assert error is not None
    await run.commit([_failure(error, end.task.node)], Status.FAILED, question_rows(run))
    raise error


async def _pause(run: Run, ends: dict[str, TaskEnd]) -> GraphResult[Any]:
    asked = run.position.asked()
    if len(asked) > MAX_OPEN_QUESTIONS:
        raise LimitExceededError(
            f"Thread {run.thread_id!r} would wait for {len(asked)} answers, and a thread holds at most {MAX_OPEN_QUESTIONS} "
            "open questions. Ask them in smaller groups, or in one form."
        )
    await run.commit([Paused()], Status.INTERRUPTED, question_rows(run))
    interrupts = open_interrupts(run, ends)
    if run.sink is not None:
        shown = {key: replace(found, payload=copy.deepcopy(found.payload)) for key, found in interrupts.items()}
        run.emit("interrupt", InterruptEventData(run.schema.data(run.values), run.thread_id, shown))
    return _result(run, "interrupted", interrupts)


async def _merge_and_route(run: Run, ends: dict[str, TaskEnd], lone: TaskEnd | None) -> bool:
    """End the superstep in one commit. Says whether the thread came to its end. A lone task's update goes with the
    superstep's own fact; when merging or routing fails, its outcome is recorded instead."""
    frame = run.frame
    done: dict[str, Done] = {}
    updates: dict[str, Update] = {}
    for task in frame.due:
        end = ends.get(task.id)
        outcome = end.outcome if end is not None else frame.work_of(task.id).outcome
        assert isinstance(outcome, Done)
        done[task.id] = outcome
        update = end.update if end is not None else _recorded_update(run, outcome)
        if update is not None:
            updates[task.id] = update
    try:
        values, extra = merge(run.schema, run.values, frame, updates)
        routed = route(run.blueprint, frame, done, chooser(run, values))
    except Exception as error:
        if lone is not None:
            run.note(lone.task.id, lone.outcome)
        if isinstance(error, InvalidUpdateError):
            run.conflict = Conflict(error.field, error.nodes)
        raise
    brief = lone is not None and lone.task.id not in frame.work and not (lone.outcome.answers or lone.outcome.rejected)
    if brief and lone is not None:
        extra = _joined(done[lone.task.id].patch, extra)
    elif lone is not None:
        run.note(lone.task.id, lone.outcome)
    await _commit_superstep(run, values, routed, extra)
    if run.sink is not None:
        await _tell(run, frame.due, updates, routed)
    return not routed.due


def _recorded_update(run: Run, outcome: Done) -> Update | None:
    return run.schema.update_from_patch(outcome.patch) if outcome.patch else None


def _joined(patch: Patch, extra: Patch) -> Patch:
    """A lone task's patch with the results of custom reducers in the place of what they were given."""
    if not extra:
        return patch
    joined = {operation: fields for operation, fields in patch.items() if operation != REDUCE}
    joined[SET] = {**joined.get(SET, {}), **extra[SET]}
    return joined


async def _commit_superstep(run: Run, values: dict[str, Any], routed: Routed, patch: Patch) -> None:
    frame = run.frame
    after = frame.advanced(routed.due, routed.marks)
    if run.log is not None:
        marks = None if routed.marks == frame.marks else routed.marks
        facts: list[Fact] = [SuperstepCompleted(routed.due, patch, marks)]
        snapshot = None
        if run.log.wants_snapshot():
            state = {**run.schema.dump(values), **run.dropped}
            snapshot = snapshot_to_bytes(state, Position({ROOT: after}))
            check_size(len(snapshot), what="The state")
        if routed.due:
            await run.commit(facts, snapshot=snapshot)
        else:
            await run.commit([*facts, RunCompleted()], Status.COMPLETED, snapshot=snapshot)
    run.values = values
    run.frame = after


async def _tell(run: Run, due: tuple[Task, ...], updates: dict[str, Update], routed: Routed) -> None:
    """The events of a superstep, after its commit; then wait until they were taken."""
    assert run.sink is not None
    for task in due:
        update, node = updates.get(task.id), run.blueprint.name_now(task.node)
        written = None if update is None else run.schema.shown(update)
        if run.listens("debug"):
            run.emit("debug", {"type": "node_output", "update": written}, node, task.id)
        if run.listens("updates"):
            run.emit("updates", written, node, task.id)
    if run.listens("debug"):
        run.emit("debug", {"type": "state_merge", "state": run.schema.data(run.values)})
        run.emit("debug", {"type": "routes", "next": [task.id for task in routed.due]})
    if run.listens("values"):
        run.emit("values", run.schema.data(run.values))
    await run.door.drained(run.sink)


async def _finished(run: Run) -> GraphResult[Any]:
    if run.sink is not None:
        run.emit("final", FinalEventData(run.schema.data(run.values), run.thread_id))
    return _result(run, "completed", {})


def _result(
    run: Run, status: Literal["completed", "interrupted"], interrupts: dict[str, Interrupt]
) -> GraphResult[Any]:
    return GraphResult(
        status=status,
        thread_id=run.thread_id,
        step=run.step,
        checkpoint_id=run.checkpoint_id,
        interrupts=interrupts,
        _schema=run.schema,
        _values=run.values,
    )
