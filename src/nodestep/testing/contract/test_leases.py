"""Leases: held by renewing, free when they end, by a clock that only goes forward."""

from __future__ import annotations

from ...stores.base import StateStore, Status
from ..writes import (
    ManualClock,
    begin,
    done,
    go_on,
    holding,
    refused,
    seen,
    unchanged,
    write,
)

LEASE_MS = 30_000


def test_a_lease_lasts_thirty_seconds(store: StateStore, clock: ManualClock) -> None:
    begin(store)
    assert store.lease_s == LEASE_MS / 1000
    clock.forward(LEASE_MS - 1)
    assert seen(store).head.live
    clock.forward(1)
    assert not seen(store).head.live


def test_a_branch_whose_lease_ended_reads_as_cut_off(store: StateStore, clock: ManualClock) -> None:
    begin(store)
    clock.forward(LEASE_MS)
    head = seen(store).head
    assert (head.status, head.live) == (Status.RUNNING, False)


def test_a_branch_is_taken_over_when_its_lease_ends(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    clock.forward(LEASE_MS - 1)
    refused(store, write(unchanged(held)))
    clock.forward(1)
    taken = done(store, write(unchanged(held)))
    assert taken.epoch == held.epoch + 1
    assert seen(store).head.live


def test_the_owner_whose_branch_was_taken_over_writes_nothing_more(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    clock.forward(LEASE_MS)
    taken = done(store, write(unchanged(held)))
    for status in (Status.RUNNING, Status.COMPLETED):
        refused(store, write(holding(held), status))
    assert store.renew([(held.no, held.epoch)]) == [False]
    assert go_on(store, taken).sequence == 3


def test_an_owner_that_nobody_took_over_goes_on_after_its_lease_ended(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    clock.forward(LEASE_MS * 2)
    assert go_on(store, held).sequence == 2


def test_an_edit_of_a_branch_that_was_cut_off_fences_its_old_owner(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    clock.forward(LEASE_MS)
    edited = done(store, write(unchanged(held), Status.FAILED))
    assert edited.epoch == held.epoch + 1
    refused(store, write(holding(held)))
    refused(store, write(holding(edited)))


def test_renewing_extends_a_lease_from_now(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    for _ in range(3):
        clock.forward(LEASE_MS - 1)
        assert store.renew([(held.no, held.epoch)]) == [True]
    assert seen(store).head.live
    clock.forward(LEASE_MS)
    assert not seen(store).head.live


def test_writing_does_not_renew_a_lease(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    clock.forward(LEASE_MS - 1)
    go_on(store, held)
    clock.forward(1)
    assert not seen(store).head.live


def test_renewing_answers_for_each_lease(store: StateStore) -> None:
    held, other = begin(store, "a"), begin(store, "b")
    rested = begin(store, "c", Status.READY)
    asked = [(held.no, held.epoch), (other.no, other.epoch + 1), (rested.no, rested.epoch), (99, 1)]
    assert store.renew(asked) == [True, False, False, False]
    assert store.renew([]) == []


def test_a_lease_that_ended_and_that_nobody_took_can_be_renewed(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    clock.forward(LEASE_MS)
    assert store.renew([(held.no, held.epoch)]) == [True]
    assert seen(store).head.live


def test_a_lease_from_before_the_clock_began_anew_is_over(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    clock.lease = 1_000
    assert not seen(store).head.live
    done(store, write(unchanged(held)))


def test_the_wall_clock_has_no_say_in_leases(store: StateStore, clock: ManualClock) -> None:
    begin(store)
    clock.wall += 10 * LEASE_MS
    assert seen(store).head.live
    clock.wall -= 1_000 * LEASE_MS
    clock.lease += LEASE_MS
    assert not seen(store).head.live
