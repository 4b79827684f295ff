"""The tool calls of one model's turn: all made ready, all judged, then run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from ..chat import ToolCall
from ..errors import LimitExceededError, ToolDeniedError, ToolExecutionError, ToolGroupExecutionError
from ..model.canonical import fingerprint
from ..model.ids import encoded_call_id
from ..model.json import Json
from ..model.limits import MAX_ID_CHARS
from ..model.position import Task
from ..runtime.calls import CallScope, ended, open_calls, still_waiting
from ..runtime.context import TaskScope
from ..runtime.ends import TaskEnd
from ..runtime.frame import outwards
from ..runtime.task import guarded
from .approving import WAITING, Approvals, Cleared, Ready, Waiting
from .counting import count_calls
from .one_call import OneCall, Refused, ToolErrors
from .tool import Tool

Verdict: TypeAlias = Cleared | Refused | Waiting


async def run_turn(
    scope: TaskScope, calls: Sequence[ToolCall], tools: Mapping[str, Tool[Any, Any]], tool_errors: ToolErrors
) -> list[Json]:
    """Run the calls that may run, several at once; returns what is recorded of each, in their order.

    Pauses the task while a call waits for a person. Raises RunLimitExceededError where the calls are too many, and the
    error of a call, or a ToolGroupExecutionError of several, where errors are raised; every other call has come to its
    end by then.
    """
    numbered = _numbered(scope, calls)
    count_calls(scope, [call.name for call in calls])
    at = open_calls(scope, [task for task, _ in numbered])
    to_run = at.to_run()
    approvals = Approvals(scope)
    work = {
        task.id: OneCall(CallScope(at, task, call.id, scope), call, tools, tool_errors, approvals.read_before(task))
        for task, call in numbered
        if task.id in to_run
    }
    if any(outer.hooks.before_tool for outer in outwards(scope.at)):
        found = await at.together({id: guarded(one.scope, one.made_ready) for id, one in work.items()})
    else:
        found = {id: at.noted(await guarded(one.scope, one.made_ready)) for id, one in work.items()}
    ends = {id: end for id, end in found.items() if isinstance(end, TaskEnd)}
    ready = {id: one for id, one in found.items() if not isinstance(one, TaskEnd)}
    verdicts: dict[str, Verdict] = {id: _judged(approvals, work[id].scope.task, one) for id, one in ready.items()}
    if WAITING in verdicts.values():
        approvals.check_size()
    if approvals.hold_turn and (ends or WAITING in verdicts.values() or at.waits(besides=to_run)):
        verdicts = dict.fromkeys(verdicts, WAITING)
    for id, verdict in verdicts.items():
        if isinstance(verdict, Waiting):
            at.note(id, still_waiting(work[id].scope).outcome)
    ends |= await at.together(
        {
            id: ended(work[id].scope, partial(work[id].end, verdict))
            for id, verdict in verdicts.items()
            if not isinstance(verdict, Waiting)
        }
    )
    _raise_errors(ends[id].error for id in work if id in ends)
    if at.waits():
        scope.pause()
    return [at.result_of(task.id) for task, _ in numbered]


def _numbered(scope: TaskScope, calls: Sequence[ToolCall]) -> list[tuple[Task, ToolCall]]:
    """Each call with its task, in whose id the calls of one id are told apart by their number."""
    seen: dict[str, int] = {}
    numbered: list[tuple[Task, ToolCall]] = []
    for call in calls:
        if len(call.id) > MAX_ID_CHARS:
            raise LimitExceededError(
                f"The model gave a tool call an id of {len(call.id)} characters, and {MAX_ID_CHARS} are the most. Nothing ran."
            )
        seen[call.id] = number = seen.get(call.id, 0) + 1
        payload = {"call": _fingerprint(call)}
        numbered.append((Task(encoded_call_id(call.id, number), scope.task.node, payload), call))
    return numbered


def _fingerprint(call: ToolCall) -> str:
    """The same for the same call, and different for one that an edit of the state put in its place."""
    return fingerprint([call.name, call.arguments, call.arguments_error])


def _judged(approvals: Approvals, task: Task, ready: Ready | Refused) -> Verdict:
    if isinstance(ready, Refused):
        return ready
    try:
        return approvals.judge(task, ready)
    except (ToolDeniedError, ToolExecutionError) as error:
        return Refused(error)


def _raise_errors(errors: Iterable[BaseException | None]) -> None:
    """Raise the only error, several tool errors as a group, or the first error of another kind."""
    raised = [error for error in errors if error is not None]
    others = [error for error in raised if not isinstance(error, ToolExecutionError)]
    if others or len(raised) == 1:
        raise (others or raised)[0]
    if raised:
        raise ToolGroupExecutionError([error for error in raised if isinstance(error, ToolExecutionError)])
