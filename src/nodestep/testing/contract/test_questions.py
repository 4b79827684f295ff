"""The listing of open questions over all threads: order, pages and filters."""

from __future__ import annotations

from typing import Any

import pytest

from ...stores.base import Listed, StateStore, Status
from ..writes import (
    ManualClock,
    begin,
    done,
    go_on,
    pause,
    question,
    unchanged,
    write,
)


def keys(page: tuple[Listed, ...]) -> list[str]:
    return [listed.question.key for listed in page]


def ask(store: StateStore, thread: str, key: str, **rest: Any) -> None:
    fields = {name: rest.pop(name) for name in ("assignee", "expires_at_ms") if name in rest}
    started = begin(store, thread, **rest)
    branch = {"branch": rest["branch"]} if "branch" in rest else {}
    go_on(store, started, Status.INTERRUPTED, thread, opens=(question(key, **fields),), **branch)


def test_without_questions_the_page_is_empty(store: StateStore) -> None:
    begin(store)
    assert store.questions() == ()


def test_a_listed_question_tells_where_it_belongs(store: StateStore) -> None:
    asked = pause(store, "a:x", graph="Refund")
    (listed,) = store.questions()
    assert (listed.branch_no, listed.thread_id, listed.branch_id, listed.graph) == (asked.no, "t", "main", "Refund")
    assert (listed.question.key, listed.question.pause) == ("a:x", asked.pause)


def test_questions_are_listed_oldest_pause_first(store: StateStore) -> None:
    pause(store, "z:1", "b:2", thread="z")
    pause(store, "a:3", thread="a")
    assert keys(store.questions()) == ["b:2", "z:1", "a:3"]


def test_a_question_that_was_kept_open_keeps_its_place(store: StateStore) -> None:
    first = pause(store, "a:old", thread="one")
    pause(store, "b:young", thread="two")
    kept = store.questions("one")[0].question
    claimed = done(store, write(unchanged(first), thread="one"))
    go_on(store, claimed, Status.INTERRUPTED, "one", opens=(kept, question("c:youngest")))
    assert keys(store.questions()) == ["a:old", "b:young", "c:youngest"]


def test_kept_questions_of_one_pause_are_ordered_by_branch_and_key(store: StateStore) -> None:
    for branch in ("one", "two"):
        rows = (question("b", pause=7), question("a", pause=7))
        begin(store, branch=branch, status=Status.INTERRUPTED, opens=rows)
    assert [(listed.branch_id, listed.question.key) for listed in store.questions()] == [
        ("one", "a"),
        ("one", "b"),
        ("two", "a"),
        ("two", "b"),
    ]


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
@pytest.mark.parametrize("thread", [None, "t2"])
def test_pages_give_every_question_once_and_in_order(store: StateStore, limit: int, thread: str | None) -> None:
    for n in range(4):
        pause(store, *(f"n{k}:q" for k in range(4)), thread=f"t{n}")
    whole = store.questions(thread)
    paged: list[Listed] = []
    after = None
    while page := store.questions(thread, limit=limit, after=after):
        assert len(page) <= limit
        paged.extend(page)
        last = page[-1]
        assert last.question.pause is not None
        after = (last.question.pause, last.branch_no, last.question.key)
    assert tuple(paged) == whole
    assert len(whole) == (16 if thread is None else 4)


def test_a_page_of_no_questions_is_empty(store: StateStore) -> None:
    pause(store)
    assert store.questions(limit=0) == ()


def test_questions_are_filtered_by_thread_and_branch(store: StateStore) -> None:
    ask(store, "one", "a:x")
    ask(store, "one", "b:y", branch="side")
    ask(store, "two", "c:z", branch="side")
    assert keys(store.questions("one")) == ["a:x", "b:y"]
    assert keys(store.questions("one", branch_id="side")) == ["b:y"]
    assert keys(store.questions(branch_id="side")) == ["b:y", "c:z"]
    assert store.questions("nobody") == ()


def test_questions_are_filtered_by_graph_and_assignee(store: StateStore) -> None:
    ask(store, "one", "a:x", graph="Refund", assignee="Ann")
    ask(store, "two", "b:y", graph="Refund", assignee="Bob")
    ask(store, "three", "c:z", graph="Release")
    assert keys(store.questions(graph="Refund")) == ["a:x", "b:y"]
    assert keys(store.questions(assignee="Ann")) == ["a:x"]
    assert store.questions(graph="Release", assignee="Ann") == ()
    assert store.questions("one", assignee="Bob") == ()


def test_questions_are_filtered_by_age(store: StateStore, clock: ManualClock) -> None:
    ask(store, "one", "a:x")
    clock.forward(1_000)
    ask(store, "two", "b:y")
    assert keys(store.questions(asked_before_ms=clock.wall)) == ["a:x"]
    assert keys(store.questions("two", asked_before_ms=clock.wall)) == []
    assert keys(store.questions(asked_before_ms=clock.wall + 1)) == ["a:x", "b:y"]


def test_a_question_that_was_answered_is_not_listed(store: StateStore) -> None:
    asked = pause(store, "a:x", "b:y")
    done(store, write(unchanged(asked), Status.INTERRUPTED, closes=("a:x",)))
    assert keys(store.questions()) == ["b:y"]


def test_an_expired_question_is_not_listed(store: StateStore, clock: ManualClock) -> None:
    ask(store, "one", "a:x", expires_at_ms=clock.wall + 10)
    ask(store, "two", "b:y", expires_at_ms=clock.wall + 20)
    ask(store, "three", "c:z")
    clock.forward(9)
    assert keys(store.questions()) == ["a:x", "b:y", "c:z"]
    clock.forward(1)
    assert keys(store.questions()) == ["b:y", "c:z"]
    assert store.questions("one") == ()
    clock.forward(10)
    assert keys(store.questions()) == ["c:z"]


def test_an_expired_question_is_still_one_of_its_branch(store: StateStore, clock: ManualClock) -> None:
    ask(store, "t", "a:x", expires_at_ms=clock.wall)
    assert store.questions() == ()
    stored = store.read("t", "main")
    assert stored is not None
    assert [row.key for row in stored.questions] == ["a:x"]


def test_pages_leave_expired_questions_out_and_fill_up(store: StateStore, clock: ManualClock) -> None:
    for number in range(6):
        ask(store, f"t{number}", f"n{number}:q", expires_at_ms=clock.wall + number % 2)
    page = store.questions(limit=2)
    assert keys(page) == ["n1:q", "n3:q"]
    last = page[-1]
    assert last.question.pause is not None
    assert keys(store.questions(limit=2, after=(last.question.pause, last.branch_no, last.question.key))) == ["n5:q"]
