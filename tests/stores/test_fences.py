"""Fencing: a branch is written to whoever works on it, and its owner finds its lease gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodestep.stores.base import AuditRow, Fenced, Holding, StateStore, Status
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import (
    StillClock,
    begin,
    bodies,
    done,
    go_on,
    holding,
    pause,
    question,
    refused,
    seen,
    unchanged,
    write,
)

LEASE_MS = 30_000


def test_the_store_numbers_a_fencing_record_itself(store: StateStore):
    held = begin(store, record=b"1")
    go_on(store, go_on(store, held, record=b"2"), record=b"3")
    fenced = done(store, write(Fenced(held.no), Status.CANCELLED, record=b"end"))
    assert fenced.sequence == 4
    assert bodies(seen(store)) == [b"1", b"2", b"3", b"end"]


def test_a_running_owner_finds_out_at_its_next_write(store: StateStore):
    held = begin(store)
    done(store, write(Fenced(held.no), Status.CANCELLED))
    for status in (Status.RUNNING, Status.COMPLETED):
        answer = refused(store, write(holding(held), status))
        assert answer.head is not None
        assert answer.head.status is Status.CANCELLED
    assert seen(store).head.sequence == 2


def test_not_even_an_owner_who_guesses_its_place_writes_on(store: StateStore):
    held = begin(store)
    fenced = done(store, write(Fenced(held.no), Status.CANCELLED))
    refused(store, write(Holding(held.no, held.epoch, fenced.sequence)))
    refused(store, write(holding(fenced)))


def test_the_owner_in_the_same_list_is_refused(store: StateStore):
    held = begin(store)
    _, answer = store.commit([write(Fenced(held.no), Status.CANCELLED), write(holding(held))])
    assert type(answer).__name__ == "Refused"


def test_an_owner_of_another_store_object_finds_out_too(path: Path):
    """The one that holds the branch remembers what it wrote last, and must not trust that alone."""
    with SQLiteStateStore(path) as owner, SQLiteStateStore(path) as other:
        held = go_on(owner, begin(owner))
        done(other, write(Fenced(held.no), Status.CANCELLED))
        answer = refused(owner, write(holding(held)))
        assert answer.head is not None
        assert answer.head.status is Status.CANCELLED


def test_fencing_lets_the_epoch_grow_and_drops_the_lease(store: StateStore):
    held = begin(store)
    fenced = done(store, write(Fenced(held.no), Status.CANCELLED))
    head = seen(store).head
    assert (fenced.epoch, head.epoch, head.live) == (held.epoch + 1, held.epoch + 1, False)
    assert store.renew([(held.no, held.epoch), (fenced.no, fenced.epoch)]) == [False, False]


def test_a_branch_at_rest_is_fenced_as_well(store: StateStore):
    rested = begin(store, status=Status.FAILED)
    fenced = done(store, write(Fenced(rested.no), Status.CANCELLED))
    assert fenced.epoch == rested.epoch + 1
    refused(store, write(unchanged(rested)))


def test_a_branch_that_was_cut_off_is_fenced_as_well(store: StateStore, clock: StillClock):
    held = begin(store)
    clock.forward(LEASE_MS)
    done(store, write(Fenced(held.no), Status.CANCELLED))
    refused(store, write(holding(held)))


def test_a_cancelled_branch_has_no_open_questions(store: StateStore):
    asked = pause(store, "a:x", "b:y")
    pause(store, "a:x", thread="other")
    done(store, write(Fenced(asked.no), Status.CANCELLED))
    assert seen(store).questions == ()
    assert [listed.thread_id for listed in store.questions()] == ["other"]


def test_questions_stay_open_under_any_other_status(store: StateStore):
    asked = pause(store, "a:x", "b:y")
    done(store, write(Fenced(asked.no), Status.FAILED, closes=("a:x",)))
    assert [row.key for row in seen(store).questions] == ["b:y"]


def test_a_fencing_write_may_open_questions_and_keep_decisions(store: StateStore):
    held = begin(store)
    fenced = done(
        store,
        write(Fenced(held.no), Status.INTERRUPTED, opens=(question("a:x"),), audits=(AuditRow("b:y", 1, "api"),)),
    )
    assert [row.pause for row in seen(store).questions] == [fenced.pause]
    assert len(store.audit_rows()) == 1


def test_a_fence_may_take_the_lease_itself(store: StateStore):
    held = begin(store)
    taken = done(store, write(Fenced(held.no)))
    assert seen(store).head.live
    refused(store, write(holding(held)))
    assert go_on(store, taken).sequence == 3


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.CANCELLED])
def test_what_has_ended_is_not_fenced(store: StateStore, status: Status):
    ended = begin(store, status=status)
    assert refused(store, write(Fenced(ended.no), Status.CANCELLED)).head == seen(store).head
    assert seen(store).head.sequence == 1


def test_a_missing_branch_is_refused_with_nothing(store: StateStore):
    begin(store)
    assert refused(store, write(Fenced(99), Status.CANCELLED, thread="nobody")).head is None


def test_another_branch_of_that_name_is_refused(store: StateStore):
    held = begin(store)
    assert refused(store, write(Fenced(held.no + 1), Status.CANCELLED)).head == seen(store).head
    assert seen(store).head.live
