"""A branch as it stands, read once: its row, its state, its questions and what its tasks wait for.

Reads through `people` and the engine, which know the rules; nothing here writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ..engine.answer import open_and_expired
from ..errors import UnknownThreadError
from ..model.event import instant
from ..model.ids import event_id, interrupt_key
from ..model.interrupt import Interrupt
from ..model.json import JsonObject
from ..model.outcome import Asked
from ..model.position import Position
from ..model.status import Status
from ..people.reading import load_branch, standing
from ..people.rows import interrupt_at
from ..stores.base import Head, StateStore


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen, by the store's clock at `now_ms`. `state` is the state as stored."""

    head: Head
    state: JsonObject
    position: Position
    now_ms: int

    @property
    def status(self) -> Status:
        """Where a call would find the branch: one that only waits for what has expired is ready."""
        status = standing(self.head)
        waits_for, expired = open_and_expired(self.position, self.now_ms)
        return Status.READY if expired and not waits_for and not self.head.live else status

    @property
    def created_at(self) -> datetime:
        """When the branch began."""
        return instant(self.head.created_at_ms)

    @property
    def updated_at(self) -> datetime:
        """When the branch's last commit was written."""
        return instant(self.head.updated_at_ms)

    @property
    def last_event(self) -> str:
        """The id of the last event."""
        return event_id(self.head.no, self.head.sequence)

    @property
    def waiting(self) -> tuple[Interrupt, ...]:
        """The questions that can be answered."""
        return self._questions(open_and_expired(self.position, self.now_ms)[0])

    @property
    def expired(self) -> tuple[Interrupt, ...]:
        """The questions whose deadline has passed, and which no run has closed yet."""
        return self._questions(open_and_expired(self.position, self.now_ms)[1])

    @property
    def rejected(self) -> Mapping[str, str]:
        """Why the type of a question refused the answer that it had, by key."""
        return {
            interrupt_key(path, task.id, id): reason
            for path, frame in self.position.frames.items()
            for task in frame.due
            if isinstance(outcome := frame.work_of(task.id).outcome, Asked)
            for id, reason in outcome.rejected.items()
        }

    def _questions(self, keys: tuple[str, ...]) -> tuple[Interrupt, ...]:
        asked = self.position.open_questions()
        found = [interrupt_at(self.head, asked[key], self.position.listed[key]) for key in keys]
        return tuple(sorted(found, key=lambda question: (question.pause or 0, question.key)))


def look_at(store: StateStore, thread_id: str, branch_id: str) -> Look:
    """The branch now. Raises UnknownThreadError."""
    loaded = load_branch(store, thread_id, branch_id)
    return Look(loaded.head, loaded.checkpoint.state, loaded.checkpoint.position, store.now_ms())


def status_of(store: StateStore, thread_id: str, branch_id: str) -> Status:
    """Where a call would find the branch; its state is read only where its questions may have expired. Raises
    UnknownThreadError."""
    head = store.head(thread_id, branch_id)
    if head is None:
        raise UnknownThreadError(thread_id, branch_id)
    status = standing(head)
    waits = status in (Status.INTERRUPTED, Status.FAILED)
    return look_at(store, thread_id, branch_id).status if waits else status
