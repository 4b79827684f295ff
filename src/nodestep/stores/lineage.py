"""The lineage of a branch: which part of its history each of its parents gives, and how much of that was pruned.

A fork holds no copy of what it shares: its records begin after its fork point, and those before are its parent's.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from .branches import BranchRow
from .rows import damaged


class Part(Struct, frozen=True):
    """What one branch of a lineage gives to it: the records from `first` to `last`, of which those up to `pruned` are
    gone."""

    no: int
    first: int
    last: int
    pruned: int


def lineage(branch: BranchRow, last: int, find: Callable[[int], BranchRow | None]) -> list[Part]:
    """The parts of the branch's history up to `last`, youngest first."""
    parts = [Part(branch.no, branch.fork_sequence + 1, last, branch.pruned_sequence)]
    child = branch
    while child.parent_no is not None:
        last = min(last, child.fork_sequence)
        parent = find(child.parent_no)
        if parent is None or parent.no >= child.no:
            raise damaged(branch.history)
        child = parent
        parts.append(Part(child.no, child.fork_sequence + 1, last, child.pruned_sequence))
    return parts


def pruned_upto(parts: list[Part]) -> int:
    """The last record that is gone, 0 where all are there. What the youngest pruned, it no longer shows of its parents
    either; a parent counts with records of its own."""
    youngest, *parents = parts
    gone = [min(youngest.pruned, youngest.last)]
    gone += [min(part.pruned, part.last) for part in parents if part.first <= part.last]
    return max(gone)
