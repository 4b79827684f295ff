"""One run: what a call on a thread works with, and what it holds while it works. Its graphs at work are in `frame.py`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..engine.replay import Checkpoint, snapshot_to_bytes
from ..hooks.middleware import HookTable
from ..model.blueprint import Blueprint
from ..model.event import Fact, OnceRecorded, RunFailed
from ..model.ids import is_within, split_key
from ..model.interrupt import Resume
from ..model.json import JsonObject
from ..model.limits import check_size
from ..model.position import ROOT, Conflict, Frame, Listing, Position
from ..stores.base import AuditRow, QuestionRow, Receipt, StateStore, Status
from . import lazy_asyncio as asyncio
from .frame import FrameRun
from .log import Entry, RunLog

if TYPE_CHECKING:
    from .blocking import Door
    from .context import Raised
    from .stream import Sink


class Call(Struct, frozen=True):
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


class Stored(Struct, frozen=True):
    """An inner frame as the thread had it when this run began, until the run comes back to it. `values` are those of the
    state; `None` where only the node that calls the graph knows its types."""

    frame: Frame
    state: JsonObject
    values: dict[str, Any] | None


class Run:
    """The state of one run: the log it writes, its frames, and who must be told. `unrecorded` are facts that go with the
    next commit; `stored` are frames of earlier runs that this one has not come back to."""

    def __init__(self, call: Call, door: Door, sink: Sink | None) -> None:
        self.call = call
        self.store = call.store
        self.thread_id = call.thread_id
        self.branch_id = call.branch_id
        self.context = call.context
        self.run_id = os.urandom(16).hex()
        self.door = door
        self.sink = sink
        self.root = FrameRun(self, ROOT, call.blueprint, call.hooks, door, self.run_id)
        self.frames: dict[str, FrameRun] = {ROOT: self.root}
        self.stored: dict[str, Stored] = {}
        self.listed: Mapping[str, Listing] = {}
        self.raised: dict[str, Raised] = {}
        self.log: RunLog | None = None
        self.resuming = False
        self.unrecorded: list[Fact] = []
        self.audits: list[AuditRow] = []
        self.closes: list[str] = []
        self.conflict: Conflict | None = None
        self.lease_lost = False
        self.stopped: asyncio.Task[Any] | None = None
        self._recording = threading.Lock()
        self._main: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    @property
    def position(self) -> Position:
        """Where the run stands, as data."""
        frames = {path: at.frame for path, at in self.frames.items()}
        return Position({**frames, **{path: found.frame for path, found in self.stored.items()}}, self.listed)

    @property
    def checkpoint_id(self) -> str | None:
        """The id of the last event written, `None` without a store."""
        return None if self.log is None else self.log.checkpoint_id

    # frames

    @property
    def holds_inner_frames(self) -> bool:
        """Whether a graph is at work inside a task, in this run or as stored."""
        return len(self.frames) + len(self.stored) > 1

    def close_frames(self, path: str) -> None:
        """Forget a frame and those inside it, whose outer task is over; questions that stayed open are closed."""
        gone = [inner for inner in (*self.frames, *self.stored) if is_within(inner, path)]
        if gone:
            self.frames = {inner: at for inner, at in self.frames.items() if inner not in gone}
            self.stored = {inner: found for inner, found in self.stored.items() if inner not in gone}
            self.close_questions([key for key in self.listed if split_key(key)[0] in gone])

    def close_questions(self, gone: Collection[str]) -> None:
        """Close questions that nobody waits for any more, with the next commit."""
        if gone:
            self.closes.extend(gone)
            self.listed = {key: listing for key, listing in self.listed.items() if key not in gone}

    def checkpoint(self, at: FrameRun, values: dict[str, Any], after: Frame) -> Checkpoint:
        """Where the thread will stand when this frame has gone on to these values."""
        position = self.position.with_frame(at.path, after)
        states = {path: found.state for path, found in self.stored.items()}
        for path, frame in self.frames.items():
            held = values if frame is at else frame.values
            states[path] = {**frame.schema.dump(held), **frame.dropped}
        return Checkpoint(states.pop(ROOT), position, states)

    # commits

    async def commit(
        self,
        door: Door,
        facts: Sequence[Fact],
        status: Status = Status.RUNNING,
        opens: tuple[QuestionRow, ...] = (),
        snapshot: Callable[[], Checkpoint] | None = None,
    ) -> None:
        """Make facts durable, with the outcomes that wait to be; without a store there is nothing to do. `snapshot` gives
        the checkpoint after this commit."""
        if self.log is None:
            self.unrecorded, self.audits, self.closes = [], [], []
            return
        made = door.commit(self.log, lambda: self.entry(facts, status, opens, snapshot))
        receipt = made if isinstance(made, Receipt) else await made
        if opens and receipt is not None and receipt.pause is not None:
            listing = Listing(receipt.pause, receipt.at_ms)
            self.listed = {**self.listed, **{question.key: listing for question in opens}}

    def entry(
        self,
        facts: Sequence[Fact],
        status: Status = Status.RUNNING,
        opens: tuple[QuestionRow, ...] = (),
        snapshot: Callable[[], Checkpoint] | None = None,
        then: Callable[[], None] | None = None,
    ) -> Entry:
        """An entry of these facts after those noted, which are noted no longer, unless the entry is not written."""
        body = None if snapshot is None else snapshot_to_bytes(snapshot())
        if body is not None:
            check_size(len(body), what="The state")
        noted, audits, closes = self.unrecorded, self.audits, self.closes
        if not noted and not audits and not closes:
            return Entry(facts, status, opens, (), (), body, None, then)
        self.unrecorded, self.audits, self.closes = [], [], []

        def undo() -> None:
            self.unrecorded[:0] = noted
            self.audits[:0] = audits
            self.closes[:0] = closes

        return Entry([*noted, *facts], status, opens, tuple(closes), tuple(audits), body, undo, then)

    def abandon(self, failure: RunFailed) -> None:
        """Give the branch back, blocking; what was noted goes along."""
        assert self.log is not None
        self.log.write(self.entry((failure,), Status.FAILED))

    async def record(self) -> None:
        """From inside the event loop: make the outcomes noted so far durable. Until their turn comes they stay noted."""
        if self.log is not None and self.unrecorded:
            await self.log.awrite(self._noted)

    def _noted(self) -> Entry | None:
        return self.entry(()) if self.unrecorded else None

    def record_once(self, at: FrameRun, fact: OnceRecorded) -> None:
        """Record a `once` result before it is returned, from the thread that steps the run, its loop, or a pool thread."""
        if self.log is None:
            return
        loop = self._main[0] if self._main is not None else None
        if loop is None or loop is asyncio.running_loop() or not loop.is_running():
            with self._recording:
                self.log.write(self._once_entry(at, fact))
        else:
            asyncio.run_coroutine_threadsafe(self.arecord_once(at, fact), loop).result()

    async def arecord_once(self, at: FrameRun, fact: OnceRecorded) -> None:
        """The same for `aonce`, without blocking the event loop."""
        if self.log is not None:
            await self.log.awrite(lambda: self._once_entry(at, fact))

    def _once_entry(self, at: FrameRun, fact: OnceRecorded) -> Entry:
        """Taken into the position as well, for a snapshot that a frame beside this task may write; with what is noted where
        the task stands in an inner frame, whose opening may be among it."""
        at.frame = at.frame.with_once(fact.task, fact.id, fact.value)
        return self.entry((fact,)) if fact.path else Entry((fact,))

    # the lease

    def enter_loop(self) -> bool:
        """Remember the task of the event loop that does the work, for whoever must stop it. False inside such a task."""
        if self._main is not None:
            return False
        task = asyncio.current_task()
        assert task is not None
        self._main = (asyncio.get_running_loop(), task)
        return True

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

    def listens(self, mode: str) -> bool:
        """Whether a stream asked for this mode."""
        return self.sink is not None and mode in self.sink.modes
