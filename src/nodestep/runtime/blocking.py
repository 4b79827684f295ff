"""The two doors into the one async driver.

Under `ainvoke` the driver is awaited as usual. Under `invoke` it is stepped by hand: it runs in the calling thread without
any event loop, and hands out a coroutine where a superstep needs one (an async node or hook, several tasks, a timeout, a
backoff). Such a coroutine runs in a loop of this call's own, which is opened on first need and kept to the call's end.
"""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ..errors import GraphConfigError
from ..stores.base import Receipt, Refused, StateStore, Write
from . import lazy_asyncio as asyncio
from .committer import Ticket, committer_of
from .log import Entry, RunLog
from .pool import STORES

if TYPE_CHECKING:
    from .stream import Sink, StreamEvent

T = TypeVar("T")


class Door(Protocol):
    """How a run waits. `steps_by_hand` says that a lone plain node runs in the calling thread."""

    steps_by_hand: bool

    def in_loop(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """The result of a coroutine that needs an event loop."""

    async def claim(self, store: StateStore, write: Write, take: Callable[[Receipt], None]) -> Receipt | Refused:
        """Commit a claim. `take` is called with the receipt even where the call is cancelled meanwhile, so that what was
        claimed can be given back."""

    def commit(self, log: RunLog, make: Callable[[], Entry]) -> Receipt | Awaitable[Receipt | None]:
        """Make durable the entry that `make` gives when its turn has come; there is nothing to wait for where this blocks."""

    async def ask_store(self, store: StateStore, query: Callable[[], T]) -> T:
        """The result of a query that may block."""

    async def drained(self, sink: Sink) -> None:
        """Until the consumer has taken every event."""


class AsyncDoor:
    """The driver as a coroutine of the caller's loop."""

    steps_by_hand = False

    def in_loop(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        return work

    async def claim(self, store: StateStore, write: Write, take: Callable[[Receipt], None]) -> Receipt | Refused:
        if store.instant:
            return _claimed(store, write, take)
        claim = _ClaimTicket(store, write)
        try:
            return await claim
        finally:
            claim.settle()
            if isinstance(claim.answer, Receipt):
                take(claim.answer)

    def commit(self, log: RunLog, make: Callable[[], Entry]) -> Receipt | Awaitable[Receipt | None]:
        return log.write(make()) if log.store.instant else log.awrite(make)

    async def ask_store(self, store: StateStore, query: Callable[[], T]) -> T:
        return query() if store.instant else await STORES.run(query)

    async def drained(self, sink: Sink) -> None:
        await sink.taken()


class _ClaimTicket(Ticket):
    """A claim on its way."""

    __slots__ = ("_write",)

    def __init__(self, store: StateStore, write: Write) -> None:
        super().__init__(committer_of(store), store)
        self._write = write

    def begin(self) -> Write:
        return self._write


def _claimed(store: StateStore, write: Write, take: Callable[[Receipt], None]) -> Receipt | Refused:
    (answer,) = store.commit([write])
    if isinstance(answer, Receipt):
        take(answer)
    return answer


class _HandOut:
    """An awaitable that gives something to whoever steps the driver, and gets the answer back."""

    __slots__ = ("what",)

    def __init__(self, what: Any) -> None:
        self.what = what

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield self.what)


class BlockingDoor:
    """The driver stepped by hand."""

    steps_by_hand = True

    async def in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        result: T = await _HandOut(work)
        return result

    async def claim(self, store: StateStore, write: Write, take: Callable[[Receipt], None]) -> Receipt | Refused:
        return _claimed(store, write, take)

    def commit(self, log: RunLog, make: Callable[[], Entry]) -> Receipt:
        return log.write(make())

    async def ask_store(self, store: StateStore, query: Callable[[], T]) -> T:
        return query()

    async def drained(self, sink: Sink) -> None:
        await _HandOut(sink)


def refuse_in_loop(method: str) -> None:
    """Blocking forms do not run inside a running event loop."""
    if asyncio.running_loop() is None:
        return
    raise GraphConfigError(
        f"{method}() was called inside a running event loop, which it would block. Write 'await graph.a{method}(...)'"
        f"{' or async for' if method == 'stream' else ''} there."
    )


def step_by_hand(
    start: Callable[[], Coroutine[Any, Any, T]], sink: Sink | None = None
) -> Generator[StreamEvent, None, T]:
    """Start a driver and run it to its end in this thread, yielding the events of its sink as they come. Closing the
    generator ends the driver at the point where it stands."""
    # In a context of its own: a generator may be resumed from another one each time.
    context = contextvars.copy_context()
    driver = start()
    runner: asyncio.Runner | None = None
    clock: _Clock | None = None
    closing = False
    answer: Any = None
    error: BaseException | None = None
    try:
        while True:
            try:
                request = context.run(driver.send, answer) if error is None else context.run(driver.throw, error)
            except StopIteration as end:
                result: T = end.value
                if sink is not None and not closing:
                    yield from _take(sink)
                return result
            except BaseException as raised:
                if closing and isinstance(raised, asyncio.CancelledError):
                    return None  # type: ignore[return-value]
                if sink is not None and not closing:
                    yield from _take(sink)
                raise
            answer, error = None, None
            try:
                if sink is not None and request is sink:
                    if not closing:
                        yield from _take(sink)
                    continue
                if runner is None or clock is None:
                    runner = asyncio.Runner()
                    clock = _Clock(runner.get_loop())
                answer, error = yield from _run(runner, clock, request, context.copy(), None if closing else sink)
            except GeneratorExit:
                # The consumer has left. The driver is cancelled, and served until it has ended: its hooks are told.
                closing, error = True, asyncio.CancelledError("the stream was closed")
    finally:
        context.run(driver.close)
        if runner is not None:
            runner.close()


def _run(
    runner: asyncio.Runner,
    clock: _Clock,
    work: Coroutine[Any, Any, T],
    context: contextvars.Context,
    sink: Sink | None,
) -> Generator[StreamEvent, None, tuple[T | None, BaseException | None]]:
    """Run a coroutine in the runner's loop; with a sink, step out of the loop whenever there are events to give. Its error
    is handed back, so that what is raised here comes from the consumer alone."""
    if sink is None:
        try:
            return runner.run(_boxed(work), context=context).value, None
        except BaseException as error:
            return None, error
    task = runner.get_loop().create_task(work, context=context)
    try:
        while not task.done():
            try:
                runner.run(_until(task, sink))
            except BaseException as error:
                return None, error
            with clock.held():
                yield from _take(sink)
        try:
            return task.result(), None
        except BaseException as error:
            return None, error
    finally:
        if not task.done():
            task.cancel()
            runner.run(_ended(task))


class _Box(Generic[T]):
    """A result with a short repr. The runner asks for the repr of its task with every run, in getting a signal's handler."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value


async def _boxed(work: Coroutine[Any, Any, T]) -> _Box[T]:
    return _Box(await work)


class _Clock:
    """The time of a loop, which stands still while a consumer holds an event: no timeout runs on then."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._held_s = 0.0
        self._time = loop.time
        with suppress(AttributeError):  # a loop that is not written in Python keeps its own time
            loop.time = self._now  # type: ignore[method-assign]

    def _now(self) -> float:
        return self._time() - self._held_s

    @contextmanager
    def held(self) -> Iterator[None]:
        since = self._time()
        try:
            yield
        finally:
            self._held_s += self._time() - since


async def _until(task: asyncio.Task[Any], sink: Sink) -> None:
    sink.attach()
    waiting = asyncio.ensure_future(sink.wait())
    await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


async def _ended(task: asyncio.Task[Any]) -> None:
    await asyncio.wait((task,))


def _take(sink: Sink) -> Iterator[StreamEvent]:
    while sink.events:
        yield sink.events.popleft()
