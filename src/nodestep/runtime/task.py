"""One run of a task, and what came of it.

`perform` is written once for every way of running. Stepped by hand it runs a plain node in the calling thread; in an event
loop it awaits an async node, and runs a plain one in a thread of our pool, where nothing it does can block the loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..model.position import Task
from .attempts import attempted
from .context import CURRENT, TaskScope
from .ends import TaskEnd, check_not_swallowed, done, raised
from .node_call import Place, call_of, show
from .writes import read_writes

if TYPE_CHECKING:
    from .frame import FrameRun

T = TypeVar("T")


def scope_of(at: FrameRun, task: Task) -> TaskScope:
    """A fresh scope for a task, over the state as it is now and the payload of its `Send`."""
    values = at.values
    if task.payload is not None:
        values = {**values, **at.schema.payload_from_json(task.payload)}
    return TaskScope(at, task, at.blueprint.spec(task.node), at.frame.work_of(task.id), values)


async def perform(scope: TaskScope, place: Place) -> TaskEnd:
    """Run a task. Lets through what is no failure of the node: a cancellation, KeyboardInterrupt, SystemExit."""
    try:
        token = CURRENT.set(scope)
        try:
            if scope.at.hooks.around_nodes or scope.spec.retry is not None:
                return await attempted(scope, place)
            result = await call_of(scope, place)
        finally:
            CURRENT.reset(token)
        return _returned(scope, result)
    except BaseException as error:
        return raised(scope, error)
    finally:
        scope.closed = True


async def guarded(scope: TaskScope, work: Callable[[], Awaitable[T]]) -> T | TaskEnd:
    """The result of work in a task, or how the task ended where the work asks a person or fails."""
    token = CURRENT.set(scope)
    try:
        return await work()
    except BaseException as error:
        return raised(scope, error)
    finally:
        CURRENT.reset(token)


def perform_here(scope: TaskScope) -> TaskEnd:
    """The same for a plain node without anything around it, in this thread."""
    try:
        show(scope)
        token = CURRENT.set(scope)
        try:
            result = scope.spec.call(scope.view, scope)
        finally:
            CURRENT.reset(token)
        return _returned(scope, result)
    except BaseException as error:
        return raised(scope, error)
    finally:
        scope.closed = True


def _returned(scope: TaskScope, result: Any) -> TaskEnd:
    """What a node returned is read outside of it: a validator of the state is asked more than once, and asks nobody."""
    check_not_swallowed(scope)
    return done(scope, read_writes(scope, result))
