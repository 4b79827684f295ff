"""Questions filtered by thread, branch, graph, assignee and age."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from nodestep import END, START, Graph, GraphConfigError, GraphExecutionError, Resume
from tests.history.making import asks, forked, side_by_side
from tests.running.making import Log, of, run


def threads(on: Any, **options: Any) -> list[str | None]:
    return [asked.thread_id for asked in run(on.pending(**options)).items]


def asking(store, name: str = "g", **options: Any) -> Graph[Log]:
    return Graph(Log, name=name, state_store=store).flow(START >> asks("ask", **options) >> END)


def test_by_thread(store):
    graph = asking(store)
    for name in ("a", "b"):
        graph.invoke({}, thread_id=name)
    assert threads(store, thread_id="b") == ["b"]
    assert [asked.thread_id for asked in run(store.pending("a")).items] == ["a"]
    assert threads(store, thread_id="nobody") == []


def test_by_branch(store):
    graph = asking(store)
    for name in ("t", "u"):
        graph.invoke({}, thread_id=name)
    branch = forked(graph, "interrupted")
    assert threads(store) == ["t", "t", "u"]
    assert threads(store, branch_id="main") == ["t", "u"]
    assert threads(store, branch_id=branch) == ["t"]
    assert threads(store, thread_id="u", branch_id=branch) == []
    assert threads(store, branch_id="nobody") == []


def test_by_the_name_of_the_graph_which_is_the_state_types_unless_given(store):
    asking(store, "refunds").invoke({}, thread_id="r")
    of(START >> asks("ask") >> END, state_store=store).invoke({}, thread_id="l")
    assert threads(store, graph="refunds") == ["r"]
    assert threads(store, graph="Log") == ["l"]
    assert threads(store, graph="refund") == []


def test_a_graph_lists_the_questions_of_all_graphs_of_its_store(store):
    asking(store, "one").invoke({}, thread_id="a")
    two = asking(store, "two")
    assert threads(two) == ["a"]


def test_a_fork_bears_the_name_of_its_graph(store):
    graph = asking(store, "refunds")
    graph.invoke({}, thread_id="t")
    forked(graph, "interrupted")
    assert threads(store, graph="refunds") == ["t", "t"]


def test_by_assignee(store):
    for name in ("ann", "ben", None):
        asking(store, assignee=name).invoke({}, thread_id=str(name))
    assert threads(store, assignee="ann") == ["ann"]
    assert threads(store, assignee="Ann") == []
    assert threads(store) == ["ann", "ben", "None"]


def test_by_age_by_the_clock_of_the_store(store, clock):
    graph = asking(store)
    for name in ("old", "young"):
        graph.invoke({}, thread_id=name)
        clock.forward(60_000)
    assert threads(store, older_than=timedelta(seconds=119)) == ["old"]
    assert threads(store, older_than=timedelta(seconds=59)) == ["old", "young"]
    assert threads(store, older_than=timedelta(minutes=5)) == []
    assert threads(store, older_than=timedelta(0)) == ["old", "young"]


def test_exactly_as_old_is_not_older(store, clock):
    asking(store).invoke({}, thread_id="t")
    clock.forward(60_000)
    assert threads(store, older_than=timedelta(minutes=1)) == []
    clock.forward(1)
    assert threads(store, older_than=timedelta(minutes=1)) == ["t"]


def test_the_age_is_that_of_the_question_also_in_a_fork_and_after_another_was_answered(store, clock):
    graph = side_by_side(asks("x"), asks("y"), state_store=store)
    graph.invoke({}, thread_id="t")
    clock.forward(60_001)
    forked(graph, "interrupted")
    run(graph.answer("t", {"x:ok": 1}))
    assert threads(store, older_than=timedelta(minutes=1)) == ["t", "t", "t"]


def test_a_question_asked_again_is_as_old_as_its_new_pause(store, clock):
    graph = of(START >> asks("one") >> asks("two") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    clock.forward(60_001)
    graph.invoke(None, thread_id="t", resume=Resume(1))
    assert threads(store, older_than=timedelta(minutes=1)) == []


def test_filters_hold_together_and_over_pages(store, clock):
    for number in range(6):
        name = "one" if number % 2 else "two"
        asking(store, name, assignee="ann" if number < 5 else "ben").invoke({}, thread_id=str(number))
        clock.forward(1000)
    filters = {"graph": "one", "assignee": "ann", "older_than": timedelta(seconds=2), "limit": 1}
    first = run(store.pending(**filters))
    second = run(store.pending(**filters, after=first.next))
    assert [asked.thread_id for asked in (*first.items, *second.items)] == ["1", "3"]
    assert second.next is None


@pytest.mark.parametrize("assignee", ["", 5, ["ann"]])
def test_an_assignee_is_a_name(store, assignee):
    with pytest.raises(GraphExecutionError, match=r"assignee=.*'ok'.*'ask'"):
        asking(store, assignee=assignee).invoke({}, thread_id="t")
    assert threads(store) == []


@pytest.mark.parametrize("age", [5, "1h", 1.5])
def test_an_age_is_a_duration(store, age):
    with pytest.raises((TypeError, GraphConfigError), match="older_than"):
        threads(store, older_than=age)


@pytest.mark.parametrize("text", ["'; drop table branches; --", "%", "ann_", "\u202eann"])
def test_a_filter_is_taken_as_it_is_written(store, text):
    asking(store, assignee="ann").invoke({}, thread_id="t")
    assert threads(store, assignee=text) == threads(store, graph=text) == threads(store, thread_id=text) == []
    asking(store, assignee=text).invoke({}, thread_id=text)
    assert threads(store, assignee=text) == threads(store, thread_id=text) == [text]
