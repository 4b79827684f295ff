"""What a store gives back: a branch at any of its records, and its records in pages."""

from __future__ import annotations

import pytest

from ...errors import StateStoreError, UnknownEventError
from ...model.json import Json
from ...stores.base import StateStore, Status
from ..writes import begin, bodies, go_on, holding, pause, question, seen, write


def of_length(store: StateStore, length: int, snapshots: tuple[int, ...] = (), thread: str = "t") -> None:
    """A running thread with the records b"1", b"2", ... and snapshots such as b"=3" at some."""

    def saved(number: int) -> bytes | None:
        return b"=%d" % number if number in snapshots else None

    receipt = begin(store, thread, record=b"1", snapshot=saved(1))
    for number in range(2, length + 1):
        receipt = go_on(store, receipt, thread=thread, record=b"%d" % number, snapshot=saved(number))


def test_an_unknown_thread_or_branch_reads_as_none(store: StateStore) -> None:
    begin(store, "t")
    assert store.read("u", "main") is None
    assert store.read("t", "side") is None
    assert store.head("u", "main") is None
    assert store.head("t", "side") is None


def test_the_head_of_a_branch_is_the_one_that_reading_gives(store: StateStore) -> None:
    held = begin(store)
    assert store.head("t", "main") == seen(store).head
    go_on(store, held, Status.FAILED)
    assert store.head("t", "main") == seen(store).head


def test_without_a_snapshot_all_records_are_read(store: StateStore) -> None:
    of_length(store, 5)
    stored = seen(store)
    assert (stored.snapshot, stored.snapshot_sequence) == (None, 0)
    assert bodies(stored) == [b"1", b"2", b"3", b"4", b"5"]


def test_records_after_the_newest_snapshot_are_read(store: StateStore) -> None:
    of_length(store, 6, snapshots=(2, 4))
    stored = seen(store)
    assert (stored.snapshot, stored.snapshot_sequence) == (b"=4", 4)
    assert bodies(stored) == [b"5", b"6"]


def test_a_snapshot_of_the_last_record_is_enough(store: StateStore) -> None:
    of_length(store, 4, snapshots=(4,))
    stored = seen(store)
    assert (stored.snapshot, stored.records) == (b"=4", ())
    assert stored.head.sequence == 4


@pytest.mark.parametrize(
    ("upto", "snapshot", "records"),
    [
        (1, None, [b"1"]),
        (2, b"=2", []),
        (3, b"=2", [b"3"]),
        (4, b"=4", []),
        (6, b"=4", [b"5", b"6"]),
    ],
)
def test_a_branch_is_read_as_it_was_at_a_record(
    store: StateStore, upto: int, snapshot: bytes | None, records: list[bytes]
) -> None:
    of_length(store, 6, snapshots=(2, 4))
    stored = seen(store, upto=upto)
    assert stored.snapshot == snapshot
    assert bodies(stored) == records
    assert stored.head.sequence == 6


@pytest.mark.parametrize("upto", [-1, 0, 4, 1 << 40])
def test_a_record_that_is_not_there_is_an_unknown_event(store: StateStore, upto: int) -> None:
    of_length(store, 3)
    with pytest.raises(UnknownEventError, match=f"no event {upto}"):
        store.read("t", "main", upto)


def test_the_questions_of_a_branch_are_those_open_now(store: StateStore) -> None:
    asked = pause(store, "b:y", "a:x")
    assert [row.key for row in seen(store, upto=1).questions] == ["a:x", "b:y"]
    assert {row.pause for row in seen(store).questions} == {asked.pause}


def test_a_question_comes_back_as_it_was_opened(store: StateStore) -> None:
    payload = {"text": 'a "quote", é 🙂', "list": [1, 2.5, None, True], "b": 1, "a": 2}
    row = question("a:x", payload=payload, answer_schema={"type": "string"}, assignee="Ann", expires_at_ms=1 << 60)
    asked = go_on(store, begin(store), Status.INTERRUPTED, opens=(row,))
    stored = row._replace(pause=asked.pause, asked_at_ms=asked.at_ms)
    assert seen(store).questions == (stored,)
    assert store.questions() == ((asked.no, "t", "main", "Refund", *stored),)
    assert list(seen(store).questions[0].payload) == list(payload)


def test_what_a_reader_does_to_a_question_changes_nothing_stored(store: StateStore) -> None:
    payload: dict[str, Json] = {"amount": 1}
    go_on(store, begin(store), Status.INTERRUPTED, opens=(question("a:x", payload=payload),))
    payload["amount"] = 2
    seen(store).questions[0].payload["amount"] = 3
    store.questions()[0].payload["amount"] = 4
    assert [seen(store).questions[0].payload, store.questions()[0].payload] == [{"amount": 1}] * 2


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 100_000, 3_000_000])
def test_bytes_of_any_size_come_back_exactly(store: StateStore, size: int) -> None:
    body = bytes(range(256)) * (size // 256 + 1)
    held = begin(store, record=body[:size], snapshot=body[:size])
    go_on(store, held, record=body[:size])
    stored = seen(store)
    assert stored.snapshot == body[:size]
    assert bodies(stored) == [body[:size]]


def test_records_come_in_pages(store: StateStore) -> None:
    of_length(store, 7, snapshots=(3,))
    pages, after = [], 0
    while page := store.records("t", "main", after=after, limit=3):
        pages.append([record.sequence for record in page])
        after = page[-1].sequence
    assert pages == [[1, 2, 3], [4, 5, 6], [7]]


def test_a_page_of_no_records_is_empty(store: StateStore) -> None:
    of_length(store, 2)
    assert store.records("t", "main", limit=0) == ()
    assert store.records("t", "main", after=2) == ()
    assert store.records("t", "main", after=50) == ()
    assert store.records("u", "main") == ()


def test_threads_do_not_see_the_records_of_others(store: StateStore) -> None:
    for thread in ("a", "b", "c"):
        of_length(store, 3, thread=thread)
    go_on(store, begin(store, "d", record=b"only"), thread="d", record=b"mine")
    assert bodies(seen(store, "d")) == [b"only", b"mine"]
    assert [record.body for record in store.records("b", "main")] == [b"1", b"2", b"3"]


def test_writing_goes_on_between_two_pages(store: StateStore) -> None:
    held = begin(store)
    for _ in range(3):
        held = go_on(store, held)
    first = store.records("t", "main", limit=2)
    held = go_on(store, held)
    rest = store.records("t", "main", after=first[-1].sequence)
    assert [record.sequence for record in first + rest] == [1, 2, 3, 4, 5]


def test_a_closed_store_says_so(store: StateStore) -> None:
    held = begin(store)
    store.close()
    for call in (
        lambda: store.read("t", "main"),
        lambda: store.head("t", "main"),
        lambda: store.records("t", "main"),
        lambda: store.questions(),
        lambda: store.renew([(1, 1)]),
        lambda: store.commit([write(holding(held))]),
    ):
        with pytest.raises(StateStoreError, match="is closed"):
            call()
    store.close()


def test_every_store_has_an_id_of_its_own(store: StateStore) -> None:
    assert len(store.id) == 32
    assert store.id == store.id
