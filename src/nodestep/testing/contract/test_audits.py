"""The audit: every decision is kept for good, in order, with where and when."""

from __future__ import annotations

from typing import Any

import pytest

from ...errors import StateStoreError
from ...stores.base import Audited, AuditRow, New, StateStore, Status
from ..writes import (
    ManualClock,
    begin,
    bodies,
    done,
    fork,
    go_on,
    holding,
    pause,
    refused,
    seen,
    unchanged,
    write,
)


def decision(key: str = "ask:ok", value: Any = True, source: str = "api", **fields: Any) -> AuditRow:
    return AuditRow(key, value, source, **fields)


def decide(store: StateStore, thread: str, *rows: AuditRow, branch: str = "main") -> None:
    begin(store, thread, Status.READY, branch=branch, audits=rows)


def values(page: tuple[Audited, ...]) -> list[object]:
    return [item.row.value for item in page]


def test_without_decisions_the_audit_is_empty(store: StateStore) -> None:
    pause(store)
    assert store.audit_rows() == ()
    assert store.audit_rows("t") == ()
    assert store.audit_rows("nobody") == ()


def test_a_decision_comes_back_as_it_was_given(store: StateStore, clock: ManualClock) -> None:
    row = decision(
        "a:x", {"b": [1, 2.5, None], "a": "é 🙂"}, "page", by="Ann", note="fine", pause=7, rejected="too long"
    )
    decide(store, "t", row)
    (item,) = store.audit_rows()
    assert item.row == row
    assert list(item.row.value) == ["b", "a"]
    assert (item.thread_id, item.branch_id, item.at_ms) == ("t", "main", clock.wall)


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}, "null", 2**63 - 1])
def test_any_value_comes_back(store: StateStore, value: Any) -> None:
    decide(store, "t", decision(value=value))
    (item,) = store.audit_rows()
    assert item.row.value == value
    assert type(item.row.value) is type(value)


def test_what_is_not_told_comes_back_as_none(store: StateStore) -> None:
    decide(store, "t", decision())
    (item,) = store.audit_rows()
    assert (item.row.by, item.row.note, item.row.pause, item.row.rejected) == (None, None, None, None)


def test_what_callers_do_to_a_value_changes_nothing_stored(store: StateStore) -> None:
    value = {"n": [1]}
    decide(store, "t", decision(value=value))
    value["n"].append(2)
    store.audit_rows()[0].row.value["n"].append(3)
    assert values(store.audit_rows()) == [{"n": [1]}]


def test_numbers_grow_over_all_threads_and_are_given_once(store: StateStore) -> None:
    decide(store, "a", decision(value=1), decision(value=2))
    decide(store, "b", decision(value=3))
    refused(store, write(New("g"), thread="a", audits=(decision(value=4),)))
    decide(store, "c", decision(value=5))
    page = store.audit_rows()
    assert values(page) == [1, 2, 3, 5]
    assert [item.number for item in page] == [1, 2, 3, 4]


def test_a_number_is_not_given_again_after_a_delete(store: StateStore) -> None:
    decide(store, "a", decision(value=1))
    (first,) = store.audit_rows()
    store.delete_rows("a")
    decide(store, "a", decision(value=2))
    (second,) = store.audit_rows()
    assert second.number > first.number
    assert second.row.value == 2


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
@pytest.mark.parametrize("thread", [None, "t1"])
def test_pages_give_every_decision_once_and_in_order(store: StateStore, limit: int, thread: str | None) -> None:
    for step in range(3):
        for n in range(3):
            decide(store, f"t{n}", decision(value=[n, step, 0]), decision(value=[n, step, 1]), branch=f"b{step}")
    whole = store.audit_rows(thread)
    paged: list[Audited] = []
    after = None
    while page := store.audit_rows(thread, limit=limit, after=after):
        assert len(page) <= limit
        paged.extend(page)
        after = page[-1].number
    assert tuple(paged) == whole
    assert len(whole) == (18 if thread is None else 6)
    assert [item.number for item in whole] == sorted(item.number for item in whole)


def test_a_page_of_no_decisions_is_empty(store: StateStore) -> None:
    decide(store, "t", decision())
    assert store.audit_rows(limit=0) == ()
    assert store.audit_rows("t", limit=0) == ()


def test_the_audit_of_a_thread_covers_its_branches(store: StateStore) -> None:
    decide(store, "t", decision(value=1))
    side = fork(store, seen(store).head, 1, "side", audits=(decision(value=2),))
    decide(store, "other", decision(value=3))
    done(store, write(unchanged(side), Status.READY, branch="side", audits=(decision(value=4),)))
    assert values(store.audit_rows("t")) == [1, 2, 4]
    assert [item.branch_id for item in store.audit_rows("t")] == ["main", "side", "side"]


@pytest.mark.parametrize("status", list(Status))
def test_an_owner_keeps_decisions_with_its_records(store: StateStore, status: Status) -> None:
    go_on(store, begin(store), status, record=b"2", audits=(decision(value=1),))
    assert values(store.audit_rows("t")) == [1]
    assert bodies(seen(store)) == [b"[]", b"2"]


def test_an_owner_goes_on_after_a_decision(store: StateStore) -> None:
    receipt = begin(store)
    for number in (2, 3, 4):
        receipt = go_on(store, receipt, audits=(decision(value=number),))
        receipt = go_on(store, receipt)
    assert receipt.sequence == 7
    assert values(store.audit_rows("t")) == [2, 3, 4]


def test_a_refused_write_keeps_no_decision(store: StateStore) -> None:
    held = begin(store)
    go_on(store, held)
    refused(store, write(holding(held), audits=(decision(),)))
    refused(store, write(holding(held), Status.COMPLETED, audits=(decision(),)))
    assert store.audit_rows() == ()


def test_a_decision_that_is_no_json_writes_nothing_of_its_list(store: StateStore) -> None:
    held = begin(store)
    bad = write(New("g"), thread="bad", audits=(decision(value=object()),))
    with pytest.raises((TypeError, ValueError)):
        store.commit([write(holding(held)), bad])
    assert len(seen(store).records) == 1
    assert store.audit_rows() == ()


def test_a_closed_store_tells_no_decisions(store: StateStore) -> None:
    store.close()
    with pytest.raises(StateStoreError, match="closed"):
        store.audit_rows()
