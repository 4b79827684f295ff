"""What a task of an event loop awaits while a thread does it.

To wake a thread, and the loop again, costs more than most of what is done there. So the thread is told when the task has
come to rest, and does not wake to wait for the interpreter that the task still holds; and its end is the task's next step.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator
from contextvars import Context
from functools import partial
from typing import Any, Generic, TypeVar

from . import lazy_asyncio as asyncio

T = TypeVar("T")


class Elsewhere(Generic[T]):
    """Awaited once, by a task of the loop in which it was made. That task takes it for a future, as `asyncio.isfuture`
    does."""

    __slots__ = ("_asyncio_future_blocking", "_step", "loop")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._asyncio_future_blocking = False
        self._step: Callable[[], object] | None = None

    def hand_over(self) -> None:
        """Tell the thread, which has the loop call `go_on` in the end."""
        raise NotImplementedError

    def result(self) -> T:
        """What came of it; raises the error that stands in its place."""
        raise NotImplementedError

    def cancel(self, msg: str | None = None) -> bool:
        """Whether the task goes on at once, with what `result` raises now. Otherwise it is cancelled when this has ended."""
        raise NotImplementedError

    def go_on(self) -> None:
        """In the loop: the task's next step, once."""
        step, self._step = self._step, None
        if step is not None:
            step()

    # as a future

    def __await__(self) -> Generator[Any, None, T]:
        self._asyncio_future_blocking = True
        yield self
        return self.result()

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The loop of the task."""
        return self.loop

    def add_done_callback(self, callback: Callable[[Any], object], *, context: Context) -> None:
        """Called by the task once it rests; the callback is its next step."""
        self._step = partial(context.run, callback, self)
        self.hand_over()


def all_go_on(ended: Collection[Elsewhere[Any]]) -> None:
    """From another thread: the next steps of the tasks that await these; each loop is woken once."""
    for loop in {each.loop for each in ended}:
        call_in(loop, _go_on, deque(each for each in ended if each.loop is loop))


def _go_on(ended: deque[Elsewhere[Any]]) -> None:
    try:
        while ended:
            ended.popleft().go_on()
    finally:
        if ended:  # a step stopped the loop, as KeyboardInterrupt does
            ended[0].loop.call_soon(_go_on, ended)


def call_in(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *args: Any) -> None:
    """From another thread: have the loop call it. Nobody waits in a loop that was closed meanwhile."""
    try:
        loop.call_soon_threadsafe(callback, *args)
    except RuntimeError:
        return
