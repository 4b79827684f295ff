"""A graph at work in a run: the thread's own, or one inside a task of another."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from ..hooks.contexts import GraphMiddlewareContext
from ..hooks.middleware import HookTable
from ..model.blueprint import Blueprint
from ..model.event import TaskRecorded
from ..model.ids import frame_path, interrupt_key
from ..model.json import Json, JsonObject
from ..model.outcome import Done, Outcome
from ..model.position import NO_FRAME, Frame, Task
from ..model.schema import StateSchema
from ..stores.base import AuditRow
from . import lazy_asyncio as asyncio
from .pool import PoolCall

if TYPE_CHECKING:
    from .blocking import Door
    from .context import TaskScope
    from .run import Run


class FrameRun:
    """One graph at work. `values` are shared with nobody: tasks, routers, hooks and results get copies. `origin` tells this
    frame from every other of any thread; `parent` is the task it works in, `None` for the thread's own graph. Where it
    `calls_plainly`, a lone plain node is no more than a call in this thread."""

    halted = False
    """Whether the graph is to go no further in this run, though no error of its own ends it."""

    def __init__(
        self,
        run: Run,
        path: str,
        blueprint: Blueprint,
        hooks: HookTable,
        door: Door,
        run_id: str,
        parent: TaskScope | None = None,
    ) -> None:
        self.run = run
        self.path = path
        self.blueprint = blueprint
        self.schema: StateSchema[Any] = blueprint.schema
        self.hooks = hooks
        self.door = door
        self.run_id = run_id
        self.origin: str = run_id if parent is None else f"{parent.at.origin}/{parent.at.frame.superstep}/{path}"
        self.parent = parent
        self.values: dict[str, Any] = {}
        self.dropped: JsonObject = {}
        self.frame: Frame = NO_FRAME
        self.step = 0
        self.seconds_left = blueprint.timeout_s
        self.calls_plainly = door.steps_by_hand and blueprint.timeout_s is None and not hooks.around_nodes
        self.stopping: asyncio.Event | None = None
        self.calls: set[PoolCall[Any]] = set()

    def is_stopping(self) -> bool:
        """Whether this graph, or one around it, ends since one of its tasks failed."""
        return any(at.stopping is not None and at.stopping.is_set() for at in outwards(self))

    def seed(self, task: Task) -> str:
        """What ids of messages without one are derived from: the same on every attempt of a task, and different for every
        other task, branch, thread and run without a store."""
        return f"{self.origin}/{self.frame.superstep}/{task.id}"

    def note(self, task: str, outcome: Outcome) -> None:
        """Take a task's outcome into the position, to be recorded with the next commit."""
        run, work = self.run, self.frame.work_of(task)
        for id, reason in outcome.rejected.items() if outcome.rejected else ():
            key, answer, pause = interrupt_key(self.path, task, id), work.answers.get(id), work.pauses.get(id)
            run.audits.append(AuditRow(key, answer, "type", pause=pause, rejected=reason))
        for id, answer in outcome.answers.items() if outcome.answers else ():
            run.audits.append(AuditRow(interrupt_key(self.path, task, id), answer, "hook"))
        self.frame = self.frame.with_work(task, work.with_outcome(outcome))
        if isinstance(outcome, Done) and run.holds_inner_frames:
            run.close_frames(frame_path(self.path, task))
        if run.log is not None:
            run.unrecorded.append(TaskRecorded(task, outcome, self.path))

    # hooks and streams

    def graph_context(self, memory: Callable[[], MutableMapping[str, Json]]) -> GraphMiddlewareContext:
        """What a graph hook sees now."""
        run = self.run
        return GraphMiddlewareContext(
            self.blueprint.name,
            self.schema.result(self.values),
            self.run_id,
            run.thread_id,
            run.branch_id,
            run.run_id,
            run.resuming,
            memory,
        )

    def emit(self, mode: str, data: Any, node: str | None = None, task_id: str | None = None) -> None:
        """Send an event; `data` must be a copy."""
        run = self.run
        if run.sink is not None:
            run.sink.put(mode, data, node, self.run_id, run.checkpoint_id, self.step, task_id, self.path)

    def emit_custom(self, scope: TaskScope, data: Any) -> None:
        """What `ctx.emit` sends."""
        if self.run.listens("custom"):
            self.emit("custom", copy.deepcopy(data), scope.node, scope.task.id)

    def emit_node_input(self, scope: TaskScope) -> None:
        """The debug event of a node about to be called."""
        if self.run.listens("debug"):
            data = {"type": "node_input", "state": self.schema.data(scope.values)}
            self.emit("debug", data, scope.node, scope.task.id)


def outwards(at: FrameRun) -> Iterator[FrameRun]:
    """A frame and those around it, the innermost first."""
    each: FrameRun | None = at
    while each is not None:
        yield each
        each = None if each.parent is None else each.parent.at
