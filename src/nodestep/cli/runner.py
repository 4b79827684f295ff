"""One thread, taken on by a graph as far as it goes: to its end, to a pause, to a failure.

With a store file it reads and answers through `people`, as every command does; without one it asks the graph, whose store
may be its own. Shows progress, and neither results nor errors.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..engine.replay import record_from_bytes
from ..errors import GraphConfigError, NodestepError, ResumeError
from ..model.event import RunFailed
from ..model.ids import frame_path
from ..model.interrupt import Interrupt
from ..model.json import JsonObject
from ..model.limits import MAX_STATE_BYTES, to_json
from ..model.status import Status
from ..people import inbox
from ..stores.base import Head
from ..stores.sqlite import SQLiteStateStore
from .asking import Answers
from .look import look_at
from .questions import Place
from .safe_text import name
from .screen import Screen

if TYPE_CHECKING:
    from ..graph import Graph


@dataclass(frozen=True, slots=True)
class Completed:
    """The thread came to its end."""

    thread_id: str
    state: JsonObject


@dataclass(frozen=True, slots=True)
class Paused:
    """The thread waits for answers; the state is that before the paused superstep."""

    thread_id: str
    state: JsonObject
    questions: tuple[Interrupt, ...]


class RunFailure(Exception):  # noqa: N818 - carries the error, and is never shown itself
    """A run that had begun ended with an error; `node` is where, as far as it is known."""

    def __init__(self, error: BaseException, node: str | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.node = node


class Runner:
    """A graph, and the thread it works on. `thread_id` is `None` for a run that nothing keeps."""

    def __init__(
        self,
        screen: Screen,
        graph: Graph[Any],
        store: SQLiteStateStore | None,
        thread_id: str | None,
        branch_id: str,
        context: Any,
    ) -> None:
        self._screen = screen
        self._graph = graph
        self._store = store
        self._thread_id = thread_id
        self._branch_id = branch_id
        self._context = context

    def paused(self) -> Paused | None:
        """The pause in which the thread stands before anything runs, unless its deadlines let it go on."""
        head = self._head()
        if head is None or self._store is None or head.live:
            return None
        look = look_at(self._store, head.thread_id, self._branch_id)
        if look.status is not Status.INTERRUPTED:
            return None
        return Paused(head.thread_id, look.state, look.waiting)

    def rejected(self, paused: Paused) -> Mapping[str, str]:
        """Why the type of a question refused the answer that it had, by key; nothing where the store is the graph's own."""
        if self._store is None:
            return {}
        return look_at(self._store, paused.thread_id, self._branch_id).rejected

    def run(self, initial_state: JsonObject | None) -> Completed | Paused:
        """One call of the graph. Raises RunFailure once the run has begun, else what the graph raises."""
        before = self._head()
        try:
            return self._stream(initial_state)
        except (Exception, SystemExit) as error:
            paused = self._paused_elsewhere() if initial_state is None and isinstance(error, ResumeError) else None
            if paused is not None:
                return paused
            if self._has_begun(error, before):
                raise RunFailure(error, self._failed_node()) from error
            raise

    def record(self, place: Place, answers: Answers, by: str | None) -> tuple[str, ...]:
        """Make answers durable; returns the keys that are still open."""
        if self._store is not None:
            return inbox.answer(
                self._store,
                place.thread_id,
                answers.values,
                branch_id=place.branch_id,
                pause=answers.seen,
                by=by,
                source="cli",
            )
        import asyncio

        return asyncio.run(
            self._graph.answer(place.thread_id, answers.values, branch_id=place.branch_id, pause=answers.seen, by=by)
        )

    def _stream(self, initial_state: JsonObject | None) -> Completed | Paused:
        from ..runtime.stream import FinalEventData, InterruptEventData

        events = self._graph.stream(
            initial_state,
            stream_mode="updates",
            thread_id=self._thread_id,
            branch_id=self._branch_id,
            state_store=self._store,
            context=self._context,
        )
        for event in events:
            match event.data:
                case FinalEventData(state, thread_id):
                    return Completed(thread_id, _as_json(state))
                case InterruptEventData(state, thread_id, interrupts):
                    return Paused(thread_id, _as_json(state), tuple(interrupts.values()))
                case _ if event.mode == "updates":
                    self._screen.note(
                        ("  step ", "dim"), f"{event.step}  {name(frame_path(event.path, event.task_id or ''))}"
                    )
        raise AssertionError("unreachable: every stream ends with one terminal event")

    def _paused_elsewhere(self) -> Paused | None:
        """The pause in the graph's own store, for which going on was refused."""
        thread_id = self._thread_id
        if self._store is not None or thread_id is None:
            return None
        import asyncio

        async def look() -> Paused | None:
            page = await self._graph.pending(thread_id, branch_id=self._branch_id, limit=1000)
            if not page.items:
                return None
            return Paused(thread_id, await self._graph.load(thread_id, branch_id=self._branch_id), page.items)

        with contextlib.suppress(GraphConfigError):  # it has no store
            return asyncio.run(look())
        return None

    def _head(self) -> Head | None:
        if self._store is None or self._thread_id is None:
            return None
        return self._store.head(self._thread_id, self._branch_id)

    def _has_begun(self, error: BaseException, before: Head | None) -> bool:
        """Whether the run wrote its claim; without a store file, whether the error is a node's own."""
        if self._store is None:
            return not isinstance(error, NodestepError)
        after = self._head()
        return after is not None and (before is None or after.epoch > before.epoch)

    def _failed_node(self) -> str | None:
        """The node that the last commit of the thread names as the one that failed."""
        head = self._head()
        if head is None or self._store is None:
            return None
        records = self._store.records(head.thread_id, self._branch_id, after=head.sequence - 1)
        facts = [fact for record in records for fact in record_from_bytes(record.body)]
        return next((fact.node for fact in facts if isinstance(fact, RunFailed)), None)


def _as_json(state: Mapping[str, Any]) -> JsonObject:
    own: JsonObject = to_json(state, "the state", max_bytes=MAX_STATE_BYTES)
    return own
