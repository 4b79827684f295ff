"""Daemon threads for plain nodes and for stores, so that neither blocks an event loop.

The threads are ours and daemons: a node left behind by its timeout must not keep the interpreter from ending, as the
standard library's executor would. Threads are made when no idle one is left, up to a limit, and end when idle for long.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

IDLE_S = 10.0


class Pool:
    """Runs functions in daemon threads, at most `limit` at once; what comes beyond waits its turn, first in first out. A job
    that a job of the pool waits for is never held back by the limit, since that could wait for ever."""

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
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
        wait does not stop the function."""
        return await self.start(function, *args)

    def start(self, function: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """The same, as a future of the running loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        context = contextvars.copy_context()

        def job() -> None:
            try:
                result = context.run(function, *args)
            except BaseException as error:
                _call_back(loop, _fail, future, error)
            else:
                _call_back(loop, _succeed, future, result)

        self.submit(job)
        return future


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
