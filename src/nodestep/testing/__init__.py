"""For tests of programs that use nodestep, and of stores: what nodestep tests itself with."""

from __future__ import annotations

from .clock import ManualClock
from .dying import DyingStore, StoreDiedError, kill_process
from .people import People

__all__ = ["DyingStore", "ManualClock", "People", "StoreDiedError", "kill_process"]
