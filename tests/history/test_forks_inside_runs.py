"""A fork of the middle, the beginning or the end of a run knows where the run stood, and goes on from there."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from nodestep import END, START, InvalidUpdateError, Resume, ResumeError
from tests.asking import refusal
from tests.history.making import asks, forked, open_keys, point, side_by_side, told, untouched
from tests.lifecycle.standing import Life
from tests.running.making import Log, does, of, returns, run, says, soon
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
            names.append(run(graph.fork("t", from_=point(graph, "superstep_completed", -1))).id)
        return {"log": [f"b of {len(names)}"]}

    graph = of(START >> says("a", ran) >> does("b", looks) >> END, state_store=store)
    done = graph.invoke({}, thread_id="t")
    other = graph.invoke(None, thread_id="t", branch_id=names[0])
    assert done.state.log == other.state.log == ["a", "b of 1"]
    assert ran == ["a"]


def test_a_fork_of_a_failure_runs_again_what_failed(store, clock):
    life = Life(store, clock)
    graph = life.failed()
    branch = forked(graph, "superstep_failed")
    with untouched(store):
        assert graph.invoke(None, thread_id="t", branch_id=branch).data == {"work": "done"}
    assert graph.invoke(None, thread_id="t").data == {"work": "done"}


def test_a_fork_of_a_thread_that_was_cut_off_goes_on(store, clock):
    graph = Life(store, clock).cut_off()
    branch = forked(graph, "run_started")
    with untouched(store):
        assert graph.invoke(None, thread_id="t", branch_id=branch).data == {"work": "done"}


@pytest.fixture
def conflict(store):
    """Thread `t` cannot merge: `x` and `y` both set `n`."""
    graph = side_by_side(returns("x", {"n": 1}), returns("y", {"n": 2}), state_store=store)
    with pytest.raises(InvalidUpdateError, match="'n'"):
        graph.invoke({}, thread_id="t")
    return graph


def test_a_fork_of_a_merge_that_cannot_happen_takes_a_new_input_and_no_call_to_go_on(conflict, store):
    branch = forked(conflict, "superstep_failed")
    with refusal(store, ResumeError, "'n'", "'x'", "'y'", branch=branch):
        conflict.invoke(None, thread_id="t", branch_id=branch)
    with pytest.raises(InvalidUpdateError):
        conflict.invoke({"log": ["again"]}, thread_id="t", branch_id=branch)
    assert run(conflict.load("t", branch_id=branch))["log"] == ["a", "again", "a"]


def test_a_fork_before_a_merge_that_cannot_happen_goes_on_when_the_graph_was_mended(conflict, store, ran):
    branch = forked(conflict, "superstep_completed")
    mended = side_by_side(returns("x", {"n": 1}), says("y", ran), state_store=store)
    with untouched(store):
        done = mended.invoke(None, thread_id="t", branch_id=branch)
    assert (done.state.log, done.state.n, ran) == (["a", "y"], 1, ["y"])


def test_a_cancelled_thread_lives_on_in_a_fork_from_before(store, ran):
    graph = of(START >> asks("ask", ran) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    run(graph.cancel("t"))
    branch = forked(graph, "interrupted")
    assert open_keys(graph) == ["ask:ok"]
    assert graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume(1)).state.log == ["ask: 1"]


def test_a_fork_of_a_cancellation_is_cancelled_and_takes_a_new_input(store, ran):
    graph = of(START >> asks("ask", ran) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    run(graph.cancel("t"))
    branch = forked(graph, "cancelled")
    assert open_keys(graph) == []
    with refusal(store, ResumeError, "cancelled", ran=ran, branch=branch):
        graph.invoke(None, thread_id="t", branch_id=branch)
    assert graph.invoke({}, thread_id="t", branch_id=branch).status == "interrupted"


def test_a_fork_of_a_thread_made_by_an_edit_takes_its_first_input(store, ran):
    graph = of(START >> says("a", ran) >> END, state_store=store)
    made = run(graph.update_state("t", {"log": ["made"]}, create=True))
    branch = run(graph.fork("t", from_=made)).id
    with refusal(store, ResumeError, "completed", ran=ran, branch=branch):
        graph.invoke(None, thread_id="t", branch_id=branch)
    assert graph.invoke({}, thread_id="t", branch_id=branch).state.log == ["made", "a"]


def test_the_fork_says_where_it_began(graph):
    origin = point(graph, "superstep_completed", 0)
    branch = run(graph.fork("t", from_=origin)).id
    last = run(graph.history("t", branch_id=branch)).events[-1]
    assert (last.type, last.data, told(graph, branch=branch).count("forked")) == ("forked", {"from": origin}, 1)
