"""Joins in runs, on both stores."""

from __future__ import annotations

import pytest

from nodestep import END, START, Command, GraphExecutionError, Resume, Send, interrupt

from .making import Log, both, does, of, returns, run, says


def test_a_join_runs_once_after_the_last_of_its_sources():
    graph = of(START >> [says("b"), says("x")], "x" >> says("c"), ["b", "c"] >> says("d"), "d" >> END)

    result = both(graph, {})

    assert result.state.log == ["b", "x", "c", "d"]
    assert result.step == 2


def test_a_join_waits_over_a_pause_and_a_restart(store, reopened):
    def ask(state: Log):
        return {"log": [interrupt("?", id="ok")]}

    def graph(kept):
        return of(
            START >> [says("b"), says("x")],
            "x" >> does("c", ask),
            ["b", "c"] >> says("d"),
            "d" >> END,
            state_store=kept,
        )

    assert graph(store).invoke({}, thread_id="t").status == "interrupted"

    done = graph(reopened()).invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["b", "x", "yes", "d"]


def test_a_join_waits_over_a_failure(store):
    tries = []

    def flaky(state: Log):
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("once")
        return {"log": ["c"]}

    graph = of(
        START >> [says("b"), says("x")],
        "x" >> does("c", flaky),
        ["b", "c"] >> says("d"),
        "d" >> END,
        state_store=store,
    )
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")

    assert graph.invoke(None, thread_id="t").state.log == ["b", "x", "c", "d"]


def test_a_join_in_a_loop_waits_for_every_source_again():
    def decide(state: Log):
        return Command(update={"log": ["d"], "n": state.n + 1}, goto=["b", "c"] if state.n < 2 else END)

    graph = of(START >> [says("b"), says("c")] >> does("d", decide, goto=["b", "c"]))

    assert both(graph, {}).state.log == ["b", "c", "d"] * 3


def test_sends_of_the_same_source_count_as_one_arrival():
    sends = [Send("b", {}), Send("c", {}), Send("c", {})]
    graph = of(START >> returns("a", sends, goto=["b", "c"]), [says("b"), says("c")] >> says("d") >> END)

    assert both(graph, {}).state.log == ["b", "c", "c", "d"]


def test_goto_into_a_join_runs_it_without_its_sources_and_leaves_their_marks():
    def jump(state: Log):
        return Command(update={"log": ["a"]}, goto=["c", "d"])

    graph = of(START >> [does("a", jump, goto=["c", "d"]), says("b")], ["b", says("c")] >> says("d") >> END)

    assert both(graph, {}).state.log == ["a", "b", "c", "d", "d"]


def test_a_run_that_would_end_with_a_half_marked_join_fails_and_says_what_is_missing(store):
    ran: list[str] = []
    graph = of(
        START >> [returns("legal", END), says("price", ran)] >> says("offer", ran) >> END,
        state_store=store,
    )
    with pytest.raises(GraphExecutionError, match="'offer' still waits for 'legal'"):
        graph.invoke({}, thread_id="t")

    assert ran == ["price"]
    assert run(graph.load("t"))["log"] == []


def test_a_new_turn_begins_without_the_marks_of_an_unfinished_one(store):
    fail = [True]

    def flaky(state: Log):
        if fail.pop():
            raise ValueError("once")
        return {"log": ["c"]}

    graph = of(
        START >> [says("b"), says("x")],
        "x" >> does("c", flaky),
        ["b", "c"] >> says("d"),
        "d" >> END,
        state_store=store,
    )
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")

    fail.append(False)
    assert graph.invoke({"log": ["again"]}, thread_id="t").state.log == ["b", "x", "again", "b", "x", "c", "d"]
