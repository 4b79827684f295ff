"""What a store knows of rows that it read or wrote before: another may have changed them meanwhile, and is never written
over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from nodestep import StoreCorruptedError
from nodestep.stores.base import AuditRow, Head, Holding, New, Refused, StateStore, Status
from nodestep.stores.sqlite import SQLiteStateStore
from nodestep.stores.sqlite_open import connect
from tests.stores.test_sqlite_costs import steps_of
from tests.stores.writing import (
    StillClock,
    begin,
    bodies,
    done,
    go_on,
    holding,
    one,
    pause,
    question,
    refused,
    seen,
    unchanged,
    write,
)


@contextmanager
def two_stores(path: Path, clock: StillClock) -> Iterator[tuple[SQLiteStateStore, SQLiteStateStore]]:
    """Two stores on one file: the first knows its rows, and the second changes them."""
    with SQLiteStateStore(path, clock=clock) as store, SQLiteStateStore(path, clock=clock) as other:
        yield store, other


def known(store: StateStore, thread: str = "t") -> Head:
    return seen(store, thread).head


CHANGES: dict[str, Callable[[StateStore, Head], object]] = {
    "claimed": lambda other, head: done(other, write(unchanged(head))),
    "edited": lambda other, head: done(other, write(unchanged(head), Status.INTERRUPTED)),
    "deleted": lambda other, _: other.delete_rows("t"),
    "made anew": lambda other, _: (other.delete_rows("t"), pause(other)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_claim_of_a_branch_that_another_changed_meanwhile_is_refused(path: Path, clock: StillClock, change: str):
    with two_stores(path, clock) as (store, other):
        head = known(store) if pause(store) else None
        assert head is not None
        CHANGES[change](other, head)
        before = other.read("t", "main")
        refused(store, write(unchanged(head), closes=("ask:ok",)))
        assert other.read("t", "main") == before


def test_a_thread_that_another_made_meanwhile_is_not_made_twice(path: Path, clock: StillClock):
    with two_stores(path, clock) as (store, other):
        assert store.read("t", "main") is None
        made = begin(other, record=b"other")
        answer = refused(store, write(New("Refund"), record=b"own"))
        assert answer.head is not None
        assert answer.head.no == made.no
        assert begin(store, "next").no == made.no + 1


def test_a_branch_that_was_taken_over_is_not_paused_by_its_old_owner(path: Path, clock: StillClock):
    with two_stores(path, clock) as (store, other):
        held = go_on(store, begin(store))
        clock.forward(31_000)
        done(other, write(unchanged(known(other))))
        refused(store, write(holding(held), Status.INTERRUPTED, opens=(question(),)))
        assert seen(other).questions == ()


def test_an_old_owner_that_asks_what_the_new_one_asks_already_is_refused(path: Path, clock: StillClock):
    with two_stores(path, clock) as (store, other):
        held = go_on(store, begin(store))
        clock.forward(31_000)
        taken = done(other, write(unchanged(known(other))))
        done(other, write(holding(taken), Status.INTERRUPTED, opens=(question(),)))
        asked = seen(other).questions
        refused(store, write(holding(held), Status.INTERRUPTED, opens=(question(),)))
        assert seen(other).questions == asked != ()


def test_a_record_that_another_appended_under_the_same_lease_is_kept(path: Path, clock: StillClock):
    with two_stores(path, clock) as (store, other):
        held = begin(store, record=b"1")
        go_on(other, held, record=b"2")
        refused(store, write(holding(held), Status.COMPLETED, record=b"own"))
        assert bodies(seen(other)) == [b"1", b"2"]


def test_an_owner_whose_branch_was_pruned_meanwhile_goes_on_with_what_is_left(path: Path, clock: StillClock):
    with two_stores(path, clock) as (store, other):
        held = go_on(store, go_on(store, begin(store)), record=b"3")
        assert other.prune_rows(held.no, 3, [(2, b"state")])
        go_on(store, held, Status.COMPLETED, record=b"4")
        assert bodies(seen(other)) == [b"3", b"4"]


def test_a_lease_that_was_renewed_meanwhile_is_not_cut_short(store: StateStore, clock: StillClock):
    held = begin(store)
    clock.forward(20_000)
    assert store.renew([(held.no, held.epoch)]) == [True]
    done(store, write(holding(held), audits=(AuditRow("ask:ok", 1, "hook"),)))
    clock.forward(20_000)
    assert known(store).live


def test_numbers_are_given_once_by_stores_that_take_turns(path: Path, clock: StillClock):
    with two_stores(path, clock) as (store, other):
        asked = [pause(each, thread=f"t{number}") for number, each in enumerate((store, other) * 4)]
        assert [receipt.no for receipt in asked] == list(range(1, 9))
        assert [receipt.pause for receipt in asked] == list(range(1, 9))


@pytest.mark.parametrize("change", ["store_id = 'another'", "branch_no = 7", "pause = 7", "answer = 7", "checksum = 7"])
def test_counters_that_were_damaged_since_they_were_known_number_nothing(path: Path, clock: StillClock, change: str):
    with SQLiteStateStore(path, clock=clock) as store:
        pause(store)
        with closing(connect(str(path), busy_s=1)) as raw:
            raw.execute(f"UPDATE counters SET {change}")
        with pytest.raises(StoreCorruptedError):
            begin(store, "next")
        assert store.read("next", "main") is None


def test_a_list_with_one_write_that_came_too_late_still_carries_out_the_others(path: Path, clock: StillClock):
    with two_stores(path, clock) as (store, other):
        held, beside = begin(store), begin(store, "beside")
        pause(store, thread="paused")
        head = known(store, "paused")
        done(other, write(unchanged(head), thread="paused"))
        late = write(unchanged(head), thread="paused")
        answers = store.commit([write(holding(held)), late, write(holding(beside), Status.COMPLETED, "beside")])
        assert [isinstance(answer, Refused) for answer in answers] == [False, True, False]
        assert (known(other).sequence, known(other, "beside").status) == (2, Status.COMPLETED)
        assert one(store, write(Holding(held.no, held.epoch, 2), Status.COMPLETED)) not in (None, answers[1])


class StoppedClock(StillClock):
    """Raises once it is stopped."""

    stopped = False

    def lease_ms(self) -> int:
        if self.stopped:
            raise OSError("stopped")
        return super().lease_ms()


def test_what_was_rolled_back_is_not_taken_for_stored(path: Path):
    clock = StoppedClock()
    with SQLiteStateStore(path, clock=clock) as store:
        held = begin(store, record=b"1")
        clock.stopped = True
        audited = write(holding(held), audits=(AuditRow("ask:ok", 1, "hook"),))
        with pytest.raises(OSError, match="stopped"):
            store.commit([audited, write(New("Refund"), thread="next")])
        clock.stopped = False
        refused(store, write(Holding(held.no, held.epoch, 2), record=b"3"))
        go_on(store, held, record=b"2")
        assert bodies(seen(store)) == [b"1", b"2"]
        assert begin(store, "next").no == held.no + 1


def test_a_claim_of_what_was_just_read_does_not_read_it_again(path: Path, clock: StillClock):
    with two_stores(path, clock) as (store, other):
        assert cost_of_claim(store, store, "read by itself") < cost_of_claim(other, store, "read by another")


def cost_of_claim(reader: StateStore, writer: SQLiteStateStore, thread: str) -> int:
    claims = []
    for name in (thread, f"{thread}, counted"):
        pause(reader, thread=name)
        claims.append(write(unchanged(known(reader, name)), thread=name))
    each = iter(claims)
    return steps_of(writer, lambda: done(writer, next(each)))


def test_a_read_waits_for_nobody_who_writes(path: Path):
    with SQLiteStateStore(path) as store:
        begin(store, record=b"1")
        with store._group.lead:
            assert bodies(seen(store)) == [b"1"]
