"""A clock that a test sets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ManualClock:
    """The clock of a store, `SQLiteStateStore(path, clock=ManualClock())`: it moves only when a test says so.

    `wall` is what people are told, in Unix milliseconds, and what questions expire by; `lease` is what leases are counted
    by, in milliseconds since some moment.
    """

    wall: int = 1_700_000_000_000
    lease: int = 5_000_000

    def wall_ms(self) -> int:
        """Unix milliseconds."""
        return self.wall

    def lease_ms(self) -> int:
        """Milliseconds since some moment."""
        return self.lease

    def forward(self, ms: int) -> None:
        """Let time pass, by both readings."""
        self.wall += ms
        self.lease += ms
