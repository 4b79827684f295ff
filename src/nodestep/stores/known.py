"""What a store read or wrote last: rows that a write need not read again.

Nothing of it is believed: a write that goes by it names what it expects in each of its statements, and is made anew from
what is read where one of them finds another row. Knows no SQL.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .base import Holding, New, Unchanged, Write
from .branches import BranchRow
from .rows import Counters

_MAX_SEEN: Final = 1000
"""How many branches are remembered that were read and not claimed since."""
_UNSEEN: Final = BranchRow.new("", "", "", 0)


class Held(NamedTuple):
    """A branch under a lease of this store: the lease's epoch, the last record, and the row as of its last change, where that
    is known."""

    epoch: int
    sequence: int
    row: BranchRow | None


_UNHELD: Final = Held(0, 0, None)


class Known:
    """`held` are the branches that this store works on, by number; `seen` those that it read last, `None` for one that was
    not there."""

    __slots__ = ("counters", "held", "seen")

    def __init__(self) -> None:
        self.counters: Counters | None = None
        self.held: dict[int, Held] = {}
        self.seen: dict[tuple[str, str], BranchRow | None] = {}

    def see(self, thread_id: str, branch_id: str, branch: BranchRow | None) -> None:
        """Remember what was read of a branch, until a write goes by it."""
        if len(self.seen) >= _MAX_SEEN:
            self.seen.clear()
        self.seen[thread_id, branch_id] = branch

    def expected(self, write: Write, at_ms: int) -> BranchRow | None:
        """The row that a write changes, which is not numbered yet where it makes one; `None` where it is to be read."""
        guard, place = write.guard, (write.thread_id, write.branch_id)
        if isinstance(guard, Holding):
            epoch, sequence, row = self.held.get(guard.no, _UNHELD)
            as_held = row is not None and (epoch, sequence, row[1:3]) == (guard.epoch, guard.sequence, place)
            return row if as_held else None
        row = self.seen.pop(place, _UNSEEN)
        if row is None:
            return BranchRow.new(*place, guard.graph, at_ms) if isinstance(guard, New) else None
        if not isinstance(guard, Unchanged) or row.running:
            return None
        return row if (row.no, row.epoch, row.sequence) == (guard.no, guard.epoch, guard.sequence) else None
