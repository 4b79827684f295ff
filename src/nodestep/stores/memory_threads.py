"""The branches, questions and decisions that a store in memory holds, and what a write makes of them.

Knows no locks and takes the time as it is told: whoever calls holds the store's lock. What may be refused as malformed
was encoded before, so nothing here can fail half-way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from .answers import KeptAnswer
from .base import Append, Fenced, ForkOf, Head, Holding, New, Receipt, Refused, Status, Unchanged, Write
from .clock import Clock
from .memory_branch import Branch
from .prepared import Prepared

Decision: TypeAlias = tuple[int, Branch, KeptAnswer]
"""A decision with its number and its branch."""


class HeldThreads:
    """Every branch by its ids and by its number."""

    def __init__(self, clock: Clock, lease_ms: int) -> None:
        self._clock = clock
        self._lease_ms = lease_ms
        self._threads: dict[str, dict[str, Branch]] = {}
        self._by_no: dict[int, Branch] = {}
        self._asking: dict[int, Branch] = {}
        self._answers: dict[int, tuple[Branch, KeptAnswer]] = {}
        self._last_no = 0
        self._last_pause = 0
        self._last_answer = 0

    def find(self, thread_id: str, branch_id: str) -> Branch | None:
        """The branch of these ids, or `None`."""
        return self._threads.get(thread_id, {}).get(branch_id)

    def by_no(self, no: int) -> Branch | None:
        """The branch with this number, or `None`."""
        return self._by_no.get(no)

    def of_thread(self, thread_id: str) -> list[Branch]:
        """The branches of a thread, oldest first."""
        return list(self._threads.get(thread_id, {}).values())

    def newest_first(self, before: int | None) -> Iterator[Branch]:
        """The branches with smaller numbers, all of them without one."""
        start = self._last_no if before is None else min(before - 1, self._last_no)
        return filter(None, map(self._by_no.get, range(start, 0, -1)))

    def asking(self) -> Iterator[Branch]:
        """The branches with open questions."""
        return iter(self._asking.values())

    def answers(self, after: int) -> Iterator[Decision]:
        """The decisions with greater numbers, oldest first."""
        for number in range(max(after, 0) + 1, self._last_answer + 1):
            if number in self._answers:
                yield number, *self._answers[number]

    def answers_in(self, thread_id: str, after: int) -> Iterator[Decision]:
        """Those of one thread."""
        found = [
            (number, branch, answer)
            for branch in self.of_thread(thread_id)
            for number, answer in branch.answers
            if number > after
        ]
        return iter(sorted(found, key=lambda decision: decision[0]))

    def live(self, branch: Branch) -> bool:
        """Whether somebody holds the branch right now. A lease that would last longer than leases do is from before the
        clock began anew."""
        left_ms = branch.lease_until_ms - self._clock.lease_ms()
        return branch.status is Status.RUNNING and 0 < left_ms <= self._lease_ms

    def head(self, branch: Branch) -> Head:
        """The branch as readers get it."""
        return branch.head(self.live(branch), branch.records[-1].at_ms)

    def renew(self, no: int, epoch: int) -> bool:
        """Extend a lease, if it is still held with this epoch."""
        branch = self._by_no.get(no)
        if branch is None or branch.epoch != epoch or branch.status is not Status.RUNNING:
            return False
        branch.lease_until_ms = self._lease_end_ms()
        return True

    def drop(self, thread_id: str) -> None:
        """Forget a thread."""
        for branch in self._threads.pop(thread_id, {}).values():
            del self._by_no[branch.no]
            self._asking.pop(branch.no, None)
            for number, _ in branch.answers:
                del self._answers[number]

    def append(self, write: Append, at_ms: int) -> Receipt | Refused:
        """Let an owner go on, or refuse it and change nothing."""
        branch = self._by_no.get(write.no)
        if branch is None:
            return Refused(None)
        if branch.sequence != write.sequence or branch.epoch != write.epoch or branch.status is not Status.RUNNING:
            return Refused(self.head(branch))
        return branch.append(at_ms, write.record, write.snapshot)

    def write(self, prepared: Prepared) -> Receipt | Refused:
        """Make one write, or refuse it and change nothing."""
        write, at_ms = prepared.write, prepared.at_ms
        found = self.find(write.thread_id, write.branch_id)
        branch = self._begin(write, at_ms) if found is None else self._admit(write, found)
        if branch is None:
            return Refused(None if found is None else self.head(found))
        branch.changed_at_ms = at_ms
        if not isinstance(write.guard, Holding):
            self._take_over(write, branch)
        branch.status = write.status
        pause = None
        if prepared.opening.needs_number:
            self._last_pause = pause = self._last_pause + 1
        receipt = branch.append(at_ms, write.record, write.snapshot, pause)
        self._ask(prepared, branch, pause)
        for answer in prepared.answers:
            self._last_answer += 1
            self._answers[self._last_answer] = branch, answer
            branch.answers.append((self._last_answer, answer))
        return receipt

    def _begin(self, write: Write, at_ms: int) -> Branch | None:
        """The branch that the write makes, or `None` where its guard asks for one that is there."""
        match write.guard:
            case New(graph):
                return self._new_branch(write, graph, at_ms)
            case ForkOf(parent_no, sequence):
                parent = self._by_no.get(parent_no)
                if parent is None or parent.thread_id != write.thread_id or not parent.is_readable(sequence):
                    return None
                branch = self._new_branch(write, parent.graph, at_ms)
                branch.parent, branch.fork_sequence, branch.sequence = parent, sequence, sequence
                return branch
        return None

    def _admit(self, write: Write, branch: Branch) -> Branch | None:
        """The branch, if the write may change it."""
        match write.guard:
            case New() | ForkOf():
                return None
            case Fenced(no):
                over = branch.status in (Status.COMPLETED, Status.CANCELLED)
                return branch if branch.no == no and not over else None
            case Unchanged(no, epoch, sequence):
                free = not self.live(branch)
            case Holding(no, epoch, sequence):
                free = branch.status is Status.RUNNING
        same = (branch.no, branch.epoch, branch.sequence) == (no, epoch, sequence)
        return branch if free and same else None

    def _new_branch(self, write: Write, graph: str, at_ms: int) -> Branch:
        self._last_no += 1
        branch = Branch(self._last_no, write.thread_id, write.branch_id, graph, at_ms)
        self._threads.setdefault(write.thread_id, {})[write.branch_id] = branch
        self._by_no[branch.no] = branch
        return branch

    def _take_over(self, write: Write, branch: Branch) -> None:
        """A claim gets the next epoch; so does what fences, and an edit after a run that was cut off, to fence that run
        out."""
        if Status.RUNNING in (write.status, branch.status) or isinstance(write.guard, Fenced):
            branch.epoch += 1
        if write.status is Status.RUNNING:
            branch.lease_until_ms = self._lease_end_ms()

    def _ask(self, prepared: Prepared, branch: Branch, pause: int | None) -> None:
        """Close and open questions."""
        write = prepared.write
        if isinstance(write.guard, Fenced) and write.status is Status.CANCELLED:
            branch.questions.clear()
        for key in write.closes:
            branch.questions.pop(key, None)
        for question in prepared.opening.kept(pause, prepared.at_ms):
            branch.questions[question.key] = question
        if branch.questions:
            self._asking[branch.no] = branch
        else:
            self._asking.pop(branch.no, None)

    def _lease_end_ms(self) -> int:
        return self._clock.lease_ms() + self._lease_ms
