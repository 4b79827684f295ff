"""What the tests of the stores share with the contract of stores: a clock that stands still, and writes said in one line."""

from __future__ import annotations

from nodestep.testing.clock import ManualClock as StillClock
from nodestep.testing.writes import (
    begin,
    bodies,
    done,
    fork,
    go_on,
    holding,
    one,
    pause,
    question,
    refused,
    seen,
    unchanged,
    write,
)

__all__ = [
    "StillClock",
    "begin",
    "bodies",
    "done",
    "fork",
    "go_on",
    "holding",
    "one",
    "pause",
    "question",
    "refused",
    "seen",
    "unchanged",
    "write",
]
