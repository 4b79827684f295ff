"""From where a branch stood at an event to a branch that stands there."""

from __future__ import annotations

from ..model.event import Forked
from ..model.position import Listing, OpenQuestion, Position
from ..model.status import Status
from .replay import record_to_bytes


def fork_entry(position: Position, origin: str) -> tuple[bytes, Status, list[tuple[OpenQuestion, Listing]]]:
    """The first record of the fork, its status, and the open questions it brings along with the pauses they belong to."""
    questions = [(found, position.listed[key]) for key, found in position.open_questions().items()]
    return record_to_bytes([Forked(origin)]), position.status, questions
