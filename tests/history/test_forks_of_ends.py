"""A fork of a run that failed, could not merge, was cut off, cancelled, or never began."""

from __future__ import annotations

import pytest

from nodestep import END, START, InvalidUpdateError, Resume, ResumeError
from tests.asking import refusal
from tests.history.making import asks, forked, open_keys, side_by_side, untouched
from tests.lifecycle.standing import Life
from tests.running.making import of, returns, run, says


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
