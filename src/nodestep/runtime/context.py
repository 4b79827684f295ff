"""What a running task can reach: its `NodeContext`.

One scope belongs to one run of one task. It is found through a context variable, which is unset while routers, reducers
and graph hooks run, so a question can only be asked where it can be answered.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextvars import ContextVar
from functools import partial
from types import CoroutineType, MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

from msgspec import Struct

from ..errors import (
    ContextNotProvidedError,
    GraphExecutionError,
    GraphInterrupt,
    a,
)
from ..hooks.contexts import NodeMiddlewareContext
from ..hooks.middleware import owner_of
from ..model.event import OnceRecorded
from ..model.ids import QUESTION_ID, idempotency_key, interrupt_key
from ..model.interrupt import MISSING
from ..model.json import Json, JsonObject
from ..model.limits import own_json, to_json
from ..model.locks import whole_over_forks
from ..model.memory import NO_MEMORY, MemoryChange
from ..model.node import NodeSpec
from ..model.outcome import NOTHING, StoredQuestion
from ..model.position import Task, Work
from . import lazy_asyncio as asyncio
from .memory import WorkingMemory

if TYPE_CHECKING:
    from types import ModuleType

    from ..model.subgraph import InnerGraph
    from .frame import FrameRun

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")

CURRENT: ContextVar[TaskScope | None] = ContextVar("nodestep_task", default=None)


class Raised(Struct, frozen=True):
    """A question that this run of the task asked, with its payload as given."""

    question: StoredQuestion
    payload: Any


BOOKKEEPING = whole_over_forks(threading.Lock())
"""Held for a moment where looking and noting must be one step among the threads of a node."""

NO_QUESTIONS: Mapping[str, Raised] = MappingProxyType({})


class TaskScope:
    """One task while it runs; it is the node's `NodeContext`. What it gathers, the engine turns into an outcome."""

    # What most tasks never touch stands here once for all of them, and on a task from its first use.
    attempt = 1
    closed = False
    fault: Exception | None = None
    view: Any = None
    raised: Mapping[str, Raised] = NO_QUESTIONS
    signals: Sequence[GraphInterrupt] = ()
    hook_answers: Mapping[str, Json] = NOTHING
    once_results: Mapping[str, Json] = NOTHING
    rejected: Mapping[str, str] = NOTHING
    ids: AbstractSet[str] = frozenset()
    calls: AbstractSet[asyncio.Task[Any]] = frozenset()
    call_ids: AbstractSet[str] = frozenset()
    _ids_before: AbstractSet[str] = frozenset()
    _once_ids: AbstractSet[str] = frozenset()
    _cache: JsonObject | None = None
    _memory: WorkingMemory | None = None

    def __init__(self, at: FrameRun, task: Task, spec: NodeSpec, work: Work, values: dict[str, Any]) -> None:
        self.at = at
        self.run = at.run
        self.task = task
        self.spec = spec
        self.work = work
        self.values = values

    def own(self, name: str, make: Callable[[], Any]) -> Any:
        """This task's container in the place of the class's empty one. Making it is one step, so that the threads of a
        node, which share the scope, lose nothing of each other."""
        return vars(self).setdefault(name, make())

    def begin_attempt(self, number: int) -> None:
        """Forget what the last try asked; what it recorded stays, and so does what hooks asked before the node."""
        if number == 1:
            self._ids_before = frozenset(self.ids)
        for name in ("fault", "raised", "signals", "rejected", "ids", "call_ids", "_once_ids"):
            vars(self).pop(name, None)
        self.attempt = number
        if self._ids_before:
            self.ids = set(self._ids_before)

    def take_over(self, other: TaskScope) -> None:
        """Everything that a scope of the same task gathered in the place of this one."""
        vars(self).update(vars(other))

    def take_cache_of(self, other: TaskScope) -> None:
        """The cache alone, of a scope that was left behind."""
        self._cache = None if other._cache is None else dict(other._cache)

    @property
    def writer(self) -> str:
        """How errors name who wrote a value."""
        return self.spec.writer

    # what a node reads

    @property
    def graph_name(self) -> str:
        return self.at.blueprint.name

    @property
    def node(self) -> str:
        return self.spec.name

    @property
    def run_id(self) -> str:
        return self.at.run_id

    @property
    def root_run_id(self) -> str:
        return self.run.run_id

    @property
    def thread_id(self) -> str:
        return self.run.thread_id

    @property
    def branch_id(self) -> str:
        return self.run.branch_id

    @property
    def step(self) -> int:
        return self.at.step

    @property
    def task_id(self) -> str:
        return self.task.id

    @property
    def context(self) -> Any:
        if self.run.context is None:
            raise ContextNotProvidedError(
                f"Node {self.node!r} reads ctx.context, and this call passed none. Pass it on every call, as in "
                "invoke(..., context=...); a paused run's context is not stored."
            )
        return self.run.context

    @property
    def cache(self) -> JsonObject:
        self.check_open("cache")
        if self._cache is None:
            self._cache = own_json(self.work.cache) if self.work.cache else {}
        return self._cache

    @property
    def idempotency_key(self) -> str:
        return idempotency_key(self.at.origin, self.at.frame.superstep, self.at.path, self.task.id)

    # what a node does

    def emit(self, data: Any) -> None:
        self.check_open("emit")
        self.at.emit_custom(self, data)

    def once(self, id: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        known = self._enter_once(id)
        if known is not MISSING:
            return known  # type: ignore[no-any-return]
        result = self._once_result(id, function(*args, **kwargs))
        self.run.record_once(self.at, OnceRecorded(self.task.id, id, result, self.at.path))
        return own_json(result)  # type: ignore[no-any-return]

    async def aonce(self, id: str, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        known = self._enter_once(id)
        if known is not MISSING:
            return known  # type: ignore[no-any-return]
        result = self._once_result(id, await function(*args, **kwargs))
        await self.run.arecord_once(self.at, OnceRecorded(self.task.id, id, result, self.at.path))
        return own_json(result)  # type: ignore[no-any-return]

    async def call(self, graph: InnerGraph[S], input: Any = None, *, id: str) -> S:
        state: S = await nested().call_graph(self, graph, input, id)
        return state

    def _enter_once(self, id: str) -> Any:
        self.check_open("once")
        check_question_id("once", id)
        with BOOKKEEPING:
            if id in self._once_ids:
                raise GraphExecutionError(
                    f"Node {self.node!r} calls ctx.once with the id {id!r} twice in one run. Give each call its own id."
                )
            self.own("_once_ids", set).add(id)
        for results in (self.once_results, self.work.once):
            if id in results:
                return own_json(results[id])
        return MISSING

    def _once_result(self, id: str, value: Any) -> Json:
        self.check_open("once")
        if isinstance(value, CoroutineType):
            value.close()
            raise GraphExecutionError(
                f"What ctx.once({id!r}) called in node {self.node!r} returned a coroutine, and nobody awaited it. In an async "
                f"def node, write await ctx.aonce({id!r}, ...)."
            )
        result = to_json(value, f"the result of once({id!r}) in node {self.node!r}")
        self.own("once_results", dict)[id] = result
        return result

    def check_open(self, what: str) -> None:
        """Refuse what comes after the task's end."""
        if self.closed:
            raise RuntimeError(
                f"ctx.{what} of node {self.node!r} was used after its task had ended or timed out. Nothing was recorded."
            )

    # what the engine reads

    @property
    def memory(self) -> WorkingMemory:
        """What the middleware of the graph keeps, as this task changes it."""
        memory: WorkingMemory = self.own("_memory", partial(WorkingMemory, self.at.frame.memory))
        return memory

    def memory_change(self) -> MemoryChange:
        """What to record of it when the task is done."""
        return NO_MEMORY if self._memory is None else self._memory.change()

    def changed_cache(self) -> JsonObject | None:
        """The cache to record with a pause or a failure, or `None` where it is as recorded."""
        if self._cache is None:
            return None
        cache: JsonObject = to_json(self._cache, f"ctx.cache of node {self.node!r}")
        return None if cache == (self.work.cache or {}) else cache

    def pause(self) -> NoReturn:
        """Raise the signal for the questions noted so far. The engine knows it by identity."""
        first = next(iter(list(self.raised.values())), None)
        id = first.question.id if first else ""
        prompt = first.payload if first and isinstance(first.payload, str) else ""
        signal = GraphInterrupt(interrupt_key(self.at.path, self.task.id, id), prompt, self.node, self.run.thread_id)
        self.own("signals", list).append(signal)
        raise signal

    def refuse(self, error: Exception) -> NoReturn:
        """End the task with `error` even where the node catches exceptions: it goes up as a pause does."""
        self.fault = error
        self.pause()

    def hook_context(self, hook: Callable[..., Any], update: Mapping[str, Any] | None = None) -> NodeMiddlewareContext:
        """What a hook around this task receives."""
        return NodeMiddlewareContext(*self.told(), update, self.memory_for(hook))

    def told(self) -> tuple[str, str, Any, str, str, int, str, str]:
        """What every hook in a task is told of it: the fields that its contexts have in common, in their order."""
        view = self.at.schema.view(self.values)
        return (
            self.graph_name,
            self.node,
            view,
            self.run_id,
            self.thread_id,
            self.step,
            self.task_id,
            self.root_run_id,
        )

    def memory_for(self, hook: Callable[..., Any]) -> Callable[[], JsonObject]:
        """How a hook comes to what its middleware keeps, if it asks."""
        return partial(self.memory.of, owner_of(hook))


def nested() -> ModuleType:
    """How a task runs a graph inside itself: the loop that runs tasks, which cannot be known here while it is made."""
    from . import nested

    return nested


def check_question_id(what: str, id: Any) -> None:
    """Raises ValueError for anything but 1 to 256 ASCII letters, digits, `_`, `.` and `-`."""
    if not isinstance(id, str) or not QUESTION_ID.fullmatch(id):
        shown = repr(id) if isinstance(id, str) and len(id) <= 256 else a(type(id).__name__)
        raise ValueError(
            f"{what}() takes an id of 1 to 256 ASCII letters, digits, '_', '.' and '-', not {shown}. Choose a short name "
            'for the question, e.g. id="approve".'
        )
