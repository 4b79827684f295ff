"""Group commit: threads that want to write at the same time share one transaction, without a thread of its own.

While one group is executed, those who come gather in the next. Its first member leads it: it waits for the lead, and then
executes the jobs of all. Alone, a caller pays two short locks. Every lock is held by a `with`, so none stays taken where a
caller is interrupted. Knows nothing of what it executes.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Job(Protocol):
    """What can be executed. `done` is set once it is durable; `error` is what its execution raised."""

    done: bool
    error: Exception | None


J = TypeVar("J", bound=Job)


class _Group(Generic[J]):
    """Jobs that are executed together. Who has the `turn` leads the group, or finds it `begun` by another."""

    __slots__ = ("begun", "jobs", "turn")

    def __init__(self) -> None:
        self.jobs: list[J] = []
        self.turn = threading.Lock()
        self.begun = False


class GroupCommit(Generic[J]):
    """`execute` gets one or more jobs and never runs in two threads at once. What it raises, everyone gets whose job
    was in that list. `lead` keeps every job waiting for whoever holds it."""

    def __init__(self, execute: Callable[[list[J]], None]) -> None:
        self._execute = execute
        self.lead = threading.Lock()
        self._gathering: _Group[J] = _Group()

    def submit(self, job: J) -> None:
        """Return when the job was executed, or raise what its execution raised. A job that an interrupted leader left
        undone, and one that came too late for its group, gather again."""
        while not job.done:
            group = self._gathering
            group.jobs.append(job)
            try:
                with group.turn:
                    if not group.begun:
                        with self.lead:
                            self._gathering = _Group()
                            group.begun = True
                            self._execute_all(list(group.jobs))
            except BaseException:
                if not group.begun:
                    group.jobs.remove(job)
                raise
            if job.error is not None:
                raise copy.copy(job.error) from job.error.__cause__

    def _execute_all(self, jobs: list[J]) -> None:
        try:
            self._execute(jobs)
        except Exception as error:
            for job in jobs:
                job.error = error
            raise
