"""`threads`: every thread with where a call would find it, newest first, in pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from nodestep import END, START, Graph, GraphConfigError, Resume, node
from tests.history.making import asks, forked
from tests.lifecycle.standing import Life
from tests.running.making import Log, does, of, run, says


def ids(on: Any, **options: Any) -> list[str]:
    return [found.thread_id for found in run(on.threads(**options)).items]


def pages(on: Any, **options: Any) -> list[list[str]]:
    found, after = [], None
    while True:
        page = run(on.threads(after=after, **options))
        found.append([item.thread_id for item in page.items])
        if page.next is None:
            return found
        after = page.next


STANDINGS = {
    "interrupted": "interrupted",
    "ready": "ready",
    "failed": "failed",
    "failed_and_open": "failed",
    "cut_off": "unfinished",
    "completed": "completed",
    "cancelled": "cancelled",
}


@pytest.mark.parametrize(("stands", "status"), STANDINGS.items())
def test_the_status_is_the_one_a_call_would_find(store, clock, stands, status):
    graph = getattr(Life(store, clock), stands)()
    (found,) = run(graph.threads()).items
    assert (found.thread_id, found.graph, found.status) == ("t", "life", status)
    for asked in {*STANDINGS.values(), "running"}:
        assert ids(graph, status=asked) == (["t"] if asked == status else [])


def test_a_thread_that_is_worked_on_is_running(store):
    def looks(state: Log):
        seen.append(run(graph.threads(status="running")).items[0].status)

    seen: list[str] = []
    graph = of(START >> does("a", looks) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    assert (seen, ids(graph, status="running")) == (["running"], [])


def test_a_thread_whose_questions_all_expired_is_ready(store, clock):
    graph = of(START >> asks("ask", expires=timedelta(hours=1)) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    assert (ids(graph, status="interrupted"), ids(graph, status="ready")) == (["t"], [])
    clock.forward(3_600_000)
    assert (ids(graph, status="interrupted"), ids(graph, status="ready")) == ([], ["t"])


def test_the_newest_comes_first_and_a_later_run_of_an_old_thread_does_not_change_that(store):
    graph = of(START >> says("a") >> END, state_store=store)
    for name in ("one", "two", "three"):
        graph.invoke({}, thread_id=name)
    graph.invoke({}, thread_id="one")
    assert ids(graph) == ["three", "two", "one"]


def test_a_fork_is_no_thread_of_its_own_and_does_not_change_where_the_thread_stands(store):
    graph = of(START >> asks("ask") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", branch_id=forked(graph, "interrupted"), resume=Resume(1))
    assert [(found.thread_id, found.status) for found in run(graph.threads()).items] == [("t", "interrupted")]


def test_it_tells_when_the_thread_was_made_and_when_a_run_of_it_began_or_ended(store, clock):
    graph = of(START >> asks("ask") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    (made,) = run(graph.threads()).items
    clock.forward(60_000)
    graph.invoke(None, thread_id="t", resume=Resume(1))
    (later,) = run(graph.threads()).items
    assert made.created_at == made.updated_at == later.created_at
    assert later.updated_at - later.created_at == timedelta(minutes=1)


def test_pages_hold_every_thread_once_whatever_is_begun_meanwhile(store):
    graph = of(START >> says("a") >> END, state_store=store)
    for number in range(5):
        graph.invoke({}, thread_id=str(number))
    first = run(graph.threads(limit=2))
    graph.invoke({}, thread_id="new")
    run(graph.delete("4"))
    second = run(graph.threads(limit=2, after=first.next))
    third = run(graph.threads(limit=2, after=second.next))
    assert [[item.thread_id for item in page.items] for page in (first, second, third)] == [
        ["4", "3"],
        ["2", "1"],
        ["0"],
    ]
    assert third.next is None
    assert pages(graph, limit=5) == [["new", "3", "2", "1", "0"]]


def test_filters_hold_over_pages(store):
    def named(name: str) -> Graph:
        return Graph(dict, name=name, state_store=store).flow(START >> node(lambda state: None, name="a") >> END)

    asking = Graph(Log, name="odd", state_store=store).flow(START >> asks("ask") >> END)
    for number in range(6):
        (asking if number % 3 == 1 else named("even")).invoke({}, thread_id=str(number))
    assert pages(asking, limit=1, graph="odd") == [["4"], ["1"]]
    assert pages(asking, limit=2, graph="even", status="completed") == [["5", "3"], ["2", "0"]]
    assert pages(asking, limit=1, status="interrupted") == [["4"], ["1"]]
    assert pages(asking, limit=1, graph="even", status="interrupted") == [[]]
    assert pages(asking, graph="unknown") == [[]]


@pytest.mark.parametrize("limit", [0, -1, 1001, True, 1.5, "5", None])
def test_a_limit_is_a_number_from_1_to_1000(store, limit):
    for what in ("threads", "pending", "audit"):
        with pytest.raises(GraphConfigError, match=rf"{what}\(limit=\.\.\.\).*1.*1000"):
            run(getattr(store, what)(limit=limit))


def test_a_status_that_does_not_exist_is_told_the_ones_that_do(store):
    with pytest.raises(GraphConfigError, match=r"'paused'|'interrupted'"):
        run(store.threads(status="paused"))


@pytest.mark.parametrize("after", ["", "x", "-1", "1.5", "٣", 5, '[1,1,"k"]'])
def test_a_page_goes_on_only_from_the_next_of_another(store, after):
    for what in ("threads", "audit"):
        with pytest.raises(GraphConfigError, match=rf"{what}\(after=\.\.\.\)"):
            run(getattr(store, what)(after=after))


def test_a_number_that_no_store_gives_is_no_next_either(store):
    for what in ("threads", "audit"):
        with pytest.raises(GraphConfigError, match=rf"{what}\(after=\.\.\.\)"):
            run(getattr(store, what)(after="9" * 30))
