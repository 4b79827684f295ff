"""One superstep: run its tasks, then say what came of it.

A superstep of one task is one commit. With several, each outcome is recorded as it comes, those that are ready together in
one commit; the last ones travel with the superstep's end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeAlias, TypeVar

from ..engine.plan import runnable
from ..errors import GraphTimeoutError
from ..model.outcome import Failed
from ..model.position import Task
from .context import TaskScope
from .frame import FrameRun
from .task import Place, TaskEnd, perform, perform_here, scope_of

T = TypeVar("T")


Ends: TypeAlias = dict[str, TaskEnd]
"""How the tasks of a superstep ended in this run, by task id. Those recorded earlier are left out."""


def run_tasks(at: FrameRun) -> Ends | Awaitable[Ends]:
    """Run what is due; there is nothing to wait for where a lone plain node runs in the calling thread."""
    tasks = runnable(at.run.position, at.path) if at.frame.work else at.frame.due
    if len(at.frame.due) != 1:
        return _in_loop(at, _together(at, tasks)) if tasks else {}
    if not tasks:
        return {}
    scope = scope_of(at, tasks[0])
    if at.calls_plainly and scope.spec.is_plain:
        return {scope.task.id: perform_here(scope)}
    return _alone(at, scope)


async def _alone(at: FrameRun, scope: TaskScope) -> Ends:
    by_hand, limited = at.door.steps_by_hand, at.seconds_left is not None
    if by_hand and not (scope.spec.is_async or scope.spec.timeout_s or limited or at.hooks.any_async):
        end = await perform(scope, Place.CALLING_THREAD)
    elif by_hand or at.run.log is not None or limited:
        end = await _in_loop(at, perform(scope, Place.LOOP))
    else:
        end = await perform(scope, Place.LOOP)
    return {scope.task.id: end}


async def _in_loop(at: FrameRun, work: Coroutine[Any, Any, T]) -> T:
    return await at.door.in_loop(_within(at, work))


async def _within(at: FrameRun, work: Awaitable[T]) -> T:
    """Do the work inside the event loop: within what is left of the graph's timeout, and until the lease is lost."""
    outermost = at.run.enter_loop()
    try:
        if at.seconds_left is None:
            return await work
        started = time.monotonic()
        try:
            async with asyncio.timeout(at.seconds_left) as limit:
                return await work
        except TimeoutError:
            if not limit.expired():
                raise
            total = at.blueprint.timeout_s
            assert total is not None
            raise GraphTimeoutError(at.blueprint.name, total) from None
        finally:
            at.seconds_left = max(0.0, at.seconds_left - (time.monotonic() - started))
    finally:
        if outermost:
            at.run.leave_loop()


async def _together(at: FrameRun, tasks: tuple[Task, ...]) -> Ends:
    """Run several tasks at once. When one fails, its async siblings are cancelled, and its plain ones waited for, save
    those that have not begun."""
    ends: Ends = {}
    ended: list[asyncio.Task[TaskEnd]] = []
    wake = asyncio.Event()
    at.stopping = asyncio.Event()

    def on_end(task: asyncio.Task[TaskEnd]) -> None:
        ended.append(task)
        wake.set()

    running: dict[asyncio.Task[TaskEnd], Task] = {}
    for task in tasks:
        job = asyncio.create_task(perform(scope_of(at, task), Place.LOOP))
        job.add_done_callback(on_end)
        running[job] = task
    try:
        while running:
            await wake.wait()
            wake.clear()
            batch = ended[:]
            ended.clear()
            for job in batch:
                task = running.pop(job)
                if job.cancelled():
                    if at.stopping.is_set():
                        continue
                    raise asyncio.CancelledError  # by the node itself: what it stops alone, it stops beside others
                end = job.result()
                ends[task.id] = end
                at.note(task.id, end.outcome)
                if isinstance(end.outcome, Failed) and not at.stopping.is_set():
                    at.stopping.set()
                    _cancel_async(at, running)
            if running:
                await at.run.record()
        return ends
    finally:
        at.stopping = None
        if running:
            await _end_all(at, running)


def _cancel_async(at: FrameRun, running: dict[asyncio.Task[TaskEnd], Task]) -> None:
    for job, task in running.items():
        spec = at.blueprint.spec(task.node)
        if spec.is_async or spec.inner is not None:
            job.cancel()
    for call in tuple(at.calls):
        call.drop()


async def _end_all(at: FrameRun, running: dict[asyncio.Task[TaskEnd], Task]) -> None:
    """The superstep itself was stopped: cancel what still runs, and keep what ended on its own."""
    for job in running:
        job.cancel()
    await asyncio.wait(running)
    for job, task in running.items():
        if not job.cancelled() and job.exception() is None:
            at.note(task.id, job.result().outcome)
