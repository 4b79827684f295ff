"""A thread's state now and at any of its events."""

from __future__ import annotations

import pytest

from nodestep import END, START, GraphConfigError, Resume, StateSnapshot, UnknownThreadError
from tests.history.making import asks, events, forked, point, side_by_side
from tests.running.making import Log, does, of, run, says


@pytest.fixture
def graph(store):
    """Thread `t` paused behind `a`, was answered, and came to its end."""
    graph = of(START >> says("a") >> asks("ask") >> says("z") >> END, state_store=store)
    graph.invoke({"n": 1}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("yes"))
    return graph


def test_without_an_event_it_is_the_state_now(graph):
    assert run(graph.load("t")) == {"log": ["a", "ask: yes", "z"], "n": 1}
    assert run(graph.get_state("t")) == StateSnapshot(Log(log=["a", "ask: yes", "z"], n=1), 6)


def test_every_checkpoint_shows_the_state_as_it_was(graph):
    seen = [run(graph.load("t", at))["log"] for at in run(graph.history("t")).checkpoints]
    assert seen == [[], ["a"], ["a"], ["a"], ["a", "ask: yes"], ["a", "ask: yes", "z"]]


def test_get_state_is_the_same_as_the_state_type_with_the_number_of_the_commit(graph):
    for number, at in enumerate(run(graph.history("t")).checkpoints, 1):
        assert run(graph.get_state("t", at)) == StateSnapshot(Log(**run(graph.load("t", at))), number)


def test_an_event_inside_a_commit_shows_the_state_before_that_commit(graph):
    inner = [event for event in events(graph) if "." in event.id]
    assert inner
    for event in inner:
        before = [found.id for found in events(graph) if found.sequence < event.sequence][-1]
        assert run(graph.load("t", event.id)) == run(graph.load("t", before))
        assert run(graph.get_state("t", event.id)).sequence == event.sequence - 1


def test_finished_siblings_show_when_the_superstep_merged(store):
    graph = side_by_side(asks("ask"), says("x"), state_store=store)
    graph.invoke({}, thread_id="t")
    assert run(graph.load("t"))["log"] == ["a"]
    graph.invoke(None, thread_id="t", resume=Resume(1))
    assert run(graph.load("t", point(graph, "interrupted")))["log"] == ["a"]
    assert run(graph.load("t", point(graph, "run_completed")))["log"] == ["a", "ask: 1", "x"]


def test_a_fork_is_loaded_by_its_own_events_and_by_those_it_shares(graph):
    branch = forked(graph, "interrupted")
    graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume("no"))
    shared, own = point(graph, "superstep_completed"), point(graph, "run_completed", branch=branch)
    assert run(graph.load("t", shared, branch_id=branch))["log"] == ["a"]
    assert run(graph.load("t", own, branch_id=branch))["log"] == ["a", "ask: no", "z"]
    assert run(graph.get_state("t", branch_id=branch)).value.log == ["a", "ask: no", "z"]


def test_what_was_loaded_is_the_callers_own(graph):
    run(graph.load("t"))["log"].append("mine")
    run(graph.get_state("t")).value.log.append("mine")
    assert run(graph.load("t"))["log"] == run(graph.get_state("t")).value.log == ["a", "ask: yes", "z"]


def test_a_store_loads_without_the_graph_also_in_another_process(graph, reopened):
    other = reopened()
    for at in run(graph.history("t")).checkpoints:
        assert run(other.load("t", at)) == run(graph.load("t", at))
    assert run(other.history("t")) == run(graph.history("t"))


def test_a_running_thread_is_read_where_it_stands(store):
    seen: list[list[str]] = []

    def looks(state: Log):
        seen.append(run(own.load("t"))["log"])
        seen.append(run(own.get_state("t")).value.log)

    own = of(START >> says("a") >> says("b") >> does("look", looks) >> END, state_store=store)
    own.invoke({}, thread_id="t")
    assert seen == [["a", "b"], ["a", "b"]]


@pytest.mark.parametrize(("thread", "branch"), [("nobody", "main"), ("t", "nobody")])
def test_what_is_not_there_is_unknown(graph, thread, branch):
    for ask in (graph.load, graph.get_state, graph.history):
        with pytest.raises(UnknownThreadError, match="'nobody'") as caught:
            run(ask(thread, branch_id=branch))
        assert (caught.value.thread_id, caught.value.branch_id) == (thread, branch)
    assert run(graph.exists(thread, branch_id=branch)) is False


def test_what_exists_is_told(graph):
    branch = forked(graph, "interrupted")
    assert run(graph.exists("t"))
    assert run(graph.exists("t", branch_id=branch))
    assert not run(graph.exists("other"))
    with pytest.raises(UnknownThreadError, match="'other'"):
        run(graph.branches("other"))


def test_a_graph_without_a_store_has_no_threads():
    graph = of(START >> says("a") >> END)
    for ask in (
        graph.load("t"),
        graph.history("t"),
        graph.branches("t"),
        graph.fork("t", from_="1-1"),
        graph.threads(),
    ):
        with pytest.raises(GraphConfigError, match="state_store="):
            run(ask)


def test_another_store_may_be_named_in_the_call(graph, store):
    bare = of(START >> says("a") >> END)
    assert run(bare.load("t", state_store=store))["n"] == 1
    with pytest.raises(GraphConfigError, match="state_store="):
        run(store.load("t", state_store=store))
