"""One superstep: run its tasks, then say what came of it.

A superstep of one task is one commit. With several, each outcome is recorded as it comes, those that are ready together in
one commit; the last ones travel with the superstep's end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from ..engine.plan import runnable
from ..errors import GraphTimeoutError
from ..model.outcome import Failed
from ..model.position import Task
from .run import Run
from .task import Place, TaskEnd, perform, scope_of

T = TypeVar("T")


async def run_tasks(run: Run) -> dict[str, TaskEnd]:
    """Run what is due; returns how each task of this run ended, by task id. Tasks recorded earlier are left out."""
    tasks = runnable(run.frame)
    if not tasks:
        return {}
    if len(run.frame.due) == 1:
        return {tasks[0].id: await _alone(run, tasks[0])}
    return await _in_loop(run, _together(run, tasks))


def _alone(run: Run, task: Task) -> Coroutine[Any, Any, TaskEnd]:
    scope = scope_of(run, task)
    by_hand = run.door.steps_by_hand
    if by_hand and not (
        scope.spec.is_async or scope.spec.timeout_s or run.seconds_left is not None or run.hooks.any_async
    ):
        return perform(scope, Place.CALLING_THREAD)
    if by_hand or run.log is not None or run.seconds_left is not None:
        return _in_loop(run, perform(scope, Place.LOOP))
    return perform(scope, Place.LOOP)


async def _in_loop(run: Run, work: Coroutine[Any, Any, T]) -> T:
    return await run.door.in_loop(_within(run, work))


async def _within(run: Run, work: Awaitable[T]) -> T:
    """Do the work inside the event loop: within what is left of the graph's timeout, and until the lease is lost."""
    run.enter_loop()
    try:
        if run.seconds_left is None:
            return await work
        started = time.monotonic()
        try:
            async with asyncio.timeout(run.seconds_left) as limit:
                return await work
        except TimeoutError:
            if not limit.expired():
                raise
            total = run.blueprint.timeout_s
            assert total is not None
            raise GraphTimeoutError(run.blueprint.name, total) from None
        finally:
            run.seconds_left = max(0.0, run.seconds_left - (time.monotonic() - started))
    finally:
        run.leave_loop()


async def _together(run: Run, tasks: tuple[Task, ...]) -> dict[str, TaskEnd]:
    """Run several tasks at once. When one fails, its async siblings are cancelled, and its plain ones waited for, save
    those that have not begun."""
    ends: dict[str, TaskEnd] = {}
    ended: list[asyncio.Task[TaskEnd]] = []
    wake = asyncio.Event()
    run.stopping = asyncio.Event()

    def on_end(task: asyncio.Task[TaskEnd]) -> None:
        ended.append(task)
        wake.set()

    running: dict[asyncio.Task[TaskEnd], Task] = {}
    for task in tasks:
        job = asyncio.create_task(perform(scope_of(run, task), Place.LOOP))
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
                    if run.stopping.is_set():
                        continue
                    raise asyncio.CancelledError  # by the node itself: what it stops alone, it stops beside others
                end = job.result()
                ends[task.id] = end
                run.note(task.id, end.outcome)
                if isinstance(end.outcome, Failed) and not run.stopping.is_set():
                    run.stopping.set()
                    _cancel_async(run, running)
            if running:
                await run.record()
        return ends
    finally:
        run.stopping = None
        if running:
            await _end_all(run, running)


def _cancel_async(run: Run, running: dict[asyncio.Task[TaskEnd], Task]) -> None:
    for job, task in running.items():
        if run.blueprint.spec(task.node).is_async:
            job.cancel()
    for call in tuple(run.calls):
        call.drop()


async def _end_all(run: Run, running: dict[asyncio.Task[TaskEnd], Task]) -> None:
    """The superstep itself was stopped: cancel what still runs, and keep what ended on its own."""
    for job in running:
        job.cancel()
    await asyncio.wait(running)
    for job, task in running.items():
        if not job.cancelled() and job.exception() is None:
            run.note(task.id, job.result().outcome)
