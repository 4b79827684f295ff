"""What a node may return."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
from pydantic import BaseModel

from nodestep import END, START, Command, Graph, GraphExecutionError, Replace, Send, StateUpdateError, node

from .making import Log, both, does, of, returns, says


def after(value: Any, **options: Any) -> Log:
    """The state after a node that returned this value and then a node `b`."""
    return both(of(START >> returns("a", value, **options) >> says("b") >> END), {}).state


def test_a_dict_is_an_update():
    assert after({"n": 3, "log": ["a"]}) == Log(n=3, log=["a", "b"])


@pytest.mark.parametrize("value", [None, {}, Command()], ids=["None", "empty dict", "empty Command"])
def test_a_node_may_write_nothing_and_follow_its_edge(value):
    assert after(value) == Log(log=["b"])


def test_a_command_updates_and_follows_the_edge():
    assert after(Command(update={"n": 3})) == Log(n=3, log=["b"])


@pytest.mark.parametrize("value", [END, Command(goto=END), Command(goto=[END]), Command(goto=[]), []])
def test_a_node_may_end_its_path(value):
    assert after(value) == Log()


def test_a_command_updates_and_ends_its_path():
    assert after(Command(update={"n": 3}, goto=END)) == Log(n=3)


def test_a_send_is_one_task():
    assert after(Send("b", {"n": 3}), goto=["b"]) == Log(log=["b"])


def test_a_list_of_sends_is_a_task_each():
    assert after([Send("b"), Send("b", {}), Send("b", {"n": 1})], goto=["b"]) == Log(log=["b", "b", "b"])


def test_replace_bypasses_the_reducer():
    graph = of(START >> says("a") >> returns("b", {"log": Replace(["only"])}) >> END)

    assert both(graph, {"log": ["input"]}).state.log == ["only"]


def test_the_state_changed_in_place_is_the_update():
    def body(state: Log):
        state.n += 5
        state.log.append("in place")
        return state

    assert both(of(START >> does("a", body) >> says("b") >> END), {"n": 1, "log": ["x"]}).state == Log(
        n=6, log=["x", "in place", "b"]
    )


def test_the_state_returned_as_it_was_writes_nothing():
    assert both(of(START >> does("a", lambda state: state) >> END), {"n": 1}).state == Log(n=1)


def test_a_dict_state_may_be_changed_in_place_and_given_new_keys():
    def body(state):
        state["n"] += 1
        state["new"] = "x"
        return state

    assert both(Graph(dict).flow(START >> does("a", body) >> END), {"n": 1}).data == {"n": 2, "new": "x"}


def test_a_typed_dict_arrives_as_a_dict():
    class Ticket(TypedDict, total=False):
        title: str
        tags: list[str]

    @node
    def tag(state: Ticket):
        assert type(state) is dict or isinstance(state, dict)
        return {"tags": [state["title"].upper()]}

    assert both(Graph(Ticket).flow(START >> tag >> END), {"title": "a"}).state == {"title": "a", "tags": ["A"]}


def test_a_model_arrives_as_that_model():
    class Order(BaseModel):
        total: float

    seen = []
    both(Graph(Order).flow(START >> does("a", lambda state: seen.append(type(state))) >> END), {"total": "3.5"})

    assert seen == [Order, Order]


def test_the_state_of_the_result_is_the_state_type_and_data_the_same_as_a_dict():
    result = of(START >> says("a") >> END).invoke({"n": "4"})

    assert result.state == Log(n=4, log=["a"])
    assert type(result.state) is Log
    assert result.data == {"n": 4, "log": ["a"]}


def test_what_a_caller_does_to_a_result_changes_nobody_elses():
    result = of(START >> says("a") >> END).invoke({})
    result.state.log.append("mine")
    result.data["log"].append("mine")

    assert result.state.log == ["a"]


def test_a_coroutine_in_an_update_is_told_as_one_that_nobody_awaited():
    async def found() -> int:
        return 1

    async def writes(state: Log):
        return {"n": found()}

    with pytest.raises(StateUpdateError, match=r"Field 'n' got a coroutine from node 'a'.*await"):
        of(START >> does("a", writes) >> END).invoke({})


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_coroutine_that_nobody_awaited_is_told_as_one(asynchronous):
    async def found() -> dict[str, Any]:
        return {"n": 1}

    def plain(state: Log):
        return found()

    async def in_the_loop(state: Log):
        return found()

    graph = of(START >> does("a", in_the_loop if asynchronous else plain) >> END)
    with pytest.raises(GraphExecutionError, match=r"Node 'a' returned a coroutine.*async def"):
        graph.invoke({})


def test_fields_of_a_dict_state_may_be_swapped_in_place():
    @node
    def swap(state: dict) -> dict:
        first, second = state.pop("first"), state.pop("second")
        state["second"], state["first"] = first, second
        return state

    graph = Graph(dict).flow(START >> swap >> END)

    assert graph.invoke({"first": 1, "second": 2}).state == {"first": 2, "second": 1}
