"""What a store reads the time from: a wall clock for people, and a lease clock that nobody can set.

No order and no exclusion depends on the wall clock. The lease clock counts from the boot of the host, so it is
shared by all processes of one host and starts again with the next boot.
"""

from __future__ import annotations

import time
from typing import Final, Protocol


class Clock(Protocol):
    """Two readings of the time, both in milliseconds."""

    def wall_ms(self) -> int:
        """Unix milliseconds, only for telling people when something happened."""

    def lease_ms(self) -> int:
        """Milliseconds since some moment of this boot; they only go forward."""


def _namespace_offset_ns() -> int:
    """How far the time namespace of this process (Linux) shifts its monotonic clock against the host's."""
    try:
        with open("/proc/self/timens_offsets", encoding="utf-8") as offsets:
            for line in offsets:
                name, seconds, nanoseconds = line.split()
                if name == "monotonic":
                    return int(seconds) * 1_000_000_000 + int(nanoseconds)
    except (OSError, ValueError):
        pass
    return 0


class SystemClock:
    """The clocks of the operating system."""

    def __init__(self) -> None:
        self._offset_ns = _namespace_offset_ns()

    def wall_ms(self) -> int:
        """Unix milliseconds."""
        return time.time_ns() // 1_000_000

    def lease_ms(self) -> int:
        """Milliseconds since the host started, its sleep left out."""
        return (time.monotonic_ns() - self._offset_ns) // 1_000_000


SYSTEM_CLOCK: Final = SystemClock()
