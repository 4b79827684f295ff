"""Tool calls inside a task, each recorded as it ends.

They stand as tasks in a frame without a graph. So a question that a call asks, what it caches and what it did once belong
to the call alone, and a call whose end is recorded never runs again, however often its task does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from ..engine.plan import runnable
from ..hooks.contexts import ToolMiddlewareContext
from ..hooks.middleware import NO_HOOKS
from ..model.event import CallsOpened, OnceRecorded
from ..model.ids import frame_path, idempotency_key, split_key
from ..model.json import Json
from ..model.memory import NO_MEMORY, MemoryChange
from ..model.outcome import Asked, Done
from ..model.position import CALLS, Task
from . import lazy_asyncio as asyncio
from .context import TaskScope, nested
from .ends import TaskEnd, check_not_swallowed
from .frame import FrameRun
from .memory import WorkingMemory
from .task import guarded

T = TypeVar("T")

RESULT = "result"
"""What stands for a patch in the outcome of a call: its result."""


RAN = "tool:ran"
"""What a tool returned is kept beside the results of `ctx.once`, under this id, which nobody can give to that."""


class CallScope(TaskScope):
    """One tool call while it runs; it is the tool's `ToolContext`. `ran` is what its tool returned in this run, in JSON,
    while hooks look at it."""

    ran: Json = None

    def __init__(self, at: Calls, task: Task, call_id: str, outer: TaskScope) -> None:
        super().__init__(at, task, outer.spec, at.frame.work_of(task.id), outer.values)
        self.tool_call_id = call_id
        self._outer = outer

    @property
    def memory(self) -> WorkingMemory:
        """That of the task: what middleware keeps is not of one call alone."""
        return self._outer.memory

    @property
    def state(self) -> Any:
        return self.at.schema.view(self.values)

    @property
    def idempotency_key(self) -> str:
        """That of this very call: another call that an edit put in its place has another."""
        call = f"{self.task.id}\0{self.task.payload}"
        return idempotency_key(self.at.origin, self.at.frame.superstep, self.at.path, call)

    def tool_hooks(self, name: str) -> Iterator[ToolHook]:
        """The hooks of one name that cover the call: those of its own graph, then those of the graphs around it."""
        scope: TaskScope | None = self._outer
        while scope is not None:
            for hook in getattr(scope.at.hooks, name):
                yield ToolHook(hook, self, scope)
            scope = scope.at.parent

    @property
    def ran_before(self) -> Json:
        """What the tool returned in an earlier run, whose hooks did not come to their end; `None` where it has not."""
        return self.work.once.get(RAN)

    def keep_what_ran(self) -> None:
        """The call did not come to its end, but its tool did: note that, to go with the next commit."""
        self.at.frame = self.at.frame.with_once(self.task.id, RAN, self.ran)
        self.run.unrecorded.append(OnceRecorded(self.task.id, RAN, self.ran, self.at.path))

    def take_memory(self) -> MemoryChange:
        """What hooks of this graph changed in what they keep, since the end of another call of the task."""
        return self._outer.memory.take() if "_memory" in vars(self._outer) else NO_MEMORY


class ToolHook(NamedTuple):
    """A hook around a call: its function, the call, and the task of its graph, whose memory it has."""

    function: Callable[..., Any]
    call: CallScope
    task: TaskScope

    def __call__(self, tool_name: str, value: Any, *more: Any) -> Any:
        call = self.call
        memory = self.task.memory_for(self.function)
        context = ToolMiddlewareContext(tool_name, value, call.tool_call_id, *call.told(), memory)
        return self.function(context, *more)


class Calls(FrameRun):
    """The tool calls of a task at work, as a frame without a graph."""

    def __init__(self, scope: TaskScope) -> None:
        outer = scope.at
        path = frame_path(outer.path, scope.task.id)
        super().__init__(scope.run, path, outer.blueprint, NO_HOOKS, outer.door, outer.run_id, scope)
        self.step = outer.step
        self.frame = CALLS

    def to_run(self) -> frozenset[str]:
        """The ids of the calls that have work to do: neither ended nor waiting for a person."""
        return frozenset(task.id for task in runnable(self.run.position, self.path))

    def result_of(self, id: str) -> Json:
        """The recorded result of a call that ended."""
        outcome = self.frame.work_of(id).outcome
        assert isinstance(outcome, Done)
        return outcome.patch[RESULT]

    def waits(self, besides: Collection[str] = ()) -> bool:
        """Whether a call waits for a person, besides those named."""
        return self.frame.waits(besides)

    async def together(self, work: Mapping[str, Coroutine[Any, Any, T]]) -> dict[str, T]:
        """Do work for several calls at once, and return the results in its order. A TaskEnd ends a call, and is recorded as
        it comes; the last ones go with the task's own end."""
        if len(work) == 1:
            return {id: self.noted(await job) for id, job in work.items()}
        running = {asyncio.create_task(job): id for id, job in work.items()}
        results: dict[str, T] = {}
        try:
            while running:
                ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for job in ended:
                    results[running.pop(job)] = self.noted(job.result())
                if running:
                    await self.run.record()
            return {id: results[id] for id in work}
        finally:
            if running:
                await self._stop(running)

    async def _stop(self, running: Mapping[asyncio.Task[Any], str]) -> None:
        """The task itself was stopped: cancel what still runs, and keep what ended on its own."""
        for job in running:
            job.cancel()
        await asyncio.wait(running)
        for job in running:
            if not job.cancelled() and job.exception() is None:
                self.noted(job.result())

    def noted(self, result: T) -> T:
        """What came of work for a call; where that ended the call, it is to be recorded with the next commit."""
        if isinstance(result, TaskEnd):
            self.note(result.task.id, result.outcome)
        return result


def open_calls(scope: TaskScope, due: Sequence[Task]) -> Calls:
    """The frame of a task's calls: as an earlier attempt left it, as the thread has it stored, or new. What is recorded of
    a call that was another before is forgotten."""
    run, at = scope.run, Calls(scope)
    known = run.frames.get(at.path)
    if known is not None:
        at.frame = known.frame
    elif at.path in run.stored:
        at.frame = run.stored.pop(at.path).frame
    if at.frame.due != tuple(due):
        _forget(at, [task for task in at.frame.due if task not in due])
        run.unrecorded.append(CallsOpened(at.path, tuple(due)))
        at.frame = at.frame.with_calls(tuple(due))
    run.frames[at.path] = at
    for work in at.frame.work.values():
        if isinstance(work.outcome, Done) and work.outcome.memory:
            scope.memory.adopt(work.outcome.memory)
    return at


def _forget(at: Calls, gone: Sequence[Task]) -> None:
    run, ids = at.run, {task.id for task in gone}
    for id in ids:
        run.close_frames(frame_path(at.path, id))
    run.close_questions([key for key in run.listed if split_key(key)[0] == at.path and split_key(key)[1] in ids])


async def ended(scope: CallScope, work: Callable[[], Awaitable[Json]]) -> TaskEnd:
    """Run a call to its end: with its result, with a question, or with an error."""
    end = None
    try:
        end = await guarded(scope, partial(_done, scope, work))
        return end
    finally:
        scope.closed = True
        if scope.ran is not None and (end is None or not isinstance(end.outcome, Done)):
            scope.keep_what_ran()


async def _done(scope: CallScope, work: Callable[[], Awaitable[Json]]) -> TaskEnd:
    try:
        result = await work()
    finally:
        if scope.calls:
            await nested().end_calls(scope)
    check_not_swallowed(scope)
    done = Done({RESULT: result}, None, scope.hook_answers, scope.rejected, scope.take_memory())
    return TaskEnd(scope.task, done)


def still_waiting(scope: CallScope) -> TaskEnd:
    """The end of a call that did not run since its task waits for a person; what its hooks were answered is kept."""
    scope.closed = True
    return TaskEnd(scope.task, Asked((), scope.hook_answers, scope.changed_cache(), scope.rejected))
