"""A fork of a pause waits as the original does, and each is answered on its own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from nodestep import END, START, InterruptExpiredError, Resume, ResumeError
from tests.asking import refusal
from tests.history.making import asks, forked, open_keys, side_by_side, told, untouched
from tests.running.making import does, of, run, says


@pytest.fixture
def graph(store, ran):
    """Thread `t` waits for `ask:ok` behind `a`."""
    graph = of(START >> says("a", ran) >> asks("ask", ran) >> says("z", ran) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    return graph


def answered(graph, value, branch="main"):
    return graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume(value)).state.log


def test_the_fork_takes_its_own_answer_and_the_original_still_waits(graph, store, ran):
    branch = forked(graph, "interrupted")
    with untouched(store):
        assert answered(graph, "no", branch) == ["a", "ask: no", "z"]
    assert open_keys(graph) == ["ask:ok"]
    assert answered(graph, "yes") == ["a", "ask: yes", "z"]
    assert run(graph.load("t", branch_id=branch))["log"] == ["a", "ask: no", "z"]
    assert ran == ["a", "ask", "ask", "z", "ask", "z"]


def test_two_forks_of_a_pause_take_two_answers(graph):
    one, two = forked(graph, "interrupted"), forked(graph, "interrupted")
    assert answered(graph, 1, one) == ["a", "ask: 1", "z"]
    assert answered(graph, 2, two) == ["a", "ask: 2", "z"]


def test_forking_leaves_the_original_as_it_was(graph, store):
    with untouched(store):
        forked(graph, "interrupted")


def test_a_pause_that_was_answered_meanwhile_is_open_again_in_its_fork(graph):
    assert answered(graph, "yes") == ["a", "ask: yes", "z"]
    branch = forked(graph, "interrupted")
    assert open_keys(graph, branch_id=branch) == ["ask:ok"]
    assert answered(graph, "no", branch) == ["a", "ask: no", "z"]
    assert run(graph.load("t"))["log"] == ["a", "ask: yes", "z"]


def test_the_question_keeps_its_pause_and_everything_it_came_with(store, clock):
    ask = asks("ask", answer=int, assignee="ann", expires=timedelta(hours=1), default=0)
    graph = of(START >> ask >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    clock.forward(60_000)
    branch = forked(graph, "interrupted")

    main, other = run(graph.pending("t")).items
    assert (main, main.branch_id, other.branch_id) == (other, "main", branch)
    for name in ("pause", "asked_at", "expires_at", "answer_schema", "assignee", "graph", "thread_id"):
        assert getattr(other, name) == getattr(main, name) is not None


def test_an_answer_bound_to_the_pause_fits_the_fork_as_well(graph, store):
    (asked,) = run(graph.pending("t")).items
    branch = forked(graph, "interrupted")
    wrong = Resume("x", pause=asked.pause + 1)
    with refusal(store, ResumeError, f"pause {asked.pause}", branch=branch):
        graph.invoke(None, thread_id="t", branch_id=branch, resume=wrong)
    right = Resume("x", pause=asked.pause)
    assert graph.invoke(None, thread_id="t", branch_id=branch, resume=right).status == "completed"


def test_the_fork_of_a_pause_takes_no_input_and_does_not_go_on_by_itself(graph, store, ran):
    branch = forked(graph, "interrupted")
    inputs: list[Any] = [None, {}]
    for input in inputs:
        with refusal(store, ResumeError, "'ask:ok'", ran=ran, branch=branch):
            graph.invoke(input, thread_id="t", branch_id=branch)


def test_the_fork_is_answered_one_by_one_without_the_graph(graph, store, ran):
    branch = forked(store, "interrupted")
    with untouched(store):
        assert run(store.answer("t", {"ask:ok": "late"}, branch_id=branch)) == ()
    assert open_keys(store) == ["ask:ok"]
    assert graph.invoke(None, thread_id="t", branch_id=branch).state.log == ["a", "ask: late", "z"]


def test_a_fork_of_half_collected_answers_keeps_them_and_asks_for_the_rest(store):
    graph = side_by_side(asks("x"), asks("y"), state_store=store)
    graph.invoke({}, thread_id="t")
    run(graph.answer("t", {"x:ok": 1}))
    branch = forked(graph, "answered")
    run(graph.answer("t", {"y:ok": 2}))

    assert open_keys(graph) == ["y:ok"]
    done = graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume(answers={"y:ok": 3}))
    assert done.state.log == ["a", "x: 1", "y: 3"]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "x: 1", "y: 2"]


def test_a_fork_where_every_answer_was_in_is_ready(graph, store, ran):
    run(graph.answer("t", {"ask:ok": "early"}))
    branch = forked(graph, "answered")
    graph.invoke(None, thread_id="t")
    with refusal(store, ResumeError, "ready", ran=ran, branch=branch):
        graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume(1))
    assert graph.invoke(None, thread_id="t", branch_id=branch).state.log == ["a", "ask: early", "z"]


def test_a_fork_of_a_failed_run_with_a_question_answers_and_runs_again_what_failed(store, ran):
    broken = ["once"]

    def fails(state):
        ran.append("work")
        if broken:
            raise OSError(broken.pop())
        return {"log": ["work"]}

    graph = side_by_side(asks("ask", ran), does("work", fails), says("done", ran), state_store=store)
    with pytest.raises(OSError, match="once"):
        graph.invoke({}, thread_id="t")
    branch = forked(graph, "superstep_failed")
    del ran[:]

    assert answered(graph, 1, branch) == ["a", "ask: 1", "done", "work"]
    assert sorted(ran) == ["ask", "work"]
    assert open_keys(graph) == ["ask:ok"]


def test_the_deadline_of_a_question_holds_in_its_fork(store, clock):
    graph = of(START >> asks("ask", expires=timedelta(hours=1), default="nobody") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    branch = forked(graph, "interrupted")
    clock.forward(3_600_000)
    assert open_keys(graph) == []
    with refusal(store, InterruptExpiredError, "'ask:ok'", branch=branch):
        graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume("late"))
    assert graph.invoke(None, thread_id="t", branch_id=branch).state.log == ["ask: nobody"]
    assert "expired" in told(graph, branch=branch)
    assert "expired" not in told(graph)


def test_a_fork_of_an_expired_pause_is_expired(store, clock):
    graph = of(START >> asks("ask", expires=timedelta(hours=1), default="nobody") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    clock.forward(3_600_000)
    branch = forked(graph, "interrupted")
    assert open_keys(graph) == []
    assert graph.invoke(None, thread_id="t", branch_id=branch).state.log == ["ask: nobody"]


def test_a_fork_of_a_fork_of_a_pause_waits_as_well(graph, store):
    one = forked(graph, "interrupted")
    two = forked(graph, "interrupted", branch=one)
    with untouched(store, "main", one):
        assert answered(graph, "two", two) == ["a", "ask: two", "z"]
    assert answered(graph, "one", one) == ["a", "ask: one", "z"]
    assert open_keys(graph) == ["ask:ok"]


def test_a_pause_forked_in_another_process_is_answered_there(graph, store, reopened):
    branch = forked(reopened(), "interrupted")
    assert answered(graph, "here", branch) == ["a", "ask: here", "z"]
    assert open_keys(reopened()) == ["ask:ok"]
