"""What a tool may ask of the run that calls it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, ParamSpec, Protocol, TypeVar

from ..model.json import Json
from ..model.subgraph import InnerGraph

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


class ToolContext(Protocol):
    """What a tool may ask of its run; a tool declares it by annotating a parameter with this type, and no model ever sees
    that parameter. Everything here belongs to this one call."""

    @property
    def context(self) -> Any:
        """What the caller passed as `context=`. It is never stored. Raises ContextNotProvidedError without one."""

    @property
    def state(self) -> Any:
        """The state of the graph as its nodes receive it: a copy, which nothing writes back."""

    @property
    def thread_id(self) -> str:
        """The thread; made up where the run has no store."""

    @property
    def run_id(self) -> str:
        """The id of this run; a resume is another one."""

    @property
    def tool_call_id(self) -> str:
        """The id that the model gave the call."""

    @property
    def cache(self) -> MutableMapping[str, Json]:
        """A JSON dict that belongs to this call and survives its pauses, failures and restarts."""

    @property
    def idempotency_key(self) -> str:
        """The same text on every attempt of this call, and different for every other call, task, branch and thread."""

    def emit(self, data: Any) -> None:
        """Send `data` to the run's `"custom"` stream; does nothing when nobody listens."""

    def once(self, id: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function and record its result (JSON) before returning it, so that no later attempt calls it again."""

    async def aonce(self, id: str, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The same for an `async def` function."""

    async def call(self, graph: InnerGraph[S], input: Any = None, *, id: str) -> S:
        """Run a graph inside this call, as part of the same thread, and return its final state; as in `NodeContext`."""
