"""Daemon threads for plain nodes and for stores, so that neither blocks an event loop.

The threads are ours and daemons: a node left behind by its timeout must not keep the interpreter from ending, as the
standard library's executor would. Threads are made when no idle one is left, up to a limit, and end when idle for long.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from . import lazy_asyncio as asyncio

T = TypeVar("T")

IDLE_S = 10.0


class Pool:
    """Runs functions in daemon threads, at most `limit` at once; what comes beyond waits its turn, first in first out. A job
    that a job of the pool waits for is never held back by the limit, since that could wait for ever."""

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self.begin_anew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.begin_anew)

    def begin_anew(self) -> None:
        """As if it had just been made: the child of a fork has none of its parent's threads, and none of their jobs."""
        self._ready = threading.Condition()
        self._jobs: deque[Callable[[], None]] = deque()
        self._idle = 0
        self._threads = 0
        self._here = threading.local()

    def submit(self, job: Callable[[], None]) -> None:
        """Run `job` in a thread; it must not raise."""
        nested = getattr(self._here, "working", False)
        with self._ready:
            if nested:
                self._jobs.appendleft(job)
            else:
                self._jobs.append(job)
            if self._idle >= len(self._jobs):
                self._ready.notify()
            elif nested or self._threads < self._limit:
                self._threads += 1
                threading.Thread(target=self._work, name=f"{self._name}-{self._threads}", daemon=True).start()

    def _work(self) -> None:
        self._here.working = True
        while True:
            with self._ready:
                self._idle += 1
                arrived = self._ready.wait_for(lambda: self._jobs, timeout=IDLE_S)
                self._idle -= 1
                if not arrived:
                    self._threads -= 1
                    return
                job = self._jobs.popleft()
            job()
            del job

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """The result of `function(*args)`, run in a thread with a copy of the caller's context variables. Cancelling the
        wait does not stop a function that has begun, and drops one that has not."""
        return await self.start(function, *args).result

    def start(self, function: Callable[..., T], *args: Any, tells_begin: bool = False) -> PoolCall[T]:
        """The same, as a call to wait for in the running loop; `tells_begin`, also for its begin."""
        call = PoolCall(contextvars.copy_context(), function, args, tells_begin)
        self.submit(call.carry_out)
        return call


def leave_error(future: asyncio.Future[Any]) -> None:
    """A callback: whoever waited may be gone, and asyncio need not report the error as lost."""
    if not future.cancelled():
        future.exception()


class PoolCall(Generic[T]):
    """A function on its way through a pool: `has_begun` when it has found a thread, and where its begin is told `begun` is
    done; `result` is done when it has returned. Each is a wake-up of the loop, which costs more than a short function."""

    def __init__(
        self, context: contextvars.Context, function: Callable[..., T], args: tuple[Any, ...], tells_begin: bool
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = context
        self._function = function
        self._args = args
        self._deciding = threading.Lock()
        self._decided = False
        self.has_begun = False
        self.begun: asyncio.Future[None] | None = self._loop.create_future() if tells_begin else None
        self.result: asyncio.Future[T] = self._loop.create_future()

    def drop(self) -> None:
        """Never begin it, if it has not begun; who waits for it is cancelled."""
        if self._decide():
            if self.begun is not None:
                self.begun.cancel()
            self.result.cancel()

    def carry_out(self) -> None:
        """In a thread of the pool: call the function, unless nobody waits for it any more."""
        if self.result.cancelled() or not self._decide():
            return
        self.has_begun = True
        if self.begun is not None:
            _call_back(self._loop, _succeed, self.begun, None)
        try:
            result = self._context.run(self._function, *self._args)
        except BaseException as error:
            _call_back(self._loop, _fail, self.result, error)
        else:
            _call_back(self._loop, _succeed, self.result, result)

    def _decide(self) -> bool:
        """Whether it is this caller who says if the function begins."""
        with self._deciding:
            first, self._decided = not self._decided, True
        return first


class Crew(Generic[T]):
    """Calls functions in threads of a pool, and tells the running loop when there are `results`.

    A thread takes one function after the other, and asks the event loop for the next thread when it begins. A function that
    waits lets the loop hear of that, one that only computes does not; so slow functions get a thread each, and quick ones
    share a few. A function must not raise.
    """

    def __init__(self, pool: Pool, functions: Iterable[Callable[[], T]], on_result: Callable[[], None]) -> None:
        self.results: deque[T] = deque()
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self._waiting = deque((contextvars.copy_context(), function) for function in functions)
        self._on_result = on_result
        self._told = False
        self._hire()

    def drop(self) -> int:
        """Never begin those that have not begun; says how many."""
        dropped = 0
        with suppress(IndexError):
            while True:
                self._waiting.popleft()
                dropped += 1
        return dropped

    def _hire(self) -> None:
        if self._waiting:
            self._pool.submit(self._work)

    def _work(self) -> None:
        """In a thread of the pool."""
        if self._waiting:
            _call_back(self._loop, self._hire)
        with suppress(IndexError):
            while True:
                context, function = self._waiting.popleft()
                self.results.append(context.run(function))
                if not self._told:
                    self._told = True
                    _call_back(self._loop, self._tell)

    def _tell(self) -> None:
        self._told = False
        self._on_result()


def _call_back(loop: asyncio.AbstractEventLoop, callback: Callable[..., None], *args: Any) -> None:
    try:
        loop.call_soon_threadsafe(callback, *args)
    except RuntimeError:
        # The loop was closed meanwhile: nobody waits for this function any more.
        return


def _succeed(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if future.done():
        return
    if isinstance(error, StopIteration):
        wrapped = RuntimeError("the function raised StopIteration")
        wrapped.__cause__ = error
        error = wrapped
    future.set_exception(error)


NODES = Pool("nodestep-node", limit=128)
STORES = Pool("nodestep-store", limit=8)
