"""People who answer by rules."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import END, START, InMemoryStateStore, interrupt, interrupt_many, when
from nodestep.testing import People
from tests.running.making import does, of, run


def asks(name: str, *ids: str) -> Any:
    """A node that asks one question after the other."""
    return does(name, lambda state: {"log": [f"{id}: {interrupt({'most': 80}, id=id)}" for id in ids]})


def graph_of(*ids: str, **options: Any) -> Any:
    return of(START >> asks("ask", *ids) >> END, state_store=InMemoryStateStore(), **options)


def test_a_run_goes_on_with_the_answers_that_the_rules_give():
    people = People({"go": "yes", "amount": lambda question: question.payload["most"]}, by="ann")
    graph = graph_of("go", "amount")
    assert people.run(graph, {}, thread_id="t").state.log == ["go: yes", "amount: 80"]
    assert [question.key for question in people.asked] == ["ask:go", "ask:amount"]
    assert {record.by for record in run(graph.audit("t")).items} == {"ann"}


def test_a_run_under_an_event_loop_does_the_same():
    assert run(People({"go": "yes"}).arun(graph_of("go"), {}, thread_id="t")).state.log == ["go: yes"]


def test_a_rule_for_a_key_comes_before_one_for_an_id_and_one_for_all():
    nodes = (asks("a", "go", "other"), asks("b", "go"))
    graph = of(START >> nodes[0] >> nodes[1] >> END, state_store=InMemoryStateStore())
    people = People({"*": "all", "go": "id", "b:go": "key"})
    assert people.run(graph, {}, thread_id="t").state.log == ["go: id", "other: all", "go: key"]


def test_a_pause_with_a_question_that_nobody_knows_is_returned():
    ask = does("ask", lambda state: {"log": [str(interrupt_many({"known": "?", "unknown": "?"}))]})
    people = People({"known": 1})
    result = people.run(of(START >> ask >> END, state_store=InMemoryStateStore()), {}, thread_id="t")
    assert sorted(result.interrupts) == ["ask:known", "ask:unknown"]
    assert people.asked == []


def test_a_run_that_asks_for_ever_ends():
    ask = asks("ask", "go")
    graph = of(START >> ask >> when(lambda state: True, ask, otherwise=END), state_store=InMemoryStateStore())
    with pytest.raises(RuntimeError, match="still asks ask:go after 1,000 pauses"):
        People({"go": 1}).run(graph, {}, thread_id="t")


def test_open_questions_of_all_threads_are_answered_without_running_anything():
    graph = graph_of("go")
    for number in range(150):
        graph.invoke({}, thread_id=f"t{number}")
    people = People({"go": "yes"}, by="ann")
    assert len(run(people.answer(graph))) == 150
    assert run(graph.pending()).items == ()
    assert graph.invoke(None, thread_id="t7").state.log == ["go: yes"]


def test_open_questions_of_one_thread_are_answered_and_the_others_stay_open():
    graph = graph_of("go")
    for thread in ("a", "b"):
        graph.invoke({}, thread_id=thread)
    assert [question.thread_id for question in run(People({"go": "yes"}).answer(graph, "b"))] == ["b"]
    assert [question.thread_id for question in run(graph.pending()).items] == ["a"]


def test_a_question_without_a_rule_stays_open():
    graph = graph_of("go")
    graph.invoke({}, thread_id="t")
    assert run(People({"other": 1}).answer(graph)) == ()
    assert len(run(graph.pending()).items) == 1
