"""Events to whoever listens to a run.

A sink belongs to one run. The run puts events in, and at the end of every superstep waits until they were taken: a
consumer that stops reading stops the run, and no event is ever piled up beyond one superstep's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import did_you_mean
from ..model.interrupt import Interrupt
from ..model.value import locked_value
from . import lazy_asyncio as asyncio

MODES = ("updates", "values", "custom", "tokens", "debug")


@locked_value
class StreamEvent:
    """One event of a stream. `mode` is one of the modes asked for, or `"final"` or `"interrupt"` for the one terminal
    event. `data` is a copy; `checkpoint_id` the last event stored when it was made; `path` the frame it comes from."""

    mode: str
    data: Any
    node: str | None
    run_id: str
    checkpoint_id: str | None
    step: int
    task_id: str | None = None
    path: str = ""


@locked_value
class FinalEventData:
    """The terminal event of a run that completed: the final state as a dict."""

    state: dict[str, Any]
    thread_id: str


@locked_value
class InterruptEventData:
    """The terminal event of a run that paused: the state before the paused superstep, and the open questions by key."""

    state: dict[str, Any]
    thread_id: str
    interrupts: Mapping[str, Interrupt]


def read_modes(stream_mode: str | Iterable[str]) -> frozenset[str]:
    """The modes asked for. Raises ValueError for one that does not exist."""
    modes = (stream_mode,) if isinstance(stream_mode, str) else tuple(stream_mode)
    for mode in modes:
        if mode in ("final", "interrupt"):
            raise ValueError(
                f"stream_mode {mode!r} cannot be asked for: every stream ends with exactly one 'final' or 'interrupt' event."
            )
        if mode not in MODES:
            near = did_you_mean(mode, MODES) if isinstance(mode, str) else ""
            raise ValueError(f"Unknown stream_mode {mode!r}. Modes: {', '.join(MODES)}.{near}")
    return frozenset(modes)


class Sink:
    """The events of one run between the run and its consumer. Putting works from any thread."""

    def __init__(self, modes: frozenset[str]) -> None:
        self.modes = modes
        self.events: deque[StreamEvent] = deque()
        self._ended = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._arrived = asyncio.Event()
        self._hungry = asyncio.Event()

    def put(
        self,
        mode: str,
        data: Any,
        node: str | None,
        run_id: str,
        checkpoint_id: str | None,
        step: int,
        task_id: str | None,
        path: str,
    ) -> None:
        """Add an event, and wake a consumer that waits in an event loop."""
        self.events.append(StreamEvent(mode, data, node, run_id, checkpoint_id, step, task_id, path))
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._arrived.set)

    def attach(self) -> None:
        """Wake a consumer in the running loop from now on."""
        self._loop = asyncio.get_running_loop()

    def end(self) -> None:
        """No event comes any more."""
        self._ended = True
        self._arrived.set()

    async def wait(self) -> bool:
        """The consumer wants an event. True when there is one, False when the last one was taken."""
        self._hungry.set()
        while not self.events and not self._ended:
            self._arrived.clear()
            await self._arrived.wait()
        self._hungry.clear()
        return bool(self.events)

    async def taken(self) -> None:
        """The run waits here until the consumer has taken every event and wants another."""
        while self.events or not self._hungry.is_set():
            await self._hungry.wait()
            await asyncio.sleep(0)
