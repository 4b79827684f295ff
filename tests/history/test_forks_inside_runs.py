"""A fork of the middle, the beginning or the end of a run knows where the run stood, and goes on from there."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from nodestep import END, START, Resume, ResumeError
from tests.asking import refusal
from tests.history.making import asks, forked, point, told, untouched
from tests.running.making import Log, does, of, run, says, soon
from tests.watching import Watched


@pytest.fixture
def graph(store, ran):
    """Thread `t` went through `a`, `b` and `c`."""
    graph = of(START >> says("a", ran) >> says("b", ran) >> says("c", ran) >> END, state_store=store)
    graph.invoke({"log": ["in"]}, thread_id="t")
    del ran[:]
    return graph


def test_a_fork_of_the_middle_goes_on_with_what_was_due_there(graph, store, ran):
    branch = forked(graph, "superstep_completed", 0)
    with untouched(store):
        assert graph.invoke(None, thread_id="t", branch_id=branch).state.log == ["in", "a", "b", "c"]
    assert ran == ["b", "c"]


def test_a_fork_of_the_middle_takes_a_new_input_instead(graph, ran):
    branch = forked(graph, "superstep_completed", 1)
    done = graph.invoke({"log": ["new"]}, thread_id="t", branch_id=branch)
    assert done.state.log == ["in", "a", "b", "new", "a", "b", "c"]
    assert ran == ["a", "b", "c"]


def test_a_fork_of_the_first_event_begins_the_turn_again(graph, ran):
    branch = forked(graph, "run_started")
    assert run(graph.load("t", branch_id=branch))["log"] == ["in"]
    assert graph.invoke(None, thread_id="t", branch_id=branch).state.log == ["in", "a", "b", "c"]
    assert ran == ["a", "b", "c"]


def test_a_fork_of_the_end_is_completed_and_takes_a_new_input(graph, store, ran):
    branch = forked(graph, "run_completed")
    with refusal(store, ResumeError, "completed", ran=ran, branch=branch):
        graph.invoke(None, thread_id="t", branch_id=branch)
    with untouched(store):
        done = graph.invoke({}, thread_id="t", branch_id=branch)
    assert done.state.log == ["in", "a", "b", "c", "a", "b", "c"]


def test_a_fork_of_an_event_inside_a_commit_stands_before_that_commit(graph, ran):
    completed = next(event for event in run(graph.history("t")).events if event.type == "node_completed")
    branch = run(graph.fork("t", from_=completed.id)).id
    assert run(graph.load("t", branch_id=branch))["log"] == ["in"]
    assert graph.invoke(None, thread_id="t", branch_id=branch).state.log == ["in", "a", "b", "c"]
    assert ran == ["a", "b", "c"]


def test_finished_siblings_of_a_pause_are_not_repeated_and_their_updates_merge(store, ran):
    flow = START >> says("a", ran) >> [asks("ask", ran), says("x", ran), says("y", ran)] >> says("z", ran) >> END
    graph = of(flow, state_store=store)
    graph.invoke({}, thread_id="t")
    branch = forked(graph, "interrupted")
    del ran[:]
    done = graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume("yes"))
    assert done.state.log == ["a", "ask: yes", "x", "y", "z"]
    assert ran == ["ask", "z"]
    assert graph.invoke(None, thread_id="t", resume=Resume("no")).state.log == ["a", "ask: no", "x", "y", "z"]


def test_siblings_recorded_in_the_midst_of_a_superstep_are_not_repeated(store, ran):
    recorded = threading.Event()

    def notices(facts: list[Any]) -> None:
        if any(getattr(fact, "task", None) == "x" for fact in facts):
            recorded.set()

    def slow(state: Log):
        soon(recorded)
        ran.append("slow")
        return {"log": ["slow"]}

    graph = of(START >> says("a", ran) >> [says("x", ran), does("slow", slow)] >> says("z", ran) >> END)
    graph.invoke({}, thread_id="t", state_store=Watched(store, notices))
    branch = forked(store, "node_completed", 1)
    del ran[:]
    assert graph.invoke(None, thread_id="t", branch_id=branch, state_store=store).state.log == ["a", "slow", "x", "z"]
    assert ran == ["slow", "z"]


def test_a_half_marked_join_is_as_marked_in_the_fork(store, ran):
    slow = says("b", ran)
    join = says("join", ran)
    flow = (START >> [says("a", ran), slow], slow >> says("c", ran), ["a", "c"] >> join >> END)
    graph = of(*flow, state_store=store)
    graph.invoke({}, thread_id="t")
    branch = forked(graph, "superstep_completed", 0)
    del ran[:]
    assert graph.invoke(None, thread_id="t", branch_id=branch).state.log == ["a", "b", "c", "join"]
    assert ran == ["c", "join"]


def test_a_running_thread_is_forked_where_it_stands(store, ran):
    names: list[str] = []

    def looks(state: Log):
        if not names:
            names.append(forked(store, "superstep_completed", -1))
        return {"log": [f"b of {len(names)}"]}

    graph = of(START >> says("a", ran) >> does("b", looks) >> END, state_store=store)
    done = graph.invoke({}, thread_id="t")
    other = graph.invoke(None, thread_id="t", branch_id=names[0])
    assert done.state.log == other.state.log == ["a", "b of 1"]
    assert ran == ["a"]


def test_the_fork_says_where_it_began(graph):
    origin = point(graph, "superstep_completed", 0)
    branch = run(graph.fork("t", from_=origin)).id
    last = run(graph.history("t", branch_id=branch)).events[-1]
    assert (last.type, last.data, told(graph, branch=branch).count("forked")) == ("forked", {"from": origin}, 1)
