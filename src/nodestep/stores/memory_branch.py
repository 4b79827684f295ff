"""A branch in memory: its own records and snapshots, and through its parents the history that they share.

Knows no threads, no locks and no clock.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from .answers import KeptAnswer
from .base import Head, ListedBranch, Receipt, Record, Status
from .pruning import Cut
from .questions import KeptQuestion


class Branch(Struct, eq=False):
    """A branch and its own records; those up to `fork_sequence` are found in its parent, and those up to `pruned` are
    gone. `changed_at_ms` is when it was last written to other than by its owner going on."""

    no: int
    thread_id: str
    branch_id: str
    graph: str
    created_at_ms: int
    parent: Branch | None = None
    fork_sequence: int = 0
    pruned: int = 0
    status: Status = Status.READY
    epoch: int = 0
    lease_until_ms: int = 0
    changed_at_ms: int = 0
    sequence: int = 0
    """The number of the last record."""
    records: list[Record] = field(default_factory=list)
    snapshots: list[tuple[int, bytes]] = field(default_factory=list)
    questions: dict[str, KeptQuestion] = field(default_factory=dict)
    answers: list[tuple[int, KeptAnswer]] = field(default_factory=list)

    @property
    def before(self) -> int:
        """The number before the first of the records held here."""
        return max(self.fork_sequence, self.pruned)

    def append(self, at_ms: int, body: bytes, snapshot: bytes | None, pause: int | None = None) -> Receipt:
        """Add the next record, and the snapshot that stands for it."""
        self.sequence = sequence = self.sequence + 1
        self.records.append(Record(self.no, sequence, at_ms, body, pause))
        if snapshot is not None:
            self.snapshots.append((sequence, snapshot))
        return Receipt(self.no, self.epoch, sequence, at_ms, pause)

    def lineage(self, last: int) -> Iterator[tuple[Branch, int]]:
        """This branch and its parents, youngest first, each with the last sequence that counts in it."""
        branch: Branch | None = self
        while branch is not None:
            yield branch, last
            last = min(last, branch.fork_sequence)
            branch = branch.parent

    def history(self, after: int, last: int) -> tuple[Record, ...]:
        """The records from `after + 1` to `last`, oldest first, parents' included."""
        parts = [
            branch.records[max(after - branch.before, 0) : end - branch.before]
            for branch, end in self.lineage(last)
            if end > branch.before
        ]
        return tuple(record for part in reversed(parts) for record in part)

    def newest_snapshot(self, last: int) -> tuple[int, bytes | None]:
        """The last one up to `last`, with the sequence it stands for."""
        for branch, end in self.lineage(last):
            for sequence, body in reversed(branch.snapshots):
                if sequence <= end:
                    return sequence, body
        return 0, None

    def pruned_upto(self, last: int) -> int:
        """The last record up to `last` that is gone, 0 where all are there. What this branch pruned, it no longer shows
        of its parents either; a parent counts with records of its own."""
        gone = [min(self.pruned, last)]
        gone += [min(branch.pruned, end) for branch, end in self.lineage(last) if end > branch.fork_sequence]
        return max(gone)

    def is_readable(self, sequence: int) -> bool:
        """Whether the branch has a record of that number, not pruned or with a snapshot."""
        if not 1 <= sequence <= self.sequence:
            return False
        return self.pruned_upto(sequence) < sequence or self.newest_snapshot(sequence)[0] == sequence

    def leaves(self, other: Branch) -> int | None:
        """The own record of another branch at which this one leaves it, through however many forks."""
        for branch, end in self.lineage(self.sequence):
            if branch is other is not self and end > branch.fork_sequence:
                return end
        return None

    def prune(self, cut: Cut, needed: set[int]) -> bool:
        """Begin where the cut says, if there is a snapshot for every record that is needed before."""
        held = dict(self.snapshots)
        if not needed <= held.keys() | cut.snapshots.keys():
            return False
        kept = {sequence: body for sequence, body in cut.snapshots.items() if sequence > self.fork_sequence}
        kept |= {sequence: body for sequence, body in held.items() if sequence >= cut.first or sequence in needed}
        self.records = self.records[cut.first - 1 - self.before :]
        self.snapshots = sorted(kept.items())
        self.pruned = cut.first - 1
        return True

    def head(self, live: bool, updated_at_ms: int, status: Status | None = None) -> Head:
        """The branch as readers get it."""
        return Head(
            self.no,
            self.thread_id,
            self.branch_id,
            self.graph,
            self.status if status is None else status,
            self.epoch,
            self.sequence,
            live,
            self.created_at_ms,
            updated_at_ms,
        )

    def listed(self, live: bool) -> ListedBranch:
        """The same in a list of branches."""
        head = self.head(live, self.changed_at_ms)
        first = self.pruned_upto(self.sequence) + 1
        if self.parent is None:
            return ListedBranch(head, None, None, None, first)
        return ListedBranch(head, self.parent.branch_id, self.parent.no, self.fork_sequence, first)
