"""`Graph`: the front door. It joins a blueprint and the runtime, and has no logic of its own."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .errors import GraphConfigError
from .flow import build
from .flow.edges import Linkable
from .hooks import Middleware
from .hooks.middleware import HookTable, read_hooks
from .model.blueprint import Blueprint
from .model.interrupt import MISSING, Resume
from .model.limits import check_id
from .model.schema import StateSchema
from .people.reading import load_branch
from .runtime import lazy_asyncio as asyncio
from .runtime.blocking import AsyncDoor, BlockingDoor, refuse_in_loop, step_by_hand
from .runtime.driver import drive
from .runtime.loading import typed_state
from .runtime.result import GraphResult, StateSnapshot
from .runtime.run import Call
from .stores.base import StateStore
from .threads import Threads, ask

if TYPE_CHECKING:
    from .runtime.stream import StreamEvent

S = TypeVar("S")


class Graph(Threads, Generic[S]):
    """A graph of nodes over one state type.

    `state_schema` is a pydantic model, a TypedDict or `dict`. `name` is the state type's unless given. `max_steps` bounds
    the supersteps of one call; `timeout`, in seconds, the time that one call spends inside supersteps. `state_store` keeps
    the threads; a call may name another. `middleware` is asked in order. Raises GraphConfigError for what is wrong.
    """

    def __init__(
        self,
        state_schema: type[S],
        *,
        name: str | None = None,
        max_steps: int = 25,
        timeout: float | None = None,
        state_store: StateStore | None = None,
        middleware: Iterable[Middleware] | None = None,
    ) -> None:
        self._schema: StateSchema[S] = StateSchema(state_schema)
        self._name = name
        self._max_steps = max_steps
        self._timeout = timeout
        self._store = _checked_store(state_store)
        self._hooks = read_hooks(middleware)
        self._blueprint: Blueprint | None = None

    @property
    def name(self) -> str:
        """The graph's name; its threads bear it in the store."""
        return self._schema.name if self._name is None else self._name

    @property
    def blueprint(self) -> Blueprint:
        """The checked graph as a value. Raises GraphConfigError before `flow()`."""
        if self._blueprint is None:
            raise GraphConfigError(
                f"Graph {self.name!r} has no nodes yet. Write graph.flow(START >> first, ...) first."
            )
        return self._blueprint

    @property
    def has_flow(self) -> bool:
        """Whether `flow()` was called, so that there is a blueprint."""
        return self._blueprint is not None

    @property
    def schema(self) -> StateSchema[S]:
        """The state type, read into fields."""
        return self._schema

    @property
    def hooks(self) -> HookTable:
        """The hooks of the graph's middleware, as the runtime reads them."""
        return self._hooks

    @property
    def state_store(self) -> StateStore | None:
        """The graph's own store; `None` where each call names one, or there is none."""
        return self._store

    def flow(self, *items: Linkable) -> Graph[S]:
        """Write the graph, e.g. `flow(START >> a, a >> [b, c] >> d, d >> END)`; returns the graph itself.

        Raises one GraphConfigError that lists every problem. A second call is an error.
        """
        if self._blueprint is not None:
            raise GraphConfigError(f"Graph {self.name!r} has its flow already. Write all of it in one flow(...) call.")
        self._blueprint = build(
            items, schema=self._schema, name=self._name, max_steps=self._max_steps, timeout=self._timeout
        )
        return self

    # running

    async def ainvoke(
        self,
        initial_state: Mapping[str, Any] | S | None = None,
        *,
        thread_id: str | None = None,
        branch_id: str = "main",
        resume: Resume | None = None,
        state_store: StateStore | None = None,
        context: Any = None,
    ) -> GraphResult[S]:
        """Run to the end, or to the next pause.

        A dict as `initial_state` is an update of the stored state (`{}` starts a turn as well), an instance of the state
        type the whole state, and `None` continues what is unfinished. `resume` answers a paused thread. With a store a
        `thread_id` is required. `context` reaches the nodes and is never stored.

        Raises before anything is written or run: GraphConfigError (store, thread_id), TypeError (input together with
        `resume`, or a `resume` that is none), ResumeError, UnknownThreadError, ThreadBusyError, GraphChangedError,
        StateUpdateError. Later: the error of a node, and the other errors of a run.
        """
        call = self._call(initial_state, thread_id, branch_id, resume, state_store, context)
        return await drive(call, AsyncDoor())

    def invoke(
        self,
        initial_state: Mapping[str, Any] | S | None = None,
        *,
        thread_id: str | None = None,
        branch_id: str = "main",
        resume: Resume | None = None,
        state_store: StateStore | None = None,
        context: Any = None,
    ) -> GraphResult[S]:
        """`ainvoke` for code without an event loop. A lone plain node runs in the calling thread."""
        refuse_in_loop("invoke")
        call = self._call(initial_state, thread_id, branch_id, resume, state_store, context)
        steps = step_by_hand(partial(drive, call, BlockingDoor()))
        try:
            next(steps)
        except StopIteration as end:
            result: GraphResult[S] = end.value
            return result
        raise AssertionError("unreachable: without a sink the driver hands out no event")

    async def astream(
        self,
        initial_state: Mapping[str, Any] | S | None = None,
        *,
        stream_mode: str | Iterable[str],
        thread_id: str | None = None,
        branch_id: str = "main",
        resume: Resume | None = None,
        state_store: StateStore | None = None,
        context: Any = None,
    ) -> AsyncIterator[StreamEvent]:
        """Run as `ainvoke` does, and yield events as they come; the last one is `"final"` or `"interrupt"`.

        Modes: `"updates"`, `"values"`, `"custom"`, `"tokens"`, `"debug"`, one or a list. The run waits for a consumer
        that is slow, and stops when the stream is closed; it can then be continued. Raises ValueError for an unknown mode,
        and as `ainvoke` does.
        """
        from .runtime.stream import Sink, read_modes

        sink = Sink(read_modes(stream_mode))
        call = self._call(initial_state, thread_id, branch_id, resume, state_store, context)
        sink.attach()
        run = asyncio.ensure_future(drive(call, AsyncDoor(), sink))
        run.add_done_callback(lambda _: sink.end())
        try:
            while await sink.wait():
                while sink.events:
                    yield sink.events.popleft()
            await run
        finally:
            if not run.done():
                run.cancel()
                await asyncio.wait((run,))

    def stream(
        self,
        initial_state: Mapping[str, Any] | S | None = None,
        *,
        stream_mode: str | Iterable[str],
        thread_id: str | None = None,
        branch_id: str = "main",
        resume: Resume | None = None,
        state_store: StateStore | None = None,
        context: Any = None,
    ) -> Iterator[StreamEvent]:
        """`astream` for code without an event loop. The events of a lone plain node come when it has returned, since it
        runs in the calling thread."""
        refuse_in_loop("stream")
        from .runtime.stream import Sink, read_modes

        sink = Sink(read_modes(stream_mode))
        call = self._call(initial_state, thread_id, branch_id, resume, state_store, context)
        return _events(step_by_hand(partial(drive, call, BlockingDoor(), sink), sink))

    async def run(
        self,
        state: Mapping[str, Any] | S | None,
        *,
        checkpointer: StateStore | None = None,
        checkpoint_id: str | None = None,
        resume: Any = MISSING,
        context: Any = None,
    ) -> S:
        """Run to the end and return the final state; a pause raises `GraphInterrupt`.

        `checkpointer` is a state store, the graph's own unless given, and `checkpoint_id` the id of a thread in it. `state`
        starts a new thread, or another turn of one that is over; otherwise the thread goes on where it stands and `state`
        is ignored. `resume` answers: a value (also `False`, `0`, `""` or `None`) the only open question, a dict each by its
        key or its declared node's field; to answer with a dict itself, write `Resume({...})`.

        The exception is a `RunInterruptedError` with `key, prompt, node_id, checkpoint_id, nested_checkpoint_id` and all
        open `interrupts`; `except Exception` catches it too. A paused thread without `resume` raises it again, and runs
        nothing. Raises GraphConfigError for a store without a `checkpoint_id`, ResumeError for an answer that meets no
        question, and as `ainvoke` does.
        """
        from .runtime.checkpointed import paused, way_on

        store = self._store if checkpointer is None else _checked_store(checkpointer)
        if store is not None and not checkpoint_id:
            raise GraphConfigError(
                f"Graph {self.name!r} has a checkpointer, so a run needs a checkpoint_id to be kept under, as in run(state, "
                "checkpointer=store, checkpoint_id='order-17'). Nothing ran."
            )
        way = await way_on(self.blueprint, store, checkpoint_id, state, resume)
        call = self._call(way.input, checkpoint_id, "main", way.resume, store, context)
        result: GraphResult[S] = await drive(call, AsyncDoor())
        if result.status == "interrupted":
            raise paused(self.blueprint, result.thread_id, result.interrupts, result.checkpoint_id, result._position)
        return result.state

    # what stands

    async def get_state(
        self,
        thread_id: str,
        at: str | None = None,
        *,
        branch_id: str = "main",
        state_store: StateStore | None = None,
    ) -> StateSnapshot[S]:
        """The state as the graph's state type, now or at the event with the id `at`.

        Raises UnknownThreadError, UnknownEventError, and GraphChangedError where the state no longer fits the type.
        """
        store = self._store_for(state_store)
        loaded = await ask(store, lambda: load_branch(store, thread_id, branch_id, at))
        values = typed_state(self.blueprint, loaded.checkpoint, thread_id)
        return StateSnapshot(self._schema.result(values), loaded.sequence)

    async def update_state(
        self,
        thread_id: str,
        values: Mapping[str, Any],
        *,
        create: bool = False,
        branch_id: str = "main",
        state_store: StateStore | None = None,
    ) -> str:
        """Edit the stored state from outside a run, through the reducers; returns the id of the event.

        It is no input: it starts nothing, and is allowed while the thread is paused or unfinished, whose task then sees it.
        `create=True` makes a missing thread with these values. Raises StateUpdateError for a value that does not fit,
        InvalidUpdateError for a field that a finished task of the open superstep replaces, ThreadBusyError while a run
        works on the branch, UnknownThreadError without `create`.
        """
        store = self._store_for(state_store)
        from .runtime.editing import update_state

        edit = partial(update_state, self.blueprint, store, thread_id, values, branch_id, create=create)
        return await ask(store, edit)

    # pictures

    def to_mermaid(self) -> str:
        """The graph as a Mermaid flowchart."""
        from .flow.mermaid import to_mermaid

        return to_mermaid(self.blueprint)

    def to_spec(self) -> dict[str, Any]:
        """The graph as plain data: state fields, nodes, edges, joins."""
        from .flow.spec import to_spec

        return to_spec(self.blueprint)

    def to_json(self) -> str:
        """The same as JSON text."""
        from .flow.spec import to_json

        return to_json(self.blueprint)

    # form

    def _store_for(self, state_store: StateStore | None) -> StateStore:
        store = self._store if state_store is None else _checked_store(state_store)
        if store is None:
            raise GraphConfigError(
                f"Graph {self.name!r} has no store, so it has no threads to ask for. Pass state_store=SQLiteStateStore("
                "'threads.db'), here or to Graph(...)."
            )
        return store

    def _call(
        self,
        initial_state: Any,
        thread_id: str | None,
        branch_id: str,
        resume: Resume | None,
        state_store: StateStore | None,
        context: Any,
    ) -> Call:
        """The call, checked for form: what is wrong here is wrong whatever is stored."""
        if isinstance(initial_state, Resume):
            raise TypeError("A Resume is no input. Write invoke(None, thread_id=..., resume=Resume(...)).")
        if resume is not None and not isinstance(resume, Resume):
            raise TypeError(
                f"resume= takes a Resume, not {type(resume).__name__}. Write resume=Resume(value), or "
                "resume=Resume(answers={key: value, ...})."
            )
        if resume is not None and initial_state is not None:
            raise TypeError(
                "A call takes an input or resume=, not both, and neither was used. Pass None as the input, as in invoke(None, "
                "resume=Resume(...)); a remark can be part of the answer."
            )
        store = self._store if state_store is None else _checked_store(state_store)
        if store is None:
            if resume is not None or initial_state is None or branch_id != "main":
                what = "resume=" if resume is not None else "a branch" if branch_id != "main" else "continuing"
                raise GraphConfigError(
                    f"Graph {self.name!r} has no store, and {what} needs a stored thread. Pass state_store=SQLiteStateStore("
                    "'threads.db') and a thread_id; to run without a store, pass an input such as {}."
                )
            thread_id = secrets.token_hex(16) if thread_id is None else thread_id
        elif not isinstance(thread_id, str) or not thread_id:
            raise GraphConfigError(
                f"Graph {self.name!r} has a store, so a run needs a thread_id to be kept under: a text that is not "
                "empty, as in invoke({...}, thread_id='order-17'). Nothing ran."
            )
        check_id("thread_id", thread_id)
        check_id("branch_id", branch_id)
        return Call(self.blueprint, self._hooks, store, thread_id, branch_id, initial_state, resume, context)


def _events(steps: Iterator[StreamEvent]) -> Iterator[StreamEvent]:
    yield from steps


def _checked_store(store: StateStore | None) -> StateStore | None:
    if store is not None and not all(callable(getattr(store, name, None)) for name in ("commit", "read", "questions")):
        raise GraphConfigError(
            f"state_store= takes a store such as SQLiteStateStore('threads.db'), not {type(store).__name__}."
        )
    return store
