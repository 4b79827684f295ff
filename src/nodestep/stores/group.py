"""Group commit: threads that want to write at the same time share one transaction, without a thread of its own.

Who comes first leads and executes; who comes meanwhile waits, and all who wait are executed together by the one of
them who leads next. Alone, a caller pays two short locks. (The scheme is LevelDB's.) Knows nothing of what it executes.
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar


class Job(Protocol):
    """What can be executed. `done` is set once it is durable."""

    done: bool


J = TypeVar("J", bound=Job)


class _Seat(Generic[J]):
    """One who waits. `job` is `None` for a caller that wants the lead but has nothing to execute."""

    __slots__ = ("error", "gate", "job", "leads")

    def __init__(self, job: J | None) -> None:
        self.job = job
        self.gate = threading.Lock()
        self.gate.acquire()
        self.leads = False
        self.error: BaseException | None = None

    @property
    def job_done(self) -> bool:
        return self.job is not None and self.job.done


class GroupCommit(Generic[J]):
    """`execute` gets one or more jobs and never runs in two threads at once. What it raises, everyone gets whose job
    was in that list."""

    def __init__(self, execute: Callable[[list[J]], None]) -> None:
        self._execute = execute
        self._mutex = threading.Lock()
        self._leading = False
        self._waiting: deque[_Seat[J]] = deque()

    def submit(self, job: J) -> None:
        """Return when the job was executed, or raise what its execution raised."""
        with self._mutex:
            first = not self._leading
            self._leading = True
            if not first:
                seat = _Seat(job)
                self._waiting.append(seat)
        if first:
            try:
                self._execute([job])
            finally:
                self.pass_on()
        elif self._wait(seat):
            self._lead(seat)
        elif seat.error is not None:
            raise copy.copy(seat.error) from seat.error.__cause__

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every job waiting while the block runs."""
        self.take_lead()
        try:
            yield
        finally:
            self.pass_on()

    def take_lead(self) -> None:
        """Return once nothing is executed, and nothing will be until `pass_on`."""
        with self._mutex:
            first = not self._leading
            self._leading = True
            if first:
                return
            seat: _Seat[J] = _Seat(None)
            self._waiting.append(seat)
        self._wait(seat)
        with self._mutex:
            self._waiting.popleft()

    def pass_on(self) -> None:
        """Give the lead to the one who has waited longest."""
        with self._mutex:
            if not self._waiting:
                self._leading = False
                return
            seat = self._waiting[0]
            seat.leads = True
            seat.gate.release()

    def _wait(self, seat: _Seat[J]) -> bool:
        """Wait until the seat's job was executed by another (False), or it is this caller's turn to lead (True)."""
        try:
            seat.gate.acquire()
        except BaseException:
            self._leave(seat)
            raise
        return seat.leads

    def _leave(self, seat: _Seat[J]) -> None:
        """The caller was interrupted. A job that another already executes cannot be called back."""
        with self._mutex:
            if seat in self._waiting:
                self._waiting.remove(seat)
            if not seat.leads:
                return
        self.pass_on()

    def _lead(self, own: _Seat[J]) -> None:
        """Execute every job that waits, the own one first among them."""
        group: list[_Seat[J]] = []
        jobs: list[J] = []
        try:
            with self._mutex:
                while self._waiting and (job := self._waiting[0].job) is not None:
                    group.append(self._waiting.popleft())
                    jobs.append(job)
            self._execute(jobs)
        except Exception as error:
            for seat in group:
                seat.error = error
            raise
        except BaseException:
            # This caller alone was interrupted: what is not done, the others do themselves.
            with self._mutex:
                if own in self._waiting:
                    self._waiting.remove(own)
                unfinished = [seat for seat in group[1:] if not seat.job_done]
                self._waiting.extendleft(reversed(unfinished))
            group = [seat for seat in group if seat not in unfinished]
            raise
        finally:
            self.pass_on()
            for seat in group[1:]:
                seat.gate.release()
