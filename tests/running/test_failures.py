"""What a failing task does to the run, to its siblings and to what is recorded."""

from __future__ import annotations

import pytest

from nodestep import END, START, InvalidUpdateError, interrupt

from .making import Log, does, of, run, says


def fails(error: Exception | None = None):
    def body(state: Log):
        raise error or ValueError("no")

    return body


class Once:
    """Fails the first time it is asked."""

    def __init__(self, name: str = "again") -> None:
        self.name = name
        self.asked = 0

    def __call__(self, state: Log):
        self.asked += 1
        if self.asked == 1:
            raise ValueError("once")
        return {"log": [self.name]}


def test_the_error_of_a_node_reaches_the_caller_as_it_is():
    error = ValueError("no")
    with pytest.raises(ValueError, match="no") as caught:
        of(START >> does("a", fails(error)) >> END).invoke({})
    assert caught.value is error

    with pytest.raises(ValueError, match="no") as caught:
        run(of(START >> does("a", fails(error)) >> END).ainvoke({}))
    assert caught.value is error


def test_nothing_of_the_failed_superstep_merges(store):
    graph = of(START >> says("a") >> [says("b"), does("c", fails())] >> says("d") >> END, state_store=store)
    with pytest.raises(ValueError, match="no"):
        graph.invoke({}, thread_id="t")

    assert run(graph.load("t"))["log"] == ["a"]


def test_finished_tasks_are_not_run_again(store, reopened):
    ran: list[str] = []
    once = Once("c")

    def graph(kept):
        return of(
            START >> says("a", ran) >> [says("b", ran), does("c", lambda state: once(state))] >> says("d", ran) >> END,
            state_store=kept,
        )

    with pytest.raises(ValueError, match="once"):
        graph(store).invoke({}, thread_id="t")
    assert graph(reopened()).invoke(None, thread_id="t").state.log == ["a", "b", "c", "d"]

    assert (ran, once.asked) == (["a", "b", "d"], 2)


def test_a_lone_failed_task_runs_again(store):
    once = Once()
    graph = of(START >> does("a", lambda state: once(state)) >> END, state_store=store)
    with pytest.raises(ValueError, match="once"):
        graph.invoke({"log": ["x"]}, thread_id="t")

    assert graph.invoke(None, thread_id="t").state.log == ["x", "again"]


def test_a_failure_tells_in_history_which_node_and_what(store):
    graph = of(START >> does("pay", fails(ValueError("no funds"))) >> END, state_store=store)
    with pytest.raises(ValueError, match="no funds"):
        graph.invoke({}, thread_id="t")

    last = run(graph.history("t")).events[-1]
    assert (last.type, last.node, last.error_type, last.message) == (
        "superstep_failed",
        "pay",
        "ValueError",
        "no funds",
    )


def test_new_input_after_a_failure_is_a_new_turn_and_the_unfinished_superstep_stays_in_history(store):
    once = Once()
    graph = of(START >> does("a", lambda state: once(state)) >> END, state_store=store)
    with pytest.raises(ValueError, match="once"):
        graph.invoke({"log": ["x"]}, thread_id="t")

    assert graph.invoke({"log": ["y"]}, thread_id="t").state.log == ["x", "y", "again"]
    types = [event.type for event in run(graph.history("t")).events]
    assert types.index("superstep_failed") < types.index("run_completed")
    assert types.count("run_started") == 2


def test_an_error_of_a_graph_called_inside_a_node_is_the_nodes_and_the_node_runs_again(store):
    fail = [True]

    def inner(state: Log):
        if fail.pop():
            of(
                START >> [does("p", lambda state: {"n": 1}), does("q", lambda state: {"n": 2})] >> says("r") >> END
            ).invoke({})
        return {"n": 7}

    graph = of(START >> does("a", inner) >> END, state_store=store)
    with pytest.raises(InvalidUpdateError):
        graph.invoke({}, thread_id="t")

    fail.append(False)
    assert graph.invoke(None, thread_id="t").state.n == 7


def test_a_question_beside_a_failing_sibling_stays_open_and_what_failed_runs_again(store):
    ran: list[str] = []
    once = Once("b")

    def ask(state: Log):
        ran.append("ask")
        return {"log": [interrupt("?", id="ok")]}

    graph = of(START >> [does("ask", ask), does("b", lambda state: once(state))] >> says("c") >> END, state_store=store)
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")
    assert [item.key for item in run(graph.pending("t")).items] == ["ask:ok"]

    paused = graph.invoke(None, thread_id="t")

    assert (paused.status, list(paused.interrupts)) == ("interrupted", ["ask:ok"])
    assert (ran, once.asked) == (["ask"], 2)
