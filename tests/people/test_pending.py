"""Open questions over all threads, in pages, oldest first."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest

from nodestep import END, START, Graph, GraphConfigError, Page, Resume, interrupt_many, node
from nodestep.people.branches import fork
from tests.history.making import asks, forked, open_keys, side_by_side
from tests.running.making import Log, of, run


def pages(on: Any, limit: int, **options: Any) -> list[list[str]]:
    """The threads of every page of questions."""
    found, after = [], None
    while True:
        page = run(on.pending(limit=limit, after=after, **options))
        found.append([asked.thread_id for asked in page.items])
        if page.next is None:
            return found
        after = page.next


@pytest.fixture
def graph(store) -> Graph[Log]:
    return of(START >> asks("ask") >> END, state_store=store)


@pytest.fixture
def seven(graph) -> Graph[Log]:
    """Threads `0` to `6` wait, each for one answer."""
    for number in range(7):
        graph.invoke({}, thread_id=str(number))
    return graph


def test_pages_follow_one_another_oldest_first(seven):
    assert pages(seven, 3) == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    assert pages(seven, 7) == [["0", "1", "2", "3", "4", "5", "6"]]
    assert pages(seven, 1000) == pages(seven, 7)


def test_a_store_without_questions_has_one_empty_page(store, graph):
    assert run(store.pending()) == run(graph.pending("nobody")) == Page((), None)


def test_nothing_is_missed_or_shown_twice_while_questions_open_and_close(seven):
    def resume(thread: str) -> None:
        seven.invoke(None, thread_id=thread, resume=Resume(1))

    first = run(seven.pending(limit=2))
    resume("0")
    resume("3")
    seven.invoke({}, thread_id="new")
    second = run(seven.pending(limit=2, after=first.next))
    resume("2")
    seven.invoke({}, thread_id="newest")
    run(seven.cancel("6"))
    third = run(seven.pending(limit=5, after=second.next))
    shown = [[asked.thread_id for asked in page.items] for page in (first, second, third)]
    assert shown == [["0", "1"], ["2", "4"], ["5", "new", "newest"]]
    assert third.next is None


def test_the_question_a_page_ended_with_may_be_answered_meanwhile(seven):
    first = run(seven.pending(limit=2))
    seven.invoke(None, thread_id="1", resume=Resume(1))
    assert [asked.thread_id for asked in run(seven.pending(limit=2, after=first.next)).items] == ["2", "3"]


def test_questions_of_one_pause_are_split_over_pages_in_one_order(store):
    def body(state):
        interrupt_many({f"q{number}": number for number in (3, 1, 2, 0)})

    graph = Graph(dict, name="many", state_store=store).flow(START >> node(body, name="ask") >> END)
    graph.invoke({}, thread_id="t")
    keys, after = [], None
    for _ in range(2):
        page = run(store.pending(limit=2, after=after))
        keys += [asked.key for asked in page.items]
        after = page.next
    assert (keys, after) == ([f"ask:q{number}" for number in range(4)], None)


def test_a_question_left_over_keeps_its_place_among_the_older_ones(store):
    graph = side_by_side(asks("x"), asks("y"), state_store=store)
    graph.invoke({}, thread_id="old")
    graph.invoke({}, thread_id="young")
    run(graph.answer("old", {"x:ok": 1}))
    assert [(asked.thread_id, asked.key) for asked in run(graph.pending()).items] == [
        ("old", "y:ok"),
        ("young", "x:ok"),
        ("young", "y:ok"),
    ]


def test_forks_are_listed_beside_the_original_and_can_be_paged(graph):
    graph.invoke({}, thread_id="t")
    for _ in range(3):
        forked(graph, "interrupted")
    graph.invoke({}, thread_id="u")
    found, after = [], None
    while True:
        page = run(graph.pending(limit=2, after=after))
        found += [(asked.thread_id, asked.branch_id) for asked in page.items]
        after = page.next
        if after is None:
            break
    assert found == [("t", "main"), ("t", "fork-1"), ("t", "fork-2"), ("t", "fork-3"), ("u", "main")]


def test_a_fork_made_while_a_page_is_read_does_not_upset_it(seven, store):
    first = run(seven.pending(limit=3))
    fork(store, "1", from_=run(seven.history("1")).checkpoints[-1])
    rest = [asked.thread_id for asked in run(seven.pending(limit=10, after=first.next)).items]
    assert rest == ["3", "4", "5", "6"]


def test_an_expired_question_is_not_listed_from_its_deadline_on(store, clock):
    graph = side_by_side(asks("x", expires=timedelta(hours=1)), asks("y"), state_store=store)
    graph.invoke({}, thread_id="t")
    clock.forward(3_599_999)
    assert open_keys(graph) == ["x:ok", "y:ok"]
    clock.forward(1)
    assert open_keys(graph) == open_keys(store, None) == ["y:ok"]


def test_expired_questions_leave_no_holes_in_pages(store, clock):
    short = Graph(Log, name="short", state_store=store).flow(START >> asks("ask", expires=timedelta(hours=1)) >> END)
    long = of(START >> asks("ask") >> END, state_store=store)
    for number in range(6):
        (long if number % 3 == 0 else short).invoke({}, thread_id=str(number))
    clock.forward(3_600_000)
    assert pages(store, 1) == [["0"], ["3"]]


def test_the_store_lists_the_same_without_the_graph_and_in_another_process(seven, store, reopened):
    assert run(store.pending()) == run(reopened().pending()) == run(seven.pending())


def test_a_question_is_listed_with_everything_that_belongs_to_it(store, clock):
    ask = asks("ask", answer=int, assignee="ann", expires=timedelta(hours=1))
    graph = of(START >> ask >> END, state_store=store)
    paused = graph.invoke({}, thread_id="t").interrupts["ask:ok"]
    (listed,) = run(store.pending()).items
    for name in (each.name for each in fields(listed)):
        assert getattr(listed, name) == getattr(paused, name), name
    assert (listed.id, listed.node, listed.task_id, listed.payload) == ("ok", "ask", "ask", "ask?")
    assert (listed.assignee, listed.answer_schema, listed.graph) == ("ann", {"type": "integer"}, "Log")
    assert listed.asked_at is not None
    assert listed.expires_at is not None
    assert listed.asked_at.timestamp() * 1000 == clock.wall
    assert listed.expires_at - listed.asked_at == timedelta(hours=1)


FORGED: list[Any] = ["", "x", "5", "[]", "[1,2]", "[1,2,3,4]", '{"a":1}', "null", 5, ("1", 1, "k"), '["x",1,"k"]']


@pytest.mark.parametrize("after", FORGED, ids=repr)
def test_a_page_goes_on_only_from_the_next_of_another(store, after):
    with pytest.raises(GraphConfigError, match=r"pending\(after=\.\.\.\)"):
        run(store.pending(after=after))


@pytest.mark.parametrize("after", ['[1e400,1,"k"]', f'[{10**30},1,"k"]', f'[1,{10**30},"k"]'])
def test_a_number_that_no_store_gives_is_no_next_either(store, after):
    with pytest.raises(GraphConfigError, match=r"pending\(after=\.\.\.\)"):
        run(store.pending(after=after))
