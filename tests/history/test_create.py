"""`update_state(create=True)`: a thread that is made before its first turn."""

from __future__ import annotations

import pytest

from nodestep import END, START, BaseState, Graph, ResumeError, StateUpdateError
from tests.asking import kept, refusal
from tests.history.making import told
from tests.running.making import Log, does, of, run, says


@pytest.fixture
def graph(store, ran):
    return of(START >> says("a", ran) >> END, state_store=store)


def test_it_makes_a_thread_with_these_values_and_runs_nothing(graph, ran):
    at = run(graph.update_state("t", {"log": ["made"], "n": 5}, create=True))
    assert run(graph.get_state("t")).value == Log(log=["made"], n=5)
    assert (run(graph.history("t")).checkpoints, told(graph), ran) == ((at,), ["state_updated"], [])
    (thread,) = run(graph.threads()).items
    assert (thread.thread_id, thread.status, thread.graph) == ("t", "completed", "Log")


def test_its_first_turn_takes_an_input_and_there_is_nothing_to_go_on_with_before(graph, store, ran):
    run(graph.update_state("t", {"log": ["made"]}, create=True))
    with refusal(store, ResumeError, "completed", ran=ran):
        graph.invoke(None, thread_id="t")
    assert graph.invoke({"log": ["in"]}, thread_id="t").state.log == ["made", "in", "a"]


def test_a_thread_that_is_there_is_edited(graph):
    graph.invoke({}, thread_id="t")
    run(graph.update_state("t", {"log": ["edit"]}, create=True))
    assert run(graph.load("t"))["log"] == ["a", "edit"]


def test_fields_that_are_not_given_get_their_defaults(graph):
    run(graph.update_state("t", {}, create=True))
    assert run(graph.load("t")) == {"log": [], "n": 0}


def test_a_field_that_must_be_given_is_missed_and_nothing_is_made(store):
    class Needs(BaseState):
        name: str

    graph = Graph(Needs, state_store=store).flow(START >> does("a", lambda state: None) >> END)
    with pytest.raises(StateUpdateError, match="'name'"):
        run(graph.update_state("t", {}, create=True))
    with pytest.raises(StateUpdateError, match="'name'"):
        run(graph.update_state("t", {"name": 5}, create=True))
    assert kept(store) is None
    run(graph.update_state("t", {"name": "given"}, create=True))
    assert graph.invoke({}, thread_id="t").state.name == "given"
