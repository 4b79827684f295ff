"""What hooks receive and return: frozen values, each a copy of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from ..model.interrupt import Interrupt
from ..model.json import Json
from ..model.value import Instruction, locked_value

if TYPE_CHECKING:
    from ..chat import ChatRequest, ChatResponse


@locked_value
class Replacement(Instruction):
    """What a hook returns to put `value` in the place of what it was shown."""

    value: Any


class Remembering:
    """What a context has for the middleware that it is handed to."""

    __slots__ = ()

    @property
    def memory(self) -> MutableMapping[str, Json]:
        """A JSON dict that this middleware's class keeps in the thread: with the thread's other state, through pauses,
        restarts and forks. What a hook changes in it is recorded with what its task records, and lost with a task that
        pauses or fails; `after_graph` and `on_run_end` only read. Two tasks that change one key in a superstep:
        InvalidUpdateError."""
        read: Callable[[], MutableMapping[str, Json]] = self._memory  # type: ignore[attr-defined]
        return read()


@locked_value
class GraphMiddlewareContext(Remembering):
    """One run. `state` is the state at that moment, as the graph's state type; `resuming` says that the run continues an
    unfinished superstep rather than starting a turn."""

    graph_name: str
    state: Any
    run_id: str
    thread_id: str
    branch_id: str
    root_run_id: str
    resuming: bool
    _memory: Callable[[], MutableMapping[str, Json]] = field(default=dict, repr=False, compare=False)


@locked_value
class NodeMiddlewareContext(Remembering):
    """One task. `state` is what the node receives; `update` is what it wrote, field by field, in `after_node` and `None`
    before."""

    graph_name: str
    node_name: str
    state: Any
    run_id: str
    thread_id: str
    step: int
    task_id: str
    root_run_id: str
    update: Mapping[str, Any] | None = None
    _memory: Callable[[], MutableMapping[str, Json]] = field(default=dict, repr=False, compare=False)


@locked_value
class ModelMiddlewareContext(Remembering):
    """One turn of a model. `model` is the model's name, `request` what it is asked, and `response` what it answered, `None` in
    `before_model`; the rest is that of the node which asks it."""

    model: str
    request: ChatRequest
    response: ChatResponse | None
    graph_name: str
    node_name: str
    state: Any
    run_id: str
    thread_id: str
    step: int
    task_id: str
    root_run_id: str
    _memory: Callable[[], MutableMapping[str, Json]] = field(default=dict, repr=False, compare=False)


@locked_value
class ToolMiddlewareContext(Remembering):
    """One tool call. `value` is its arguments as JSON, checked and with every default filled in, in `before_tool` and
    `on_tool_error`, and its result in `after_tool`; `tool_call_id` is the id that the model gave it, the rest is that of the
    node which runs it."""

    tool_name: str
    value: Any
    tool_call_id: str
    graph_name: str
    node_name: str
    state: Any
    run_id: str
    thread_id: str
    step: int
    task_id: str
    root_run_id: str
    _memory: Callable[[], MutableMapping[str, Json]] = field(default=dict, repr=False, compare=False)


@locked_value
class RunOutcome:
    """How a run ended: `"completed"`, `"paused"` with its open `interrupts` by key, `"failed"` with its `error`, or
    `"cancelled"`."""

    status: Literal["completed", "paused", "failed", "cancelled"]
    interrupts: Mapping[str, Interrupt] = field(default_factory=dict)
    error: BaseException | None = None
