"""Who may write: the guards of a write, and the epoch that fences a stale owner out."""

from __future__ import annotations

import pytest

from ...stores.base import Append, Holding, New, Receipt, Refused, StateStore, Status, Unchanged, Write
from ..writes import (
    begin,
    bodies,
    done,
    go_on,
    holding,
    question,
    refused,
    seen,
    unchanged,
    write,
)


def test_a_new_branch_begins_with_record_1_and_epoch_1(store: StateStore) -> None:
    receipt = begin(store, record=b"first")
    head = seen(store).head
    assert (receipt.sequence, receipt.epoch) == (1, 1)
    assert (head.no, head.graph, head.status, head.live) == (receipt.no, "Refund", Status.RUNNING, True)


def test_a_branch_that_starts_without_a_run_has_no_owner(store: StateStore) -> None:
    receipt = begin(store, status=Status.COMPLETED)
    assert receipt.epoch == 0
    assert not seen(store).head.live


def test_a_second_new_branch_of_the_same_name_is_refused_with_the_first(store: StateStore) -> None:
    first = begin(store, graph="Refund")
    answer = refused(store, write(New("Other")))
    assert answer.head == seen(store).head
    assert answer.head.no == first.no
    assert answer.head.graph == "Refund"


def test_two_new_branches_in_one_list_give_one_branch(store: StateStore) -> None:
    first, second = store.commit([write(New("a")), write(New("b"))])
    assert isinstance(first, Receipt)
    assert isinstance(second, Refused)
    assert seen(store).head.graph == "a"


def test_a_branch_is_claimed_as_it_was_read(store: StateStore) -> None:
    rested = begin(store, status=Status.READY)
    claimed = done(store, write(unchanged(rested), record=b"claim"))
    assert (claimed.sequence, claimed.epoch) == (2, rested.epoch + 1)
    assert seen(store).head.live


def test_of_two_claims_of_one_branch_the_second_is_refused(store: StateStore) -> None:
    rested = begin(store, status=Status.READY)
    done(store, write(unchanged(rested)))
    answer = refused(store, write(unchanged(rested)))
    assert answer.head == seen(store).head


def test_two_claims_in_one_list_have_one_winner(store: StateStore) -> None:
    rested = begin(store, status=Status.READY)
    first, second = store.commit([write(unchanged(rested)), write(unchanged(rested))])
    assert isinstance(first, Receipt)
    assert isinstance(second, Refused)


def test_an_edit_keeps_the_epoch_of_a_branch_at_rest(store: StateStore) -> None:
    rested = begin(store, status=Status.INTERRUPTED)
    edited = done(store, write(unchanged(rested), Status.READY, record=b"edit"))
    assert (edited.epoch, edited.sequence) == (rested.epoch, 2)
    assert seen(store).head.status is Status.READY


@pytest.mark.parametrize("status", list(Status))
def test_nobody_else_writes_while_a_lease_is_held(store: StateStore, status: Status) -> None:
    held = begin(store)
    assert refused(store, write(unchanged(held), status)).head == seen(store).head
    assert len(seen(store).records) == 1


def test_the_owner_goes_on_and_keeps_its_lease(store: StateStore) -> None:
    receipt = begin(store, record=b"1")
    for number in (2, 3, 4):
        receipt = go_on(store, receipt, record=b"%d" % number)
        assert (receipt.sequence, receipt.epoch) == (number, 1)
    assert bodies(seen(store)) == [b"1", b"2", b"3", b"4"]
    assert seen(store).head.live


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.RUNNING])
def test_any_status_but_running_drops_the_lease(store: StateStore, status: Status) -> None:
    dropped = go_on(store, begin(store), status)
    head = seen(store).head
    assert (head.status, head.live, head.epoch) == (status, False, 1)
    refused(store, write(holding(dropped)))


def test_an_owner_goes_on_with_a_whole_write_as_well(store: StateStore) -> None:
    held = begin(store)
    whole = Write("t", "main", holding(held), Status.RUNNING, b"whole")
    assert go_on(store, done(store, whole), record=b"next").sequence == 3
    assert bodies(seen(store)) == [b"[]", b"whole", b"next"]


def test_an_owner_of_a_branch_that_is_gone_is_refused_with_nothing(store: StateStore) -> None:
    assert refused(store, Append(7, 1, 1, b"lost")).head is None


def test_an_owner_may_open_questions_and_go_on(store: StateStore) -> None:
    asked = go_on(store, begin(store), opens=(question(),))
    assert seen(store).head.live
    assert go_on(store, asked).sequence == 3


def test_a_stale_owner_is_refused(store: StateStore) -> None:
    first = begin(store)
    rested = go_on(store, first, Status.READY)
    claimed = done(store, write(unchanged(rested)))
    for status in (Status.RUNNING, Status.COMPLETED):
        assert refused(store, write(holding(first), status)).head == seen(store).head
        assert refused(store, write(Holding(first.no, first.epoch, claimed.sequence), status)).head
    assert seen(store).head.sequence == claimed.sequence


def test_a_record_that_would_leave_a_gap_is_refused(store: StateStore) -> None:
    held = begin(store)
    refused(store, write(Holding(held.no, held.epoch, 7)))
    assert go_on(store, held).sequence == 2


def test_a_record_that_was_written_already_is_refused(store: StateStore) -> None:
    held = begin(store)
    go_on(store, held, record=b"kept")
    refused(store, write(holding(held), record=b"again"))
    refused(store, write(holding(held), Status.COMPLETED, record=b"again"))
    assert bodies(seen(store)) == [b"[]", b"kept"]


def test_writes_to_an_unknown_branch_are_refused_with_nothing(store: StateStore) -> None:
    for guard in (Unchanged(1, 1, 1), Holding(1, 1, 1)):
        for status in (Status.RUNNING, Status.COMPLETED):
            assert refused(store, write(guard, status, thread="nobody")).head is None
    assert store.read("nobody", "main") is None


def test_the_number_of_another_branch_is_refused(store: StateStore) -> None:
    other = begin(store, "other", Status.READY)
    mine = begin(store, "mine", Status.READY)
    answer = refused(store, write(unchanged(other), thread="mine"))
    assert answer.head is not None
    assert answer.head.no == mine.no


def test_a_refused_write_leaves_the_others_of_its_list_alone(store: StateStore) -> None:
    held = begin(store)
    answers = store.commit(
        [
            write(holding(held), record=b"good"),
            write(New("x"), record=b"bad"),
            write(New("x"), thread="new", record=b"good too"),
        ]
    )
    assert [type(answer) for answer in answers] == [Receipt, Refused, Receipt]
    assert bodies(seen(store)) == [b"[]", b"good"]
    assert bodies(seen(store, "new")) == [b"good too"]


def test_writes_of_one_list_to_one_branch_follow_one_another(store: StateStore) -> None:
    held = begin(store)
    answers = store.commit(
        [
            write(Holding(held.no, held.epoch, 1), record=b"a"),
            write(Holding(held.no, held.epoch, 2), record=b"b"),
            write(Holding(held.no, held.epoch, 3), Status.COMPLETED, record=b"c"),
        ]
    )
    assert [answer.sequence for answer in answers if isinstance(answer, Receipt)] == [2, 3, 4]
    assert bodies(seen(store)) == [b"[]", b"a", b"b", b"c"]


def test_a_refused_write_refuses_those_that_build_on_it(store: StateStore) -> None:
    held = begin(store)
    answers = store.commit(
        [
            write(Holding(held.no, held.epoch + 1, 1), record=b"a"),
            write(Holding(held.no, held.epoch, 2), record=b"b"),
        ]
    )
    assert [type(answer) for answer in answers] == [Refused, Refused]
    assert len(seen(store).records) == 1


def test_an_empty_list_of_writes_has_no_answers(store: StateStore) -> None:
    assert store.commit([]) == []


def test_a_malformed_write_writes_nothing_of_its_list(store: StateStore) -> None:
    held = begin(store)
    bad = write(New("g"), thread="bad", opens=(question("a:b"), question("a:b")))
    with pytest.raises(ValueError, match="key comes twice"):
        store.commit([write(holding(held)), bad])
    assert len(seen(store).records) == 1
