"""Where a branch stands for a call that finds it: by its row, its lease and the deadlines of its questions."""

from __future__ import annotations

from .base import Head, Status


def standing(head: Head, asked: bool, waits: bool) -> Status:
    """`asked` says whether questions are open, `waits` whether one of them has not expired."""
    if head.live:
        return Status.RUNNING
    if asked and not waits:
        return Status.READY
    return Status.UNFINISHED if head.status is Status.RUNNING else head.status
