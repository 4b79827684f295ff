"""One run of a task: hooks, tries, the node itself, and what came of it.

`perform` is written once for every way of running. Stepped by hand it runs a plain node in the calling thread; in an event
loop it awaits an async node, and runs a plain one in a thread of our pool, where nothing it does can block the loop.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..errors import (
    GraphExecutionError,
    GraphInterrupt,
    InterruptExpiredError,
    InterruptSwallowedError,
    NodeTimeoutError,
)
from ..hooks.contexts import Replacement
from ..model.node import Retry
from ..model.outcome import Asked, Done, Failed, Outcome
from ..model.position import Task
from ..model.schema import Update
from .context import CURRENT, Raised, TaskScope
from .pool import NODES
from .writes import read_writes

if TYPE_CHECKING:
    from .run import Run

MESSAGE_CHARACTERS = 2000


class Place(Enum):
    """Where a task runs: in the thread that steps the driver by hand, or under an event loop."""

    CALLING_THREAD = "calling thread"
    LOOP = "event loop"


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """How a task ended in this run. `outcome` is what to record; `update` the same writes as typed values; `error` what
    the node raised; `raised` the questions with their payloads as given."""

    task: Task
    outcome: Outcome
    update: Update | None = None
    error: BaseException | None = None
    raised: Mapping[str, Raised] | None = None


def scope_of(run: Run, task: Task) -> TaskScope:
    """A fresh scope for a task, over the state as it is now and the payload of its `Send`."""
    values = run.values
    if task.payload is not None:
        values = {**values, **run.schema.payload_from_json(task.payload)}
    return TaskScope(run, task, run.blueprint.spec(task.node), run.frame.work_of(task.id), values)


async def perform(scope: TaskScope, place: Place) -> TaskEnd:
    """Run a task. Lets through what is no failure of the node: a cancellation, KeyboardInterrupt, SystemExit."""
    token = CURRENT.set(scope)
    try:
        return await _perform(scope, place)
    except GraphInterrupt as signal:
        return _stopped(scope, signal)
    except Exception as error:
        return _failed(scope, error)
    finally:
        scope.closed = True
        CURRENT.reset(token)


async def _perform(scope: TaskScope, place: Place) -> TaskEnd:
    hooks = scope.run.hooks
    for hook in hooks.before_node:
        _replace_input(scope, await _called(scope, place, hook(scope.hook_context())))
    _check_not_swallowed(scope)
    try:
        result = await _attempts(scope, place)
    except Exception as error:
        if scope.fault is not None or not hooks.on_error:
            raise
        result = await _ask_on_error(scope, place, error)
    _check_not_swallowed(scope)
    writes = read_writes(scope, result)
    for hook in hooks.after_node:
        answer = await _called(scope, place, hook(scope.hook_context(writes.as_given)))
        if answer is not None:
            writes = writes.replaced(scope, _replacement("after_node", answer))
    _check_not_swallowed(scope)
    outcome = Done(writes.patch, writes.goto, scope.hook_answers or {})
    return TaskEnd(scope.task, outcome, writes.update)


async def _attempts(scope: TaskScope, place: Place) -> Any:
    retry = scope.spec.retry
    if retry is None:
        return await _tried(scope, place)
    for number in range(1, retry.max_attempts + 1):
        scope.begin_attempt(number)
        try:
            return await _tried(scope, place)
        except retry.on as error:
            last = number == retry.max_attempts or scope.run.stopping
            if last or scope.fault is not None or scope.closed or isinstance(error, InterruptExpiredError):
                raise
        pause = asyncio.sleep(_delay_s(retry, number))
        await (scope.run.door.in_loop(pause) if place is Place.CALLING_THREAD else pause)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _delay_s(retry: Retry, number: int) -> float:
    delay = min(retry.initial_delay_s * retry.backoff ** (number - 1), retry.max_delay_s)
    return delay * random.random() if retry.jitter else delay


async def _tried(scope: TaskScope, place: Place) -> Any:
    """One try. A pause raised inside a TaskGroup comes out in a group: alone it is the pause, and beside a real error the
    error wins, as an error like any other."""
    try:
        return await _call(scope, place)
    except BaseExceptionGroup as group:
        _, rest = group.split(lambda error: any(error is own for own in scope.signals))
        if rest is None:
            raise scope.signals[0] from None
        raise rest from None


async def _call(scope: TaskScope, place: Place) -> Any:
    """Call the node once, within its timeout."""
    spec = scope.spec
    scope.view = scope.run.schema.view(scope.values)
    scope.run.emit_node_input(scope)
    if not spec.is_async and place is Place.CALLING_THREAD:
        return spec.call(scope.view, scope)
    if spec.timeout_s is None:
        return await (spec.call(scope.view, scope) if spec.is_async else NODES.start(spec.call, scope.view, scope))
    if spec.is_async:
        try:
            async with asyncio.timeout(spec.timeout_s) as limit:
                return await spec.call(scope.view, scope)
        except TimeoutError:
            if limit.expired():
                raise NodeTimeoutError(spec.name, spec.timeout_s) from None
            raise
    running = NODES.start(spec.call, scope.view, scope)
    await asyncio.wait((running,), timeout=spec.timeout_s)
    if not running.done():
        # A thread cannot be stopped: it is left behind, and its context refuses it from now on.
        scope.closed = True
        running.cancel()
        raise NodeTimeoutError(spec.name, spec.timeout_s)
    return running.result()


async def _called(scope: TaskScope, place: Place, result: Any) -> Any:
    """What a hook returned, waited for where it is something to wait for."""
    if not isinstance(result, Awaitable):
        return result
    if place is Place.LOOP:
        return await result

    async def waited() -> Any:
        return await result

    return await scope.run.door.in_loop(waited())


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
    schema = scope.run.schema
    if isinstance(value, Mapping):
        overlay, _ = schema.take_payload(value, f"before_node of node {scope.task.node!r}")
        scope.values = {**scope.values, **overlay}
    else:
        scope.values = schema.first_state(value)


async def _ask_on_error(scope: TaskScope, place: Place, error: Exception) -> Any:
    scope.signals.clear()
    for hook in scope.run.hooks.on_error:
        answer = await _called(scope, place, hook(scope.hook_context(), error))
        if answer is not None:
            return _replacement("on_error", answer)
    raise error


def _check_not_swallowed(scope: TaskScope) -> None:
    if scope.fault is not None:
        raise scope.fault
    if scope.signals:
        asked = ", ".join(repr(id) for id in scope.raised)
        raise InterruptSwallowedError(
            f"Node {scope.task.node!r}, or a hook around it, asked {asked} and caught the pause that interrupt() raised, so "
            "its return value was not used. Catch Exception rather than everything, or re-raise GraphInterrupt."
        )


def _stopped(scope: TaskScope, signal: GraphInterrupt) -> TaskEnd:
    if isinstance(signal, Exception) or not any(signal is own for own in scope.signals):
        if isinstance(signal, Exception):
            return _failed(scope, signal)
        return _failed(
            scope,
            GraphExecutionError(
                f"Node {scope.task.node!r} raised a GraphInterrupt of its own making, which pauses nothing. Call "
                "interrupt(payload, id=...) to ask a person."
            ),
        )
    if scope.fault is not None:
        return _failed(scope, scope.fault)
    try:
        cache = scope.changed_cache()
    except Exception as error:
        return _failed(scope, error)
    questions = tuple(raised.question for raised in scope.raised.values())
    return TaskEnd(scope.task, Asked(questions, scope.hook_answers, cache, scope.rejected), raised=scope.raised)


def _failed(scope: TaskScope, error: Exception) -> TaskEnd:
    try:
        cache = scope.changed_cache() if not scope.closed or isinstance(error, NodeTimeoutError) else None
    except Exception as unstorable:
        error.add_note(f"ctx.cache was not saved: {unstorable}")
        cache = None
    outcome = Failed(type(error).__name__, plain_text(error), scope.hook_answers, cache)
    return TaskEnd(scope.task, outcome, error=error)


def plain_text(error: BaseException) -> str:
    """An error's message as history keeps it: at most 2,000 characters, and always text that can be stored."""
    text = str(error)[:MESSAGE_CHARACTERS]
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
