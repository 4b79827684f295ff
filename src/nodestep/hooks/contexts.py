"""What hooks receive and return: frozen values, each a copy of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..model.interrupt import Interrupt


@dataclass(frozen=True, slots=True)
class Replacement:
    """What `before_node`, `after_node` and `on_error` return to put `value` in the place of what they were shown."""

    value: Any


@dataclass(frozen=True, slots=True)
class GraphMiddlewareContext:
    """One run. `state` is the state at that moment, as the graph's state type; `resuming` says that the run continues an
    unfinished superstep rather than starting a turn."""

    graph_name: str
    state: Any
    run_id: str
    thread_id: str
    branch_id: str
    root_run_id: str
    resuming: bool


@dataclass(frozen=True, slots=True)
class NodeMiddlewareContext:
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


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended: `"completed"`, `"paused"` with its open `interrupts` by key, `"failed"` with its `error`, or
    `"cancelled"`."""

    status: Literal["completed", "paused", "failed", "cancelled"]
    interrupts: Mapping[str, Interrupt] = field(default_factory=dict)
    error: BaseException | None = None
