"""What a run returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Literal, TypeVar

from ..model.interrupt import Interrupt
from ..model.position import NOWHERE, Position
from ..model.schema import StateSchema
from ..model.value import locked_value

S = TypeVar("S")


@locked_value
class GraphResult(Generic[S]):
    """How a run ended.

    `status` is `"completed"` or `"interrupted"`; a paused run shows the state before the paused superstep, and its open
    questions by key in `interrupts`. `step` is the last superstep, counted from 0 in this run. `checkpoint_id` is the id
    of the last event stored, `None` without a store.
    """

    status: Literal["completed", "interrupted"]
    thread_id: str
    step: int
    checkpoint_id: str | None
    interrupts: Mapping[str, Interrupt]
    _schema: StateSchema[S]
    _values: dict[str, Any]
    _position: Position = NOWHERE
    """Where a paused thread stands."""

    def __repr__(self) -> str:
        open_keys = f", interrupts={list(self.interrupts)}" if self.interrupts else ""
        return f"GraphResult(status={self.status!r}, thread_id={self.thread_id!r}, state={self.state!r}{open_keys})"

    @property
    def state(self) -> S:
        """The state as the graph's state type; a copy of your own."""
        return self._schema.result(self._values)

    @property
    def data(self) -> dict[str, Any]:
        """The same as a dict."""
        return self._schema.data(self._values)


@locked_value
class StateSnapshot(Generic[S]):
    """A thread's state at one of its commits; `sequence` is the number of that commit on its branch."""

    value: S
    sequence: int
