"""Conditional edges: what a router sees, and what it may answer."""

from __future__ import annotations

from enum import Enum

import pytest

from nodestep import END, START, GraphExecutionError, branch, node, when

from .making import Log, both, does, of, run, says


def test_a_predicate_chooses_between_two_targets():
    def is_large(state: Log) -> bool:
        return state.n > 10

    graph = of(
        START >> says("a") >> when(is_large, says("large"), otherwise=says("small")), "large" >> END, "small" >> END
    )

    assert both(graph, {"n": 11}).state.log == ["a", "large"]
    assert both(graph, {"n": 10}).state.log == ["a", "small"]


def test_a_router_chooses_by_key_and_a_key_may_lead_to_several():
    def route(state: Log) -> str:
        return "both" if state.n else "end"

    graph = of(
        START >> branch(route, {"both": [says("b"), says("c")], "end": END}),
        "b" >> END,
        "c" >> END,
    )

    assert both(graph, {"n": 1}).state.log == ["b", "c"]
    assert both(graph, {}).state.log == []


def test_a_router_sees_the_merged_state():
    def writes(state: Log):
        return {"n": 7}

    seen = []

    def route(state: Log) -> bool:
        seen.append((state.n, list(state.log)))
        return True

    graph = of(
        START >> [does("a", writes), says("b")], "a" >> when(route, says("c"), otherwise=END), "b" >> END, "c" >> END
    )

    graph.invoke({})
    assert seen == [(7, ["b"])]


def test_what_a_router_changes_is_lost():
    def route(state: Log) -> bool:
        state.log.append("router")
        state.n = 99
        return True

    assert both(of(START >> says("a") >> when(route, says("b"), otherwise=END), "b" >> END), {}).state == Log(
        log=["a", "b"]
    )


@pytest.mark.parametrize("value", [1, 0, "yes", None, []])
def test_a_predicate_answers_with_a_bool_and_nothing_like_it(value):
    def is_large(state: Log):
        return value

    with pytest.raises(GraphExecutionError, match=rf"'is_large'.*{type(value).__name__}.*True or False"):
        both(of(START >> says("a") >> when(is_large, says("b"), otherwise=END), "b" >> END), {})


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


def test_keys_may_be_enums():
    def size(state: Log) -> Size:
        return Size.LARGE if state.n else Size.SMALL

    graph = of(START >> branch(size, {Size.SMALL: END, Size.LARGE: says("b")}), "b" >> END)

    assert both(graph, {"n": 1}).state.log == ["b"]


@pytest.mark.parametrize("key", ["esclate", None, 3, ["escalate"]])
def test_a_key_that_is_not_in_the_mapping_is_refused_and_the_known_ones_are_told(key):
    def triage(state: Log):
        return key

    graph = of(START >> says("a") >> branch(triage, {"escalate": says("b"), "close": END}), "b" >> END)

    with pytest.raises(GraphExecutionError, match=r"'triage'.*'a'.*'escalate', 'close'"):
        both(graph, {})


def raises(state: Log) -> bool:
    raise LookupError("no such rule")


def test_what_a_router_raises_reaches_the_caller():
    with pytest.raises(LookupError, match="no such rule"):
        both(of(START >> says("a") >> when(raises, says("b"), otherwise=END), "b" >> END), {})


def test_a_router_that_raises_after_start_leaves_no_thread(store):
    graph = of(START >> when(raises, says("b"), otherwise=END), "b" >> END, state_store=store)

    with pytest.raises(LookupError):
        graph.invoke({}, thread_id="t")
    assert not run(graph.exists("t"))


@pytest.mark.parametrize("error", [LookupError("not yet"), KeyboardInterrupt()], ids=["error", "interrupt"])
@pytest.mark.parametrize("parallel", [False, True], ids=["one task", "two tasks"])
def test_a_router_that_raises_leaves_its_tasks_recorded_and_alone_is_asked_again(store, parallel, error):
    ran: list[str] = []
    asked: list[int] = []

    def route(state: Log) -> bool:
        asked.append(state.n)
        if len(asked) == 1:
            raise error
        return True

    @node
    def a(state: Log):
        ran.append("a")
        return {"n": 5, "log": ["a"]}

    first = [a, says("z", ran)] if parallel else [a]
    rest = ["z" >> END] if parallel else []
    graph = of(START >> first, a >> when(route, says("b", ran), otherwise=END), "b" >> END, *rest, state_store=store)
    with pytest.raises(type(error)):
        graph.invoke({}, thread_id="t")
    assert run(graph.load("t")) == {"log": [], "n": 0}

    done = graph.invoke(None, thread_id="t")

    assert asked == [5, 5]
    assert sorted(ran) == sorted([*(item.name for item in first), "b"])
    assert done.state.n == 5
