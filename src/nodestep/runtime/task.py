"""One run of a task: hooks, tries, the node itself, and what came of it.

`perform` is written once for every way of running. Stepped by hand it runs a plain node in the calling thread; in an event
loop it awaits an async node, and runs a plain one in a thread of our pool, where nothing it does can block the loop.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from ..errors import (
    GraphExecutionError,
    GraphInterrupt,
    InterruptExpiredError,
    InterruptSwallowedError,
    NodeTimeoutError,
    a,
)
from ..hooks.contexts import Replacement
from ..model.ids import interrupt_key
from ..model.node import Retry
from ..model.outcome import Asked, Done, Failed, Outcome
from ..model.patch import NO_PATCH
from ..model.position import Task
from ..model.schema import Update
from . import lazy_asyncio as asyncio
from .context import CURRENT, TaskScope, nested
from .pool import NODES, PoolCall, leave_error
from .writes import Writes, read_writes, replaced, shown

if TYPE_CHECKING:
    from .frame import FrameRun

T = TypeVar("T")

MESSAGE_CHARACTERS = 2000
ONE_TRY = Retry(max_attempts=1)
NEVER_RETRIED = (InterruptExpiredError, InterruptSwallowedError)


class Place(Enum):
    """Where a task runs: in the thread that steps the driver by hand, or under an event loop."""

    CALLING_THREAD = "calling thread"
    LOOP = "event loop"


class TaskEnd(Struct, frozen=True):
    """How a task ended in this run. `outcome` is what to record; `update` the same writes as typed values; `error` what
    the node raised."""

    task: Task
    outcome: Outcome
    update: Update | None = None
    error: BaseException | None = None


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
                return await _perform(scope, place)
            result = await _call(scope, place)
        finally:
            CURRENT.reset(token)
        return _returned(scope, result)
    except BaseException as error:
        return _raised(scope, error)
    finally:
        scope.closed = True


async def guarded(scope: TaskScope, work: Callable[[], Awaitable[T]]) -> T | TaskEnd:
    """The result of work in a task, or how the task ended where the work asks a person or fails."""
    token = CURRENT.set(scope)
    try:
        return await work()
    except BaseException as error:
        return _raised(scope, error)
    finally:
        CURRENT.reset(token)


def perform_here(scope: TaskScope) -> TaskEnd:
    """The same for a plain node without anything around it, in this thread."""
    try:
        _show(scope)
        token = CURRENT.set(scope)
        try:
            result = scope.spec.call(scope.view, scope)
        finally:
            CURRENT.reset(token)
        return _returned(scope, result)
    except BaseException as error:
        return _raised(scope, error)
    finally:
        scope.closed = True


def _returned(scope: TaskScope, result: Any) -> TaskEnd:
    """What a node returned is read outside of it: a validator of the state is asked more than once, and asks nobody."""
    check_not_swallowed(scope)
    return _done(scope, read_writes(scope, result))


def _outside(read: Callable[..., Writes], scope: TaskScope, *values: Any) -> Writes:
    """The same between the hooks around a node."""
    token = CURRENT.set(None)
    try:
        return read(scope, *values)
    finally:
        CURRENT.reset(token)


def _done(scope: TaskScope, writes: Writes) -> TaskEnd:
    update, goto = writes
    patch = NO_PATCH if update is None else update.patch
    done = Done(patch, goto, scope.hook_answers, scope.rejected, scope.memory_change())
    return TaskEnd(scope.task, done, update)


def _raised(scope: TaskScope, error: BaseException) -> TaskEnd:
    found: BaseException = error
    if isinstance(error, Exception) and not isinstance(error, GraphInterrupt):
        found = _not_a_pause(scope, error)
    elif isinstance(error, BaseExceptionGroup):
        found = _out_of(error, scope)
    if isinstance(found, GraphInterrupt):
        return _stopped(scope, found)
    if isinstance(found, Exception):
        return _failed(scope, found)
    raise error


async def _perform(scope: TaskScope, place: Place) -> TaskEnd:
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
    return _done(scope, writes)


async def _attempts(scope: TaskScope, place: Place) -> Any:
    retry = scope.spec.retry or ONE_TRY
    for number in range(1, retry.max_attempts + 1):
        scope.begin_attempt(number)
        try:
            return await tried(scope, _call(scope, place))
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
        raise _not_a_pause(scope, error)  # noqa: B904 - it is the error itself, or says where it comes from
    except BaseExceptionGroup as group:
        raise _out_of(group, scope) from None


def _not_a_pause(scope: TaskScope, error: Exception) -> Exception:
    """The error, unless the node made it of a pause that it caught: then the pause was swallowed. An error of another
    coroutine beside the question does not come from the pause."""
    if not scope.signals or isinstance(error, InterruptSwallowedError):
        return error
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        if any(link is own for own in scope.signals):
            swallowed = _swallowed(scope)
            swallowed.__cause__ = error
            return swallowed
        seen.add(id(link))
        link = link.__cause__ or link.__context__
    return error


def _out_of(group: BaseExceptionGroup[BaseException], scope: TaskScope) -> BaseException:
    """What a group stands for: its real errors, else the pause, else a pause made by hand."""
    _, rest = group.split(lambda error: any(error is own for own in scope.signals))
    if rest is None:
        return scope.signals[0]
    by_hand, real = rest.split(lambda error: isinstance(error, GraphInterrupt) and not isinstance(error, Exception))
    if real is None and by_hand is not None:
        return _made_by_hand(scope)
    return group if real is None else real


def _made_by_hand(scope: TaskScope) -> GraphExecutionError:
    return GraphExecutionError(
        f"Node {scope.node!r} raised a GraphInterrupt of its own making, which pauses nothing. Call interrupt(payload, "
        "id=...) to ask a person."
    )


def _show(scope: TaskScope) -> None:
    """Give the task a state of its own to look at."""
    scope.view = scope.at.schema.view(scope.values)
    if scope.run.sink is not None:
        scope.at.emit_node_input(scope)


def _call(scope: TaskScope, place: Place) -> Awaitable[Any]:
    """One call of the node, within its timeout, to wait for."""
    spec = scope.spec
    _show(scope)
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


def check_not_swallowed(scope: TaskScope) -> None:
    """Raise what `interrupt()` refused, or that its pause was caught, where a node or a hook returned all the same."""
    if scope.fault is not None:
        raise scope.fault
    if scope.signals:
        raise _swallowed(scope)


def _swallowed(scope: TaskScope) -> InterruptSwallowedError:
    asked = ", ".join(repr(id) for id in scope.raised)
    return InterruptSwallowedError(
        f"Node {scope.node!r}, or a hook around it, asked {asked} and caught the pause that interrupt() raised, so its "
        "return value was not used. Catch Exception rather than everything, or re-raise GraphInterrupt."
    )


def _stopped(scope: TaskScope, signal: GraphInterrupt) -> TaskEnd:
    if isinstance(signal, Exception):
        return _failed(scope, signal)
    if not any(signal is own for own in scope.signals):
        return _failed(scope, _made_by_hand(scope))
    if scope.fault is not None:
        return _failed(scope, scope.fault)
    try:
        cache = scope.changed_cache()
    except Exception as error:
        return _failed(scope, error)
    for id, raised in scope.raised.items():
        scope.run.raised[interrupt_key(scope.at.path, scope.task.id, id)] = raised
    questions = tuple(raised.question for raised in scope.raised.values())
    return TaskEnd(scope.task, Asked(questions, scope.hook_answers, cache, scope.rejected))


def _failed(scope: TaskScope, error: Exception) -> TaskEnd:
    try:
        cache = scope.changed_cache()
    except Exception as unstorable:
        error.add_note(f"ctx.cache was not saved: {unstorable}")
        cache = None
    outcome = Failed(type(error).__name__, plain_text(error), scope.hook_answers, cache, scope.rejected)
    return TaskEnd(scope.task, outcome, error=error)


def plain_text(error: BaseException) -> str:
    """An error's message as history keeps it: at most 2,000 characters, and always text that can be stored."""
    text = str(error)[:MESSAGE_CHARACTERS]
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
