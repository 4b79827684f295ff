"""A node as data, what it may return, and what it may ask of its run.

`flow` makes specs from functions; `runtime` calls them. Nothing here runs one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr

from .json import Json
from .value import Instruction, locked_value

if TYPE_CHECKING:
    from .subgraph import InnerGraph, Subgraph
    from .template import Template

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


@locked_value
class Retry:
    """How a node is tried again. Delays are in seconds; the n-th is `initial_delay_s * backoff**(n-1)`, at most
    `max_delay_s`, and with `jitter` a random part of it. `on` is the exception type, or types, that are tried again; a
    pause, a cancellation and a timeout of the graph never are."""

    max_attempts: int = 3
    initial_delay_s: float = 0.5
    backoff: float = 2.0
    max_delay_s: float = 30.0
    jitter: bool = True
    on: type[Exception] | tuple[type[Exception], ...] = Exception


@locked_value
class Send(Instruction):
    """One task of `node`, with `payload` laid over the state for that task alone."""

    node: Any
    payload: Mapping[str, Any] | None = None


@locked_value
class Command(Instruction):
    """A node's return value that updates the state and chooses where to go. `goto=None` follows the edges, `[]` goes
    nowhere; a target is a node, its name, `END`, or a `Send`."""

    update: Mapping[str, Any] | None = None
    goto: Any = None


class DeclaredInterrupt(Struct, frozen=True):
    """A node that is a question: what is asked, and the field that the answer is written to."""

    key: str
    prompt: Template


class NodeSpec(Struct, frozen=True):
    """A checked node. `call(state, ctx)` calls the function with the parameters it declares, in its order. A node with
    an `inner` graph is data: the runtime runs that graph as a frame, and calls nothing. `interrupt` tells of a node that
    only asks."""

    name: str
    function: Callable[..., Any]
    call: Callable[[Any, Any], Any]
    is_async: bool
    goto: tuple[str, ...] = ()
    timeout_s: float | None = None
    retry: Retry | None = None
    aliases: tuple[str, ...] = ()
    inner: Subgraph | None = None
    interrupt: DeclaredInterrupt | None = None
    is_plain: bool = False
    """Whether running it is no more than calling it."""
    writer: str = ""
    """How errors name who wrote a value."""

    def __post_init__(self) -> None:
        around = self.is_async or self.timeout_s is not None or self.retry is not None or self.inner is not None
        force_setattr(self, "is_plain", not around)
        force_setattr(self, "writer", f"node {self.name!r}")


class NodeContext(Protocol):
    """What a node may ask of its run; a node declares it by annotating a parameter with this type."""

    @property
    def graph_name(self) -> str:
        """The name of the graph."""

    @property
    def node(self) -> str:
        """The name of the node."""

    @property
    def run_id(self) -> str:
        """The id of this call; a resume is another run."""

    @property
    def root_run_id(self) -> str:
        """The run id of the outermost graph."""

    @property
    def thread_id(self) -> str:
        """The thread; made up where the run has no store."""

    @property
    def branch_id(self) -> str:
        """The branch of the thread, `"main"` unless the call said otherwise."""

    @property
    def step(self) -> int:
        """The superstep, counted from 0 in this run."""

    @property
    def task_id(self) -> str:
        """The id of the task: the node's name, `name[1]` for its second task in the superstep, and so on."""

    @property
    def context(self) -> Any:
        """What the caller passed as `context=`. It is never stored. Raises ContextNotProvidedError without one."""

    @property
    def cache(self) -> MutableMapping[str, Json]:
        """A JSON dict that belongs to this task and survives its pauses, failures and restarts."""

    @property
    def idempotency_key(self) -> str:
        """The same text on every attempt of this task, and different for every other task, branch and thread."""

    @property
    def attempt(self) -> int:
        """Which try of the node's `retry` this is, from 1."""

    def emit(self, data: Any) -> None:
        """Send `data` to the run's `"custom"` stream; does nothing when nobody listens."""

    def once(self, id: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function and record its result (JSON) before returning it, so that no later attempt calls it again."""

    async def aonce(self, id: str, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The same for an `async def` function."""

    async def call(self, graph: InnerGraph[S], input: Any = None, *, id: str) -> S:
        """Run a graph inside this task, as part of the same thread, and return its final state.

        A question inside pauses this task; its key is `"<task>/<id>/<inner key>"`. When the task runs again, a graph that
        came to its end is not run again, and one that did not goes on where it stood, with the input it was given first.
        `id` names the call within one run of the node, 1 to 256 ASCII letters, digits, `_`, `.` and `-`. Raises
        GraphConfigError for a graph with a store of its own, GraphExecutionError for an id used twice, GraphChangedError
        where the id belongs to another graph, and what the graph raises.
        """


Writes: TypeAlias = Mapping[str, Any] | Command | Send | Sequence[Send] | str | None
"""What a node may return, besides the state object it received after changing it in place."""
