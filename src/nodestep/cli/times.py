"""Instants, told: how long ago for a person, to the second for an account, in full for a program. All are UTC."""

from __future__ import annotations

from datetime import datetime


def age(at: datetime, now_ms: int) -> str:
    """How long ago, in the largest unit that fits; by the store's clock."""
    seconds = now_ms / 1000 - at.timestamp()
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"


def to_the_second(at: datetime) -> str:
    """As in an account: `2026-01-31 08:15:09`."""
    return f"{at:%Y-%m-%d %H:%M:%S}"


def iso(at: datetime | None) -> str | None:
    """For a program."""
    return None if at is None else at.isoformat()
