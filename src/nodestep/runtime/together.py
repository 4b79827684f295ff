"""Several tasks at once, in an event loop: plain nodes in threads of our pool, all others as tasks of the loop.

Each outcome is recorded as it comes, those that are ready together in one commit; the last ones travel with the end of
their superstep.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Coroutine, Iterable
from functools import partial
from typing import Any, TypeAlias

from ..model.outcome import Failed
from ..model.position import Task
from . import lazy_asyncio as asyncio
from .context import TaskScope
from .ends import TaskEnd
from .frame import FrameRun
from .node_call import Place
from .pool import NODES, Crew
from .task import perform, perform_here, scope_of

Ends: TypeAlias = dict[str, TaskEnd]
"""How the tasks of a superstep ended in this run, by task id. Those recorded earlier are left out."""


async def run_together(at: FrameRun, tasks: tuple[Task, ...]) -> Ends:
    """Run several tasks. When one fails, its async siblings are cancelled, and its plain ones waited for, save those that
    have not begun."""
    siblings = _Siblings(at)
    at.stopping = asyncio.Event()
    try:
        siblings.start(scope_of(at, task) for task in tasks)
        while siblings.n_open:
            await siblings.take_ended()
            if siblings.n_open:
                await at.run.record()
        return siblings.ends
    finally:
        at.stopping = None
        if siblings.n_open:
            await siblings.stop()


class _Siblings:
    """The tasks of a superstep while they run."""

    def __init__(self, at: FrameRun) -> None:
        self.at = at
        self.ends: Ends = {}
        self._n_plain = 0
        self._running: dict[asyncio.Task[TaskEnd], TaskScope] = {}
        self._ended: deque[asyncio.Task[TaskEnd]] = deque()
        self._plain: list[TaskScope] = []
        self._crew: Crew[TaskEnd | BaseException] | None = None
        self._wake = asyncio.Event()

    def start(self, scopes: Iterable[TaskScope]) -> None:
        """Begin with all of them."""
        plain = self._plain
        for scope in scopes:
            if scope.spec.is_plain and not self.at.hooks.around_nodes:
                plain.append(scope)
                continue
            job = _begun(perform(scope, Place.LOOP))
            self._running[job] = scope
            if job.done():
                self._on_end(job)
            else:
                job.add_done_callback(self._on_end)
        self._n_plain = len(plain)
        if plain:
            self._crew = Crew(NODES, [partial(_ended, scope) for scope in plain], self._wake.set)

    @property
    def n_open(self) -> int:
        """How many have not ended yet."""
        return len(self._running) + self._n_plain

    async def take_ended(self) -> None:
        """Wait until some have ended, and note what came of each. The first that failed stops the others. Raises what is no
        failure of a node."""
        await self._wake.wait()
        self._wake.clear()
        while self._ended:
            job = self._ended.popleft()
            del self._running[job]
            self._take(asyncio.CancelledError() if job.cancelled() else job.result())
        while self._crew is not None and self._crew.results:
            self._n_plain -= 1
            self._take(self._crew.results.popleft())

    def _take(self, end: TaskEnd | BaseException) -> None:
        if isinstance(end, TaskEnd):
            self.ends[end.task.id] = end
            self.at.note(end.task.id, end.outcome)
            if isinstance(end.outcome, Failed) and not self._stopping:
                self._stop_others()
        elif not (self._stopping and isinstance(end, asyncio.CancelledError)):
            raise end  # what a node stops alone, it stops beside others

    async def stop(self) -> None:
        """The superstep itself was stopped: cancel what still runs, and keep what ended on its own."""
        for job in self._running:
            job.cancel()
        self._drop_plain()
        if self.at.is_stopping():
            await self._wait_for_plain()
        for scope in self._plain:
            scope.closed = True
        if self._running:
            await asyncio.wait(self._running)
        ends = [job.result() for job in self._running if not job.cancelled() and job.exception() is None]
        ends += [end for end in (self._crew.results if self._crew else ()) if isinstance(end, TaskEnd)]
        for end in ends:
            self.at.note(end.task.id, end.outcome)

    async def _wait_for_plain(self) -> None:
        """A thread cannot be stopped, so a plain node that has begun is waited for where a task around it stops this graph,
        as it is where a task beside it does."""
        while self._crew is not None and len(self._crew.results) < self._n_plain:
            await self._wake.wait()
            self._wake.clear()

    @property
    def _stopping(self) -> bool:
        return self.at.stopping is None or self.at.stopping.is_set()

    def _stop_others(self) -> None:
        assert self.at.stopping is not None
        self.at.stopping.set()
        for job, scope in self._running.items():
            if scope.spec.is_async or scope.spec.inner is not None:
                job.cancel()
        for call in tuple(self.at.calls):
            call.drop()
        self._drop_plain()

    def _drop_plain(self) -> None:
        if self._crew is not None:
            self._n_plain -= self._crew.drop()

    def _on_end(self, job: asyncio.Task[TaskEnd]) -> None:
        self._ended.append(job)
        self._wake.set()


def _ended(scope: TaskScope) -> TaskEnd | BaseException:
    """In a thread of the pool: how a plain task ended, or what it raised that is no failure of its node."""
    try:
        return perform_here(scope)
    except BaseException as error:
        return error


def _begun(work: Coroutine[Any, Any, TaskEnd]) -> asyncio.Task[TaskEnd]:
    """A task for the work; where the loop can, what needs not wait is done at once."""
    if sys.version_info >= (3, 12):
        return asyncio.Task(work, loop=asyncio.get_running_loop(), eager_start=True)
    return asyncio.create_task(work)
