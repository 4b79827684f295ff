"""One run: what a call works with, and what it holds while it works."""

from __future__ import annotations

import asyncio
import copy
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..engine.replay import advance
from ..hooks.contexts import GraphMiddlewareContext
from ..hooks.middleware import HookTable
from ..model.blueprint import Blueprint
from ..model.event import Fact, OnceRecorded, Paused, RunFailed, TaskRecorded
from ..model.ids import interrupt_key
from ..model.interrupt import Resume
from ..model.json import Json, JsonObject
from ..model.outcome import Outcome
from ..model.position import ROOT, Conflict, Frame, Listing, Position, Task
from ..model.schema import StateSchema
from ..stores.base import AuditRow, QuestionRow, StateStore, Status
from .log import Entry, RunLog
from .pool import PoolCall
from .stream import Sink, StreamEvent

if TYPE_CHECKING:
    from .blocking import Door
    from .context import TaskScope


@dataclass(frozen=True, slots=True)
class Call:
    """What a caller asked for, already checked for form. `input` is `None` to go on with what is stored."""

    blueprint: Blueprint
    hooks: HookTable
    store: StateStore | None
    thread_id: str
    branch_id: str
    input: Any
    resume: Resume | None
    context: Any
    source: str = "api"


class Run:
    """The state of one run: its values, its position, and the log it writes. `values` are shared with nobody: tasks,
    routers, hooks and results get copies."""

    def __init__(self, call: Call, door: Door, sink: Sink | None) -> None:
        self.call = call
        self.blueprint = call.blueprint
        self.schema: StateSchema[Any] = call.blueprint.schema
        self.hooks = call.hooks
        self.store = call.store
        self.thread_id = call.thread_id
        self.branch_id = call.branch_id
        self.context = call.context
        self.run_id = uuid.uuid4().hex
        self.door = door
        self.sink = sink
        self.values: dict[str, Any] = {}
        self.dropped: JsonObject = {}
        self.frame = Frame(0)
        self.listed: Mapping[str, Listing] = {}
        self.log: RunLog | None = None
        self.origin = self.run_id
        self.step = 0
        self.resuming = False
        self.stopping: asyncio.Event | None = None
        self.calls: set[PoolCall[Any]] = set()
        self.seconds_left = call.blueprint.timeout_s
        self.unrecorded: list[Fact] = []
        self.audits: list[AuditRow] = []
        self.conflict: Conflict | None = None
        self.lease_lost = False
        self.stopped: asyncio.Task[Any] | None = None
        self._main: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    @property
    def position(self) -> Position:
        """Where the run stands, as data."""
        return Position({ROOT: self.frame}, self.listed)

    @property
    def checkpoint_id(self) -> str | None:
        """The id of the last event written, `None` without a store."""
        return None if self.log is None else self.log.checkpoint_id

    def seed(self, task: Task) -> str:
        """What ids of messages without one are derived from: the same on every attempt of a task, and different for every
        other task, branch, thread and run without a store."""
        return f"{self.origin}/{self.frame.superstep}/{task.id}"

    # commits

    async def commit(
        self,
        facts: Sequence[Fact],
        status: Status = Status.RUNNING,
        opens: tuple[QuestionRow, ...] = (),
        snapshot: bytes | None = None,
    ) -> None:
        """Make facts durable, with the outcomes that wait to be; without a store there is nothing to do."""
        if self.log is None:
            self.unrecorded, self.audits = [], []
            return
        receipt = await self.door.commit(self.log, lambda: self._entry(facts, status, opens, snapshot))
        if opens:
            position = advance(self.position, Paused(), receipt.pause, receipt.at_ms)
            self.listed = position.listed

    def _entry(
        self,
        facts: Sequence[Fact],
        status: Status = Status.RUNNING,
        opens: tuple[QuestionRow, ...] = (),
        snapshot: bytes | None = None,
    ) -> Entry:
        """An entry of these facts after those noted, which are noted no longer, unless the entry is not written."""
        noted, audits = self.unrecorded, self.audits
        if not noted and not audits:
            return Entry(facts, status, opens, (), snapshot)
        self.unrecorded, self.audits = [], []

        def undo() -> None:
            self.unrecorded[:0] = noted
            self.audits[:0] = audits

        return Entry([*noted, *facts], status, opens, tuple(audits), snapshot, undo)

    def abandon(self, failure: RunFailed) -> None:
        """Give the branch back, blocking; what was noted goes along."""
        assert self.log is not None
        self.log.write(self._entry((failure,), Status.FAILED))

    def note(self, task: str, outcome: Outcome) -> None:
        """Take a task's outcome into the position, to be recorded with the next commit."""
        work = self.frame.work_of(task)
        for id, reason in outcome.rejected.items():
            key, answer, pause = interrupt_key(ROOT, task, id), work.answers.get(id), work.pauses.get(id)
            self.audits.append(AuditRow(key, answer, "type", pause=pause, rejected=reason))
        for id, answer in outcome.answers.items():
            self.audits.append(AuditRow(interrupt_key(ROOT, task, id), answer, "hook"))
        self.frame = self.frame.with_work(task, work.with_outcome(outcome))
        self.unrecorded.append(TaskRecorded(task, outcome))

    async def record(self) -> None:
        """From inside the event loop: make the outcomes noted so far durable. Until their turn comes they stay noted."""
        if self.log is not None and self.unrecorded:
            await self.log.awrite(self._noted)

    def _noted(self) -> Entry | None:
        return self._entry(()) if self.unrecorded else None

    def record_once(self, task: str, id: str, value: Json) -> None:
        """Record a `once` result before it is returned, from the thread that steps the run, its loop, or a pool thread."""
        if self.log is None:
            return
        entry = Entry([OnceRecorded(task, id, value)])
        loop = self._main[0] if self._main is not None else None
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if loop is None or here is loop or not loop.is_running():
            self.log.write(entry)
        else:
            asyncio.run_coroutine_threadsafe(self.log.awrite(lambda: entry), loop).result()

    async def arecord_once(self, task: str, id: str, value: Json) -> None:
        """The same for `aonce`, without blocking the event loop."""
        if self.log is not None:
            await self.log.awrite(lambda: Entry([OnceRecorded(task, id, value)]))

    # the lease

    def enter_loop(self) -> None:
        """Remember the task of the event loop that does the work, for whoever must stop it."""
        task = asyncio.current_task()
        assert task is not None
        self._main = (asyncio.get_running_loop(), task)

    def leave_loop(self) -> None:
        """The work in the event loop is over."""
        self._main = None

    def lose_lease(self) -> None:
        """From the renewing thread: the branch is no longer ours, so stop what runs."""
        self.lease_lost = True
        main = self._main
        if main is not None:
            loop, task = main
            loop.call_soon_threadsafe(self._stop, task)

    def _stop(self, task: asyncio.Task[Any]) -> None:
        self.stopped = task
        task.cancel()

    # hooks and streams

    def graph_context(self) -> GraphMiddlewareContext:
        """What graph hooks see now."""
        return GraphMiddlewareContext(
            self.blueprint.name,
            self.schema.result(self.values),
            self.run_id,
            self.thread_id,
            self.branch_id,
            self.run_id,
            self.resuming,
        )

    def listens(self, mode: str) -> bool:
        """Whether a stream asked for this mode."""
        return self.sink is not None and mode in self.sink.modes

    def emit(self, mode: str, data: Any, node: str | None = None, task_id: str | None = None) -> None:
        """Send an event; `data` must be a copy."""
        if self.sink is not None:
            self.sink.put(StreamEvent(mode, data, node, self.run_id, self.checkpoint_id, self.step, task_id))

    def emit_custom(self, scope: TaskScope, data: Any) -> None:
        """What `ctx.emit` sends."""
        if self.listens("custom"):
            self.emit("custom", copy.deepcopy(data), scope.node, scope.task.id)

    def emit_node_input(self, scope: TaskScope) -> None:
        """The debug event of a node about to be called."""
        if self.sink is not None and "debug" in self.sink.modes:
            data = {"type": "node_input", "state": self.schema.data(scope.values)}
            self.emit("debug", data, scope.node, scope.task.id)
