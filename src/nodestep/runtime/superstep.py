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
        return await _alone(run, tasks[0])
    return await _in_loop(run, _together(run, tasks))


async def _alone(run: Run, task: Task) -> dict[str, TaskEnd]:
    spec = run.blueprint.spec(task.node)
    by_hand = run.door.steps_by_hand
    if by_hand and not (spec.is_async or spec.timeout_s or run.seconds_left is not None or run.hooks.any_async):
        end = await perform(scope_of(run, task), Place.CALLING_THREAD)
    elif by_hand or run.log is not None or run.seconds_left is not None:
        end = await _in_loop(run, perform(scope_of(run, task), Place.LOOP))
    else:
        end = await perform(scope_of(run, task), Place.LOOP)
    return {task.id: end}


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
    """Run several tasks at once. When one fails, its async siblings are cancelled and its plain ones waited for."""
    ends: dict[str, TaskEnd] = {}
    ended: list[asyncio.Task[TaskEnd]] = []
    wake = asyncio.Event()

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
                    if run.stopping:
                        continue
                    raise asyncio.CancelledError  # by the node itself: what it stops alone, it stops beside others
                end = job.result()
                ends[task.id] = end
                run.note(task.id, end.outcome)
                if isinstance(end.outcome, Failed) and not run.stopping:
                    run.stopping = True
                    _cancel_async(run, running)
            if running:
                await run.record()
        return ends
    finally:
        run.stopping = False
        if running:
            await _end_all(run, running)


def _cancel_async(run: Run, running: dict[asyncio.Task[TaskEnd], Task]) -> None:
    for job, task in running.items():
        if run.blueprint.spec(task.node).is_async:
            job.cancel()


async def _end_all(run: Run, running: dict[asyncio.Task[TaskEnd], Task]) -> None:
    """The superstep itself was stopped: cancel what still runs, and keep what ended on its own."""
    for job in running:
        job.cancel()
    await asyncio.wait(running)
    for job, task in running.items():
        if not job.cancelled() and job.exception() is None:
            run.note(task.id, job.result().outcome)
