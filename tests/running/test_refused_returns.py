"""What a node may not return: the run fails, names the node, and nothing merges."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from nodestep import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    GraphExecutionError,
    LimitExceededError,
    Send,
    StateStoreError,
    StateUpdateError,
)

from .making import Log, both, does, of, returns, run, says


def refused(error: type[Exception], *words: str, graph: Graph[Any]) -> None:
    with pytest.raises(error) as caught:
        both(graph, {})
    assert type(caught.value) is error
    for word in ("'a'", *words):
        assert word in str(caught.value)


def returning(value: Any, **options: Any) -> Graph[Log]:
    return of(START >> returns("a", value, **options) >> says("b") >> END)


@pytest.mark.parametrize("value", [1, True, 3.5, "b", b"x", {1, 2}, ("b",), ["b"], [Send("b"), None], object()])
def test_a_result_of_another_kind_is_refused(value):
    refused(GraphExecutionError, f"returned {type(value).__name__}", "Command", graph=returning(value, goto=["b"]))


def test_another_state_object_is_refused():
    refused(GraphExecutionError, "Log", graph=returning(Log(n=1)))


def test_changing_the_state_and_returning_something_else_is_refused():
    def body(state: Log):
        state.n = 5
        return {"log": ["x"]}

    refused(GraphExecutionError, "'n'", "in place", graph=of(START >> does("a", body) >> END))


def test_changing_the_state_and_returning_none_is_refused():
    refused(GraphExecutionError, "'log'", graph=of(START >> does("a", lambda state: state.log.append("x")) >> END))


def test_changing_a_field_with_a_reducer_of_ones_own_in_place_is_refused():
    def longest(current, new):
        return max(current or "", new, key=len)

    class Name(BaseState):
        name: Annotated[str, longest] = ""

    def body(state: Name):
        state.name = "in place"
        return state

    graph = Graph(Name).flow(START >> does("a", body) >> END)
    with pytest.raises(GraphExecutionError, match=r"'name'.*longest"):
        both(graph, {})


@pytest.mark.parametrize("value", [{"nn": 1}, Command(update={"nn": 1})])
def test_an_unknown_field_is_refused_with_its_nearest(value):
    refused(StateUpdateError, "'nn'", "Did you mean 'n'", graph=returning(value))


def test_a_wrong_value_is_refused_without_showing_it():
    graph = returning({"n": "secret words"})

    refused(StateUpdateError, "'n'", graph=graph)
    with pytest.raises(StateUpdateError) as caught:
        graph.invoke({})
    assert "secret words" not in str(caught.value)


def test_a_value_that_has_no_stored_form_is_refused_without_a_store():
    class Anything(BaseState):
        what: Any = None

    with pytest.raises(StateStoreError, match="'what'"):
        both(Graph(Anything).flow(START >> returns("a", {"what": object()}) >> END), {})


def test_a_value_beyond_a_limit_is_refused_without_a_store():
    refused(LimitExceededError, "'n'", graph=returning({"n": 2**63}))


@pytest.mark.parametrize("update", [[("n", 1)], Log(), "n", 1])
def test_the_update_of_a_command_is_a_dict(update):
    refused(GraphExecutionError, "Command(update=", graph=returning(Command(update=update)))


@pytest.mark.parametrize("payload", [{"nn": 1}, {"n": "x"}])
def test_the_payload_of_a_send_must_fit_the_state(payload):
    refused(StateUpdateError, "Send", graph=returning(Send("b", payload), goto=["b"]))


def test_a_failed_node_changes_nothing(store):
    graph = of(START >> says("first") >> returns("a", {"n": 5, "oops": 1}) >> END, state_store=store)

    with pytest.raises(StateUpdateError):
        graph.invoke({}, thread_id="t")

    assert run(graph.load("t")) == {"log": ["first"], "n": 0}


def test_the_state_a_node_keeps_is_not_the_states_own():
    class Box(BaseModel):
        items: list[int]

    kept: list[Box] = []

    def body(state: Box):
        kept.append(state)

    def later(state: Box):
        kept[0].items.append(99)
        return {"items": [*state.items, 2]}

    assert Graph(Box).flow(START >> does("a", body) >> does("b", later) >> END).invoke({"items": [1]}).state.items == [
        1,
        2,
    ]
