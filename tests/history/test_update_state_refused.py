"""Edits that are refused: nothing is written, and nothing ran."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    GraphChangedError,
    GraphConfigError,
    InvalidUpdateError,
    LimitExceededError,
    Replace,
    Resume,
    StateStoreError,
    StateUpdateError,
    ThreadBusyError,
    UnknownThreadError,
)
from nodestep.runtime.editing import update_state
from tests.asking import kept, refusal
from tests.history.making import asks, events, side_by_side
from tests.running.making import Log, does, of, returns, run, says
from tests.watching import Watched


@pytest.fixture
def graph(store, ran):
    """Thread `t` waits for `ask:ok`; beside it, `set` has set `n` and `says` has written to the log."""
    graph = side_by_side(asks("ask", ran), returns("set", {"n": 7}), says("says", ran), state_store=store)
    graph.invoke({}, thread_id="t")
    return graph


def edit(on: Any, values: Any, **options: Any) -> str:
    return run(on.update_state("t", values, **options))


def test_a_field_that_a_finished_sibling_replaces_is_refused_and_named(graph, store, ran):
    with refusal(store, InvalidUpdateError, "'n'", "'set'", ran=ran):
        edit(graph, {"n": 1})
    with refusal(store, InvalidUpdateError, "'n'", ran=ran):
        edit(graph, {"log": ["fine"], "n": 1})
    with pytest.raises(InvalidUpdateError) as caught:
        edit(graph, {"n": 1})
    assert (caught.value.field, "set" in caught.value.nodes, caught.value.superstep) == ("n", True, 2)
    assert "Let the superstep come to its end first, or fork the thread at an event before it." in str(caught.value)


def test_the_field_may_be_edited_when_the_superstep_has_merged(graph):
    graph.invoke(None, thread_id="t", resume=Resume(1))
    edit(graph, {"n": 1})
    assert run(graph.load("t"))["n"] == 1


def test_a_field_that_a_finished_sibling_wrote_round_its_reducer_is_refused(store):
    graph = side_by_side(asks("ask"), returns("set", {"log": Replace(["only"])}), state_store=store)
    graph.invoke({}, thread_id="t")
    with refusal(store, InvalidUpdateError, "'log'", "'set'"):
        edit(graph, {"log": ["edit"]})


class Strict(BaseState):
    count: int = 0
    name: str = ""


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"count": "hunter2"}, StateUpdateError, ["'count'"]),
        ({"name": "fine", "count": None}, StateUpdateError, ["'count'"]),
        ({"nmae": "x"}, StateUpdateError, ["'nmae'", "'name'"]),
        ({5: "x"}, StateUpdateError, []),
        ({"name": "a\0b"}, LimitExceededError, ["'name'"]),
        ({"count": 2**70}, LimitExceededError, ["'count'"]),
    ],
)
def test_what_the_state_type_refuses_writes_nothing_and_is_not_told(store, values, error, words):
    graph = Graph(Strict, state_store=store).flow(START >> asks("ask") >> END)
    graph.invoke({"name": "old"}, thread_id="t")
    with refusal(store, error, *words):
        edit(graph, values)
    with pytest.raises(error) as caught:
        edit(graph, values)
    assert "hunter2" not in str(caught.value)


def test_the_writer_is_named_as_what_it_is(store):
    graph = Graph(Strict, state_store=store).flow(START >> asks("ask") >> END)
    graph.invoke({}, thread_id="t")
    with pytest.raises(StateUpdateError, match="update_state") as caught:
        edit(graph, {"count": "many"})
    assert "the input" not in str(caught.value)


@pytest.mark.parametrize("create", [False, True])
def test_what_is_no_dict_of_fields_is_refused(store, create):
    graph = Graph(Strict, state_store=store).flow(START >> asks("ask") >> END)
    if not create:
        graph.invoke({}, thread_id="t")
    before = kept(store)
    for values in (5, "count", [("count", 1)], Resume(1), *(() if create else (None,))):
        with pytest.raises((StateUpdateError, TypeError), match=r"dict|mapping"):
            edit(graph, values, create=create)
        assert kept(store) == before


@pytest.mark.parametrize("branch", ["main", "side"])
def test_a_thread_that_is_not_there_is_unknown_and_not_made(store, branch):
    graph = of(START >> says("a") >> END, state_store=store)
    words = ["'t'"] if branch == "main" else ["'t'", f"'{branch}'"]
    with refusal(store, UnknownThreadError, *words, branch=branch):
        edit(graph, {"n": 1}, branch_id=branch)
    with refusal(store, UnknownThreadError, "'side'", branch="side"):
        edit(graph, {"n": 1}, branch_id="side", create=True)
    assert run(graph.threads()).items == ()


def test_a_running_thread_is_busy(store, ran):
    def edits(state: Log):
        with refusal(store, ThreadBusyError, "'t'", ran=ran):
            edit(graph, {"n": 1})
        with refusal(store, ThreadBusyError, "'t'", ran=ran):
            edit(graph, {"n": 1}, create=True)

    graph = of(START >> does("edit", edits) >> END, state_store=store)
    assert graph.invoke({}, thread_id="t").state.n == 0


def test_a_thread_whose_state_no_longer_fits_is_told(store):
    def typed(kind: type) -> Graph:
        state = type("Typed", (BaseState,), {"__annotations__": {"count": kind, "got": int}, "count": kind(), "got": 0})
        return Graph(state, name="typed", state_store=store).flow(START >> asks("ask") >> END)

    typed(str).invoke({"count": "many"}, thread_id="t")
    with refusal(store, GraphChangedError, "'t'", "'count'"):
        edit(typed(int), {"got": 1})


def test_an_edit_that_always_finds_the_thread_changed_gives_up(graph, store):
    rivals: list[str] = []

    def rival(facts: list[Any]) -> None:
        rivals.append(update_state(graph.blueprint, store, "t", {"log": ["rival"]}))
        if len(rivals) > 20:
            raise StateStoreError("it goes round and round")

    with pytest.raises(ThreadBusyError, match="'t'"):
        edit(graph, {"log": ["mine"]}, state_store=Watched(store, rival))
    assert run(graph.load("t"))["log"] == ["a", *["rival"] * len(rivals)]
    assert [event.id for event in events(graph) if event.type == "state_updated"] == rivals


def test_without_a_store_there_is_nothing_to_edit():
    with pytest.raises(GraphConfigError, match="state_store="):
        edit(of(START >> says("a") >> END), {"n": 1})
