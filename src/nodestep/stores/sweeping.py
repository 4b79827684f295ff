"""Deleting and pruning: what is gone for readers at once, in one small transaction, and the space that is then given back
in steps.

What is still to be freed stands in the table `sweeps`, so that it is found again when a process dies in between.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from .base import Head
from .branch_listing import branches_of
from .branches import BranchRow
from .connection import Connection
from .leases import Leases
from .lineage import lineage
from .pruning import Cut
from .queries import Queries
from .reading import Reader
from .rows import LAST_SEQUENCE, Row, body_checksum, checksum, damaged, row_id

STEP_ROWS: Final = 500
STEP_BYTES: Final = 4 << 20
"""What one step frees at most."""


class Sweep(Struct, frozen=True):
    """What is to be freed of one branch: what comes before the sequence `before`, save the snapshots at `kept`; without
    `before` everything."""

    branch_no: int
    before: int | None = None
    kept: tuple[int, ...] = ()

    def columns(self) -> tuple[int, int | None, str, int]:
        """The row as it is stored."""
        kept = json.dumps(self.kept, separators=(",", ":"))
        return self.branch_no, self.before, kept, checksum(self.branch_no, self.before, kept)

    @classmethod
    def of(cls, row: Row) -> Sweep:
        """The value of a row of `sweeps`."""
        no, before, kept, stored_checksum = row
        if checksum(no, before, kept) != stored_checksum:
            raise damaged(f"what is to be freed of branch number {no!r}")
        return cls(no, before, tuple(json.loads(kept)))

    @property
    def end(self) -> int:
        """The first sequence that stays, of any there can be."""
        return LAST_SEQUENCE + 1 if self.before is None else self.before

    def gaps(self) -> Iterator[tuple[int, int]]:
        """The ranges of ids between the snapshots that are kept."""
        for low, high in pairwise((-1, *sorted(self.kept), self.end)):
            if low + 1 < high:
                yield row_id(self.branch_no, low + 1), row_id(self.branch_no, high - 1)


def delete(connection: Connection, queries: Queries, leases: Leases, thread_id: str) -> tuple[Head, ...]:
    """Take a thread out of sight, unless one of its branches is live. Returns the branches that were there."""
    rows = branches_of(connection, queries, thread_id)
    heads = tuple(row.head(leases.live(row)) for row in rows)
    if not any(head.live for head in heads):
        for row in rows:
            connection.change(queries.drop_branch, (row.no,))
            connection.change(queries.add_sweep, Sweep(row.no).columns())
    return heads


def prune(connection: Connection, queries: Queries, no: int, cut: Cut) -> bool:
    """Let a branch begin where the cut says; False, with nothing done, where a fork would lose its footing."""
    branch = Reader(connection, queries).branch_by_no(no)
    if branch is None or cut.first <= max(branch.pruned_sequence, branch.fork_sequence) + 1:
        return True
    cut.check_end(branch.sequence)
    kept = {sequence for sequence in cut.snapshots if sequence > branch.fork_sequence}
    needed = {point for point in _left_at(branches_of(connection, queries, branch.thread_id), no) if point < cut.first}
    held = {sequence for sequence in kept | needed if connection.rows(queries.has_snapshot, (row_id(no, sequence),))}
    if not needed <= kept | held:
        return False
    for sequence in kept - held:
        id, body = row_id(no, sequence), cut.snapshots[sequence]
        connection.change(queries.add_snapshot, (id, body_checksum(body, id), body))
    pruned = branch.pruned(cut.first - 1)
    connection.change(queries.change_pruned, (no, pruned.pruned_sequence, pruned.checksum))
    connection.change(queries.add_sweep, Sweep(no, cut.first, tuple(sorted(kept | needed))).columns())
    return True


def _left_at(rows: Sequence[BranchRow], no: int) -> set[int]:
    """The own records of a branch at which others of the thread leave it, through however many forks."""
    by_no = {row.no: row for row in rows}
    parts = (part for row in rows if row.no != no for part in lineage(row, row.sequence, by_no.get))
    return {part.last for part in parts if part.no == no and part.first <= part.last}


class Sweeping:
    """Frees what stands in `sweeps`, one step after another; each is a transaction that the caller makes."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._from_no = 0

    def step(self, connection: Connection) -> bool:
        """Free some rows; says whether there may be more to free."""
        room = _Room()
        while not room.full:
            rows = connection.rows(self._queries.next_sweep, (self._from_no,))
            if not rows:
                return False
            sweep = Sweep.of(rows[0])
            self._from_no = sweep.branch_no
            self._free(connection, sweep, room)
            if not room.full:
                connection.change(self._queries.end_sweep, (sweep.branch_no, sweep.columns()[-1]))
                self._from_no += 1
                room.rows -= 1
        return True

    def _free(self, connection: Connection, sweep: Sweep, room: _Room) -> None:
        """Free what is to be freed of a branch, as far as there is room."""
        for select, delete, scope in self._parts(sweep):
            while not room.full and (rows := connection.rows(select, (*scope, room.rows))):
                connection.change(delete, (scope[0], room.take(rows)))

    def _parts(self, sweep: Sweep) -> Iterator[tuple[str, str, tuple[int, ...]]]:
        """The queries that find the next rows and that free them, and within what."""
        named = self._queries
        whole = row_id(sweep.branch_no, 0), row_id(sweep.branch_no, sweep.end - 1)
        yield named.records_to_free, named.free_records, whole
        for gap in sweep.gaps():
            yield named.snapshots_to_free, named.free_snapshots, gap
        if sweep.before is None:
            yield named.questions_to_free, named.free_questions, (sweep.branch_no,)
            yield named.answers_to_free, named.free_answers, (sweep.branch_no,)


class _Room:
    """What one step may still free. Its last row may be larger than that."""

    def __init__(self) -> None:
        self.rows = STEP_ROWS
        self._bytes = STEP_BYTES

    @property
    def full(self) -> bool:
        return self.rows <= 0 or self._bytes <= 0

    def take(self, rows: list[Row]) -> int | str:
        """The key of the last of these rows, each a key and a size, that there is room for."""
        end: int | str = rows[0][0]
        for key, size in rows:
            if self.full:
                break
            end = key
            self.rows -= 1
            self._bytes -= size
        return end
