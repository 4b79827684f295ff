"""What a store counts: records without gaps, and pauses that no number names twice."""

from __future__ import annotations

from ...stores.base import StateStore, Status
from ..writes import (
    ManualClock,
    begin,
    done,
    go_on,
    pause,
    question,
    refused,
    seen,
    unchanged,
    write,
)


def test_receipts_number_the_records_without_gaps(store: StateStore) -> None:
    receipt = begin(store)
    numbers = [receipt.sequence]
    for status in (Status.RUNNING, Status.RUNNING, Status.INTERRUPTED):
        receipt = go_on(store, receipt, status)
        numbers.append(receipt.sequence)
    for status in (Status.READY, Status.RUNNING):
        receipt = done(store, write(unchanged(receipt), status))
        numbers.append(receipt.sequence)
    assert numbers == [1, 2, 3, 4, 5, 6]
    assert [record.sequence for record in seen(store).records] == numbers
    assert seen(store).head.sequence == 6


def test_a_refused_write_uses_up_no_number(store: StateStore) -> None:
    rested = begin(store, status=Status.READY)
    refused(store, write(unchanged(begin(store, "other", Status.READY))))
    assert done(store, write(unchanged(rested))).sequence == 2


def test_branches_have_numbers_of_their_own(store: StateStore) -> None:
    numbers = {begin(store, f"t{n}").no for n in range(5)}
    assert len(numbers) == 5
    assert len({begin(store, "t1", branch=f"b{n}").no for n in range(5)} | numbers) == 10


def test_the_questions_of_one_write_share_a_pause_number(store: StateStore) -> None:
    asked = pause(store, "a:x", "b:y")
    assert asked.pause is not None
    assert {row.pause for row in seen(store).questions} == {asked.pause}
    assert seen(store).records[-1].pause == asked.pause


def test_a_write_without_questions_has_no_pause_number(store: StateStore) -> None:
    assert begin(store).pause is None
    assert seen(store).records[0].pause is None


def test_pause_numbers_grow_over_all_threads(store: StateStore) -> None:
    numbers = [pause(store, thread=f"t{n}").pause or 0 for n in range(4)]
    assert numbers == sorted(set(numbers))


def test_a_question_that_stays_open_keeps_its_pause_and_time(store: StateStore, clock: ManualClock) -> None:
    asked = pause(store, "a:x")
    (kept,) = seen(store).questions
    clock.forward(60_000)
    claimed = done(store, write(unchanged(asked)))
    again = go_on(store, claimed, Status.INTERRUPTED, opens=(kept, question("b:y")))
    first, second = seen(store).questions
    assert first == kept
    assert (second.key, second.pause) == ("b:y", again.pause)
    assert again.pause != asked.pause
    assert second.asked_at_ms == clock.wall


def test_only_kept_questions_take_no_new_number(store: StateStore) -> None:
    asked = pause(store, "a:x")
    claimed = done(store, write(unchanged(asked)))
    again = go_on(store, claimed, Status.INTERRUPTED, opens=seen(store).questions)
    assert again.pause is None
    assert [row.pause for row in seen(store).questions] == [asked.pause]


def test_a_question_that_opens_again_belongs_to_the_new_pause(store: StateStore) -> None:
    asked = pause(store, "a:x")
    claimed = done(store, write(unchanged(asked)))
    again = go_on(store, claimed, Status.INTERRUPTED, opens=(question("a:x", payload="new"),))
    (row,) = seen(store).questions
    assert row.pause == again.pause != asked.pause
    assert row.payload == "new"


def test_a_closed_question_may_be_opened_by_the_same_write(store: StateStore) -> None:
    asked = pause(store, "a:x", "b:y")
    claimed = done(store, write(unchanged(asked), closes=("b:y",)))
    again = go_on(store, claimed, Status.INTERRUPTED, closes=("a:x",), opens=(question("a:x"),))
    assert [(row.key, row.pause) for row in seen(store).questions] == [("a:x", again.pause)]


def test_closed_questions_are_no_longer_open(store: StateStore) -> None:
    asked = pause(store, "a:x", "b:y", "c:z")
    done(store, write(unchanged(asked), Status.INTERRUPTED, closes=("a:x", "c:z", "never:there")))
    assert [row.key for row in seen(store).questions] == ["b:y"]


def test_a_write_is_stamped_with_the_time_of_the_store(store: StateStore, clock: ManualClock) -> None:
    held = begin(store)
    clock.forward(1_500)
    receipt = go_on(store, held)
    head = seen(store).head
    assert receipt.at_ms == clock.wall == store.now_ms()
    assert (head.created_at_ms, head.updated_at_ms) == (held.at_ms, receipt.at_ms)
    assert [record.at_ms for record in seen(store).records] == [held.at_ms, receipt.at_ms]
