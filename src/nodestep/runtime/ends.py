"""How a task ended: done, asked or failed, and how a pause is told from an error."""

from __future__ import annotations

from msgspec import Struct

from ..errors import GraphExecutionError, GraphInterrupt, InterruptSwallowedError
from ..model.ids import interrupt_key
from ..model.outcome import Asked, Done, Failed, Outcome
from ..model.patch import NO_PATCH
from ..model.position import Task
from ..model.schema import Update
from .context import TaskScope
from .writes import Writes

MESSAGE_CHARACTERS = 2000


class TaskEnd(Struct, frozen=True):
    """How a task ended in this run. `outcome` is what to record; `update` the same writes as typed values; `error` what
    the node raised."""

    task: Task
    outcome: Outcome
    update: Update | None = None
    error: BaseException | None = None


def done(scope: TaskScope, writes: Writes) -> TaskEnd:
    """The end of a task whose node returned."""
    update, goto = writes
    patch = NO_PATCH if update is None else update.patch
    outcome = Done(patch, goto, scope.hook_answers, scope.rejected, scope.memory_change())
    return TaskEnd(scope.task, outcome, update)


def raised(scope: TaskScope, error: BaseException) -> TaskEnd:
    """The end of a task that raised: a pause, or a failure. Raises what is neither."""
    found: BaseException = error
    if isinstance(error, Exception) and not isinstance(error, GraphInterrupt):
        found = not_a_pause(scope, error)
    elif isinstance(error, BaseExceptionGroup):
        found = out_of(error, scope)
    if isinstance(found, GraphInterrupt):
        return _stopped(scope, found)
    if isinstance(found, Exception):
        return _failed(scope, found)
    raise error


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
    for id, asked in scope.raised.items():
        scope.run.raised[interrupt_key(scope.at.path, scope.task.id, id)] = asked
    questions = tuple(asked.question for asked in scope.raised.values())
    return TaskEnd(scope.task, Asked(questions, scope.hook_answers, cache, scope.rejected))


def _failed(scope: TaskScope, error: Exception) -> TaskEnd:
    try:
        cache = scope.changed_cache()
    except Exception as unstorable:
        error.add_note(f"ctx.cache was not saved: {unstorable}")
        cache = None
    outcome = Failed(type(error).__name__, plain_text(error), scope.hook_answers, cache, scope.rejected)
    return TaskEnd(scope.task, outcome, error=error)


def not_a_pause(scope: TaskScope, error: Exception) -> Exception:
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


def out_of(group: BaseExceptionGroup[BaseException], scope: TaskScope) -> BaseException:
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


def plain_text(error: BaseException) -> str:
    """An error's message as history keeps it: at most 2,000 characters, and always text that can be stored."""
    text = str(error)[:MESSAGE_CHARACTERS]
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
