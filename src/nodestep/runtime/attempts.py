"""A node with its hooks and its tries around it."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import GraphExecutionError, InterruptExpiredError, InterruptSwallowedError, a
from ..hooks.contexts import Replacement
from ..model.node import Retry
from . import lazy_asyncio as asyncio
from .context import CURRENT, TaskScope
from .ends import TaskEnd, check_not_swallowed, done, not_a_pause, out_of
from .node_call import Place, call_of
from .writes import Writes, read_writes, replaced, shown

if TYPE_CHECKING:
    from .frame import FrameRun

T = TypeVar("T")

ONE_TRY = Retry(max_attempts=1)
NEVER_RETRIED = (InterruptExpiredError, InterruptSwallowedError)


async def attempted(scope: TaskScope, place: Place) -> TaskEnd:
    """The node with its hooks and tries around it."""
    hooks = scope.at.hooks
    for hook in hooks.before_node:
        _replace_input(scope, await _called(scope, place, hook(scope.hook_context(hook))))
    check_not_swallowed(scope)
    try:
        result = await _attempts(scope, place)
    except Exception as error:
        if scope.fault is not None or not hooks.on_error or isinstance(error, InterruptSwallowedError):
            raise
        result = await _ask_on_error(scope, place, error)
    check_not_swallowed(scope)
    writes = _outside(read_writes, scope, result)
    for hook in hooks.after_node:
        answer = await _called(scope, place, hook(scope.hook_context(hook, shown(scope, writes))))
        if answer is not None:
            writes = _outside(replaced, scope, writes, _replacement("after_node", answer))
    check_not_swallowed(scope)
    return done(scope, writes)


def _outside(read: Callable[..., Writes], scope: TaskScope, *values: Any) -> Writes:
    """What a node or a hook returned, read where no question can be asked: a validator is asked more than once."""
    token = CURRENT.set(None)
    try:
        return read(scope, *values)
    finally:
        CURRENT.reset(token)


async def _attempts(scope: TaskScope, place: Place) -> Any:
    retry = scope.spec.retry or ONE_TRY
    for number in range(1, retry.max_attempts + 1):
        scope.begin_attempt(number)
        try:
            return await tried(scope, call_of(scope, place))
        except retry.on as error:
            if number == retry.max_attempts or scope.fault is not None or isinstance(error, NEVER_RETRIED):
                raise
            backoff = _backoff(scope.at, _delay_s(retry, number))
            if await (scope.at.door.in_loop(backoff) if place is Place.CALLING_THREAD else backoff):
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


async def _backoff(at: FrameRun, delay_s: float) -> bool:
    """Wait before the next try; says whether the run is stopping instead, since another task failed."""
    if at.stopping is None:
        await asyncio.sleep(delay_s)
        return False
    try:
        async with asyncio.timeout(delay_s):
            await at.stopping.wait()
    except TimeoutError:
        return False
    return True


def _delay_s(retry: Retry, number: int) -> float:
    delay = min(retry.initial_delay_s * retry.backoff ** (number - 1), retry.max_delay_s)
    return delay * random.random() if retry.jitter else delay


async def tried(scope: TaskScope, work: Awaitable[T]) -> T:
    """One try. A pause raised inside a TaskGroup comes out in a group: alone it is the pause, and beside a real error the
    error wins, as an error like any other."""
    try:
        return await work
    except Exception as error:
        raise not_a_pause(scope, error)  # noqa: B904 - it is the error itself, or says where it comes from
    except BaseExceptionGroup as group:
        raise out_of(group, scope) from None


async def _called(scope: TaskScope, place: Place, result: Any) -> Any:
    """What a hook returned, waited for where it is something to wait for."""
    if not isinstance(result, Awaitable):
        return result
    if place is Place.LOOP:
        return await result

    async def waited() -> Any:
        return await result

    return await scope.at.door.in_loop(waited())


def _replacement(hook: str, answer: Any) -> Any:
    if not isinstance(answer, Replacement):
        raise GraphExecutionError(
            f"The {hook} hook returned {type(answer).__name__}. Return None to leave things as they are, or "
            "Replacement(value) to put another value in their place."
        )
    return answer.value


def _replace_input(scope: TaskScope, answer: Any) -> None:
    if answer is None:
        return
    value = _replacement("before_node", answer)
    schema = scope.at.schema
    if isinstance(value, Mapping):
        overlay, _ = schema.take_payload(value, f"before_node of node {scope.node!r}")
        scope.values = {**scope.values, **overlay}
    elif isinstance(value, schema.state_type):
        scope.values = schema.first_state(value, writer=f"before_node of node {scope.node!r}")
    else:
        raise GraphExecutionError(
            f"before_node of node {scope.node!r} replaced the input with {type(value).__name__}. Give a dict, which is "
            f"laid over the state, or {a(schema.name)}."
        )


async def _ask_on_error(scope: TaskScope, place: Place, error: Exception) -> Any:
    scope.signals = []
    scope.view = None  # what the failed node did to its copy is forgotten
    for hook in scope.at.hooks.on_error:
        answer = await _called(scope, place, hook(scope.hook_context(hook), error))
        if answer is not None:
            return _replacement("on_error", answer)
    raise error
