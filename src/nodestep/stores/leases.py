"""Who holds a branch, and for how long: leases as rows tell them, by a clock that nobody can set."""

from __future__ import annotations

from msgspec import Struct

from .branches import BranchRow
from .clock import Clock
from .owner import Owner, known_dead
from .rows import damaged


class Leases(Struct, frozen=True):
    """Who takes leases, and by which clock."""

    owner: Owner
    stored_owner: str
    clock: Clock

    @classmethod
    def of(cls, owner: Owner, clock: Clock) -> Leases:
        """The leases that this owner takes."""
        return cls(owner, owner.to_json(), clock)

    def end_ms(self) -> int:
        """When a lease ends that is taken or renewed now."""
        return self.clock.lease_ms() + self.owner.lease_ms

    def live(self, branch: BranchRow) -> bool:
        """Whether somebody holds the branch right now. A lease that would last longer than its owner's do is from before
        the clock began anew."""
        if not branch.running or branch.owner is None:
            return False
        try:
            owner = Owner.from_json(branch.owner)
        except ValueError:
            raise damaged(f"the lease of branch {branch.branch_id!r} of thread {branch.thread_id!r}") from None
        left_ms = branch.lease_until_ms - self.clock.lease_ms()
        return 0 < left_ms <= owner.lease_ms and not known_dead(owner, self.owner)
