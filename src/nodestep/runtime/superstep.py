"""One superstep: run its tasks, then say what came of it.

A superstep of one task is one commit. With several, each outcome is recorded as it comes, those that are ready together in
one commit; the last ones travel with the superstep's end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from ..engine.plan import runnable
from ..errors import GraphTimeoutError
from . import lazy_asyncio as asyncio
from .context import TaskScope
from .ends import TaskEnd
from .frame import FrameRun
from .node_call import Place
from .task import perform, perform_here, scope_of
from .together import Ends, run_together

T = TypeVar("T")


def run_tasks(at: FrameRun) -> TaskEnd | Ends | Awaitable[TaskEnd | Ends]:
    """Run what is due. A task that is due alone has an end alone; there is nothing to wait for where it is a plain node that
    runs in the calling thread."""
    tasks = runnable(at.run.position, at.path) if at.frame.work else at.frame.due
    if len(at.frame.due) != 1:
        return _in_loop(at, run_together(at, tasks)) if tasks else {}
    if not tasks:
        return {}
    scope = scope_of(at, tasks[0])
    if at.calls_plainly and scope.spec.is_plain:
        return perform_here(scope)
    return _alone(at, scope)


def _alone(at: FrameRun, scope: TaskScope) -> Awaitable[TaskEnd]:
    by_hand, limited = at.door.steps_by_hand, at.seconds_left is not None
    if by_hand and not (scope.spec.is_async or scope.spec.timeout_s or limited or at.hooks.any_async):
        return perform(scope, Place.CALLING_THREAD)
    if by_hand or at.run.log is not None or limited:
        return _in_loop(at, perform(scope, Place.LOOP))
    return perform(scope, Place.LOOP)


def _in_loop(at: FrameRun, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
    return at.door.in_loop(_within(at, work))


async def _within(at: FrameRun, work: Awaitable[T]) -> T:
    """Do the work inside the event loop: within what is left of the graph's timeout, and until the lease is lost."""
    outermost = at.run.enter_loop()
    try:
        if at.seconds_left is None:
            return await work
        time = asyncio.get_running_loop().time
        started = time()
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
            at.seconds_left = max(0.0, at.seconds_left - (time() - started))
    finally:
        if outermost:
            at.run.leave_loop()
