"""Where a branch stands for a call that finds it: by its row, its lease and the deadlines of its questions."""

from __future__ import annotations

from .base import Status


def standing(stored: Status, live: bool, asked: bool, waits: bool) -> Status:
    """`stored` is the status in its row, `live` whether a lease is held; `asked` says whether questions are open, `waits`
    whether one of them has not expired."""
    if live:
        return Status.RUNNING
    if asked and not waits:
        return Status.READY
    return Status.UNFINISHED if stored is Status.RUNNING else stored
