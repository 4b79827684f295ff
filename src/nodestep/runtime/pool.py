"""Daemon threads for plain nodes and for stores, so that neither blocks an event loop.

The threads are ours and daemons: a node left behind by its timeout must not keep the interpreter from ending, as the
standard library's executor would. Threads are made when no idle one is left, up to a limit, and end when idle for long.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar

from . import lazy_asyncio as asyncio
from .elsewhere import Elsewhere, call_in

T = TypeVar("T")
Job: TypeAlias = Callable[[], Callable[[], None] | None]
"""What a thread does. It returns what is to be called when the thread is free again, and must not raise."""

IDLE_S = 10.0


class Pool:
    """Runs jobs in daemon threads, at most `limit` at once; what comes beyond waits its turn, first in first out. A job that
    a job of the pool waits for never waits, since that could be for ever."""

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self.begin_anew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.begin_anew)

    def begin_anew(self) -> None:
        """As if it had just been made: the child of a fork has none of its parent's threads, and none of their jobs."""
        self._counting = threading.Lock()
        self._handed: SimpleQueue[Job] = SimpleQueue()
        self._waiting: deque[Job] = deque()
        self._threads = 0
        self._idle = 0  # of them, those that nothing was handed to
        self._here = threading.local()

    def submit(self, job: Job) -> None:
        """Do the job in a thread."""
        with self._counting:
            if self._idle:
                self._idle -= 1
                self._handed.put(job)
            elif self._threads < self._limit or getattr(self._here, "working", False):
                name = f"{self._name}-{self._threads + 1}"
                threading.Thread(target=self._work, args=([job],), name=name, daemon=True).start()
                self._threads += 1
            else:
                self._waiting.append(job)

    def _work(self, first: list[Job]) -> None:
        self._here.working = True
        job: Job | None = first.pop()  # a thread holds its arguments to its end, and what was done is to be let go
        while job is not None:
            tell = job()
            job = self._next()
            # Whoever is told may come at once with another job, and finds this thread idle.
            if tell is not None:
                tell()
            del tell
            if job is None:
                job = self._handed_over()

    def _next(self) -> Job | None:
        """A job that waits; otherwise this thread is idle."""
        with self._counting:
            if self._waiting:
                return self._waiting.popleft()
            self._idle += 1
            return None

    def _handed_over(self) -> Job | None:
        """The job that comes to this thread, or `None` when it was idle for long."""
        with suppress(Empty):
            return self._handed.get(timeout=IDLE_S)
        with self._counting:
            if self._idle:
                self._idle -= 1
                self._threads -= 1
                return None
        return self._handed.get()  # in this moment one was handed over

    def run(self, function: Callable[..., T], *args: Any) -> Awaitable[T]:
        """The result of `function(*args)`, run in a thread with a copy of the caller's context variables. Cancelling the
        wait does not stop a function that has begun, and drops one that has not."""
        return _Errand(self, function, args)

    def start(self, function: Callable[..., T], *args: Any, tells_begin: bool = False) -> PoolCall[T]:
        """The same, begun now, as a call with futures to wait for; `tells_begin`, also for its begin."""
        call = PoolCall(contextvars.copy_context(), function, args, tells_begin)
        self.submit(call.carry_out)
        return call


class _Errand(Elsewhere[T]):
    """A function that a task awaits."""

    __slots__ = ("_args", "_cancelled", "_context", "_error", "_function", "_pool", "_result")

    _result: T

    def __init__(self, pool: Pool, function: Callable[..., T], args: tuple[Any, ...]) -> None:
        super().__init__()
        self._pool = pool
        self._context = contextvars.copy_context()
        self._function = function
        self._args = args
        self._cancelled: tuple[str, ...] | None = None
        self._error: BaseException | None = None

    def hand_over(self) -> None:
        """Have it called."""
        try:
            self._pool.submit(self._carry_out)
        except RuntimeError as error:  # there can be no more threads
            self._error = error
            self.loop.call_soon(self.go_on)

    def _carry_out(self) -> Callable[[], None] | None:
        """In a thread of the pool."""
        if self._cancelled is not None:
            return None
        try:
            self._result = self._context.run(self._function, *self._args)
        except BaseException as error:
            self._error = error
        return partial(call_in, self.loop, self.go_on)

    def cancel(self, msg: str | None = None) -> bool:
        """The task goes on at once."""
        self._cancelled = () if msg is None else (msg,)
        self.loop.call_soon(self.go_on)
        return True

    def result(self) -> T:
        """What the function returned, or raises."""
        if self._cancelled is not None:
            raise asyncio.CancelledError(*self._cancelled)
        if self._error is not None:
            raise self._take_error()
        return self._result

    def _take_error(self) -> BaseException:
        """The error, held no longer: its traceback holds this."""
        error, self._error = self._error, None
        assert error is not None
        return error


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
        self._undecided = threading.Lock()
        self.has_begun = False
        self.begun: asyncio.Future[None] | None = self._loop.create_future() if tells_begin else None
        self.result: asyncio.Future[T] = self._loop.create_future()

    def drop(self) -> None:
        """Never begin it, if it has not begun; who waits for it is cancelled."""
        if self._decide():
            if self.begun is not None:
                self.begun.cancel()
            self.result.cancel()

    def carry_out(self) -> Callable[[], None] | None:
        """In a thread of the pool: call the function, unless nobody waits for it any more."""
        if self.result.cancelled() or not self._decide():
            return None
        self.has_begun = True
        if self.begun is not None:
            call_in(self._loop, _succeed, self.begun, None)
        try:
            result = self._context.run(self._function, *self._args)
        except BaseException as error:
            return partial(call_in, self._loop, _fail, self.result, error)
        return partial(call_in, self._loop, _succeed, self.result, result)

    def _decide(self) -> bool:
        """Whether it is this caller who says if the function begins."""
        return self._undecided.acquire(blocking=False)


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
            call_in(self._loop, self._hire)
        with suppress(IndexError):
            while True:
                context, function = self._waiting.popleft()
                self.results.append(context.run(function))
                if not self._told:
                    self._told = True
                    call_in(self._loop, self._tell)

    def _tell(self) -> None:
        self._told = False
        self._on_result()


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
