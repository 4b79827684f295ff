"""What a prune asks of a branch, checked the same way by every store."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Cut(Struct, frozen=True):
    """Where a branch is to begin, and the snapshots that stay of what comes before, by the sequence they stand for."""

    first: int
    snapshots: dict[int, bytes]

    @classmethod
    def of(cls, first: int, snapshots: Iterable[tuple[int, bytes]]) -> Cut:
        """Raises ValueError without a snapshot for the record before the first."""
        kept = {sequence: body for sequence, body in snapshots if sequence < first}
        if first - 1 not in kept:
            raise ValueError(f"a branch that is to begin at {first} needs a snapshot for {first - 1}")
        return cls(first, kept)

    def check_end(self, last: int) -> None:
        """Raises ValueError if not even the last record would stay."""
        if self.first > last:
            raise ValueError(f"a branch keeps its last record, {last}, so it cannot begin at {self.first}")
