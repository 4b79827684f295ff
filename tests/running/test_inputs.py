"""What a call may bring as input, and what it is laid over."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from nodestep import (
    END,
    START,
    Graph,
    StateUpdateError,
)

from .making import Log, both, does, of, run, says


def test_a_dict_is_laid_over_the_stored_state_through_the_reducers(store):
    graph = of(START >> says("a") >> END, state_store=store)

    assert graph.invoke({"n": 4, "log": ["x"]}, thread_id="t").state == Log(n=4, log=["x", "a"])
    assert graph.invoke({"log": ["y"]}, thread_id="t").state == Log(n=4, log=["x", "a", "y", "a"])


def test_an_empty_dict_starts_a_turn(store):
    graph = of(START >> says("a") >> END, state_store=store)
    graph.invoke({}, thread_id="t")

    assert graph.invoke({}, thread_id="t").state.log == ["a", "a"]


def test_an_instance_is_the_whole_state(store):
    graph = of(START >> says("a") >> END, state_store=store)
    graph.invoke({"n": 4, "log": ["x"]}, thread_id="t")

    assert graph.invoke(Log(log=["y"]), thread_id="t").state == Log(n=0, log=["y", "a"])


def test_the_caller_keeps_its_instance_as_it_was():
    given = Log(log=["x"])
    of(START >> says("a") >> END).invoke(given)

    assert given == Log(log=["x"])


@pytest.mark.parametrize("given", [[], "text", 5, ("a",)])
def test_an_input_of_another_kind_is_refused(given):
    ran: list[str] = []
    with pytest.raises(StateUpdateError, match="input"):
        both(of(START >> says("a", ran) >> END), given)
    assert ran == []


@pytest.mark.parametrize("given", [{"oops": 1}, {"n": "x"}])
def test_a_refused_input_makes_no_thread_and_changes_none(given, store):
    graph = of(START >> says("a") >> END, state_store=store)
    with pytest.raises(StateUpdateError, match="the input"):
        graph.invoke(given, thread_id="t")
    assert not run(graph.exists("t"))

    graph.invoke({}, thread_id="t")
    before = store.read("t", "main")
    with pytest.raises(StateUpdateError, match="the input"):
        graph.invoke(given, thread_id="t")
    assert store.read("t", "main") == before


def test_a_field_without_a_default_must_be_given_once(store):
    class Order(BaseModel):
        id: str

    graph = Graph(Order, state_store=store).flow(START >> does("a", lambda state: None) >> END)
    with pytest.raises(StateUpdateError, match="'id'"):
        graph.invoke({}, thread_id="t")
    graph.invoke({"id": "x"}, thread_id="t")

    assert graph.invoke({}, thread_id="t").state.id == "x"
