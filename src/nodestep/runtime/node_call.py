"""One call of a node's function, within its timeout: in the calling thread, in the event loop, or in a thread of our pool."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..errors import NodeTimeoutError
from . import lazy_asyncio as asyncio
from .context import CURRENT, TaskScope, nested
from .pool import NODES, PoolCall, leave_error

if TYPE_CHECKING:
    from .frame import FrameRun


class Place(Enum):
    """Where a task runs: in the thread that steps the driver by hand, or under an event loop."""

    CALLING_THREAD = "calling thread"
    LOOP = "event loop"


def show(scope: TaskScope) -> None:
    """Give the task a state of its own to look at."""
    scope.view = scope.at.schema.view(scope.values)
    if scope.run.sink is not None:
        scope.at.emit_node_input(scope)


def call_of(scope: TaskScope, place: Place) -> Awaitable[Any]:
    """One call of the node, within its timeout, to wait for."""
    spec = scope.spec
    show(scope)
    if spec.inner is not None:
        return _run_inner(scope, place)
    if spec.is_async:
        return _awaited(scope) if spec.timeout_s is None else _awaited_in_time(scope, spec.timeout_s)
    if place is Place.CALLING_THREAD:
        return _call_here(scope)
    return _call_in_pool(scope) if spec.timeout_s is None else _call_in_time(scope, spec.timeout_s)


async def _call_here(scope: TaskScope) -> Any:
    return scope.spec.call(scope.view, scope)


async def _call_in_pool(scope: TaskScope) -> Any:
    at = scope.at
    with _in_pool(at, NODES.start(scope.spec.call, scope.view, scope)) as call:
        return await (call.result if at.parent is None else _result_inside(at, call))


async def _result_inside(at: FrameRun, call: PoolCall[Any]) -> Any:
    """The result of a plain node of an inner graph. Where that graph is stopped, since a task beside it failed, a node that
    has begun is waited for and recorded, as it is beside that task itself: a thread cannot be stopped. The graph goes no
    further then."""
    call.result.add_done_callback(leave_error)
    try:
        return await asyncio.shield(call.result)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or not call.has_begun or not at.is_stopping():
            raise
    at.halted = True
    task.uncancel()
    await asyncio.wait((call.result,))
    return call.result.result()


async def _awaited(scope: TaskScope) -> Any:
    """Await an async node, and then the graphs that it called and that are still at work."""
    try:
        return await scope.spec.call(scope.view, scope)
    finally:
        if scope.calls:
            await nested().end_calls(scope)


async def _awaited_in_time(scope: TaskScope, timeout_s: float) -> Any:
    try:
        async with asyncio.timeout(timeout_s) as limit:
            return await _awaited(scope)
    except TimeoutError:
        if limit.expired():
            raise NodeTimeoutError(scope.spec.name, timeout_s) from None
        raise


async def _run_inner(scope: TaskScope, place: Place) -> Any:
    by_hand = place is Place.CALLING_THREAD
    return await nested().run_subgraph(scope, scope.at.door if by_hand else nested().IN_LOOP)


async def _call_in_time(scope: TaskScope, timeout_s: float) -> Any:
    """Call a plain node that may have to be left behind, since a thread cannot be stopped. It gets a scope of its own, which
    refuses everything from then on, while the task's goes on without it."""
    own = copy.copy(scope)

    def node() -> Any:
        CURRENT.set(own)
        return own.spec.call(own.view, own)

    with _in_pool(scope.at, NODES.start(node, tells_begin=True)) as call:
        assert call.begun is not None
        await call.begun  # waiting for a thread is no time of the node's
        await asyncio.wait((call.result,), timeout=timeout_s)
        if call.result.done():
            scope.take_over(own)
            return call.result.result()
    own.closed = True
    call.result.cancel()
    scope.take_cache_of(own)
    raise NodeTimeoutError(scope.spec.name, timeout_s)


@contextmanager
def _in_pool(at: FrameRun, call: PoolCall[Any]) -> Iterator[PoolCall[Any]]:
    """A call that the run drops, while it waits for a thread, when the run stops or is cancelled."""
    at.calls.add(call)
    try:
        yield call
    finally:
        at.calls.discard(call)
        call.drop()
