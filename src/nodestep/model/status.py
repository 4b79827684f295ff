"""Where a branch stands."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """`RUNNING` is a branch whose run holds a live lease; `UNFINISHED` one whose run was cut off, or a fork of the middle
    of a run; `READY` one whose questions are all answered and which has not gone on yet."""

    RUNNING = "running"
    UNFINISHED = "unfinished"
    INTERRUPTED = "interrupted"
    READY = "ready"
    FAILED = "failed"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
