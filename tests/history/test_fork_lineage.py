"""Where forks come from: names, parents, shared events, and how little a fork writes."""

from __future__ import annotations

import pytest

from nodestep import END, START, Resume, when
from tests.history.making import asks, events, forked, point, side_by_side, told, untouched
from tests.running.making import Log, does, of, run, says
from tests.watching import Watched


@pytest.fixture
def graph(store):
    graph = of(START >> says("a") >> says("b") >> asks("ask") >> says("z") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    return graph


def origins(graph) -> list[tuple[str, str | None, str | None]]:
    return [(made.id, made.parent_branch_id, made.from_event_id) for made in run(graph.branches("t"))]


def test_a_thread_that_was_not_forked_has_one_branch(graph):
    assert origins(graph) == [("main", None, None)]


def test_branches_are_told_oldest_first_with_where_they_were_forked(graph, clock):
    first, second = point(graph, "superstep_completed", 0), point(graph, "superstep_completed", 1)
    clock.forward(1000)
    made = [run(graph.fork("t", from_=second, name="two")), run(graph.fork("t", from_=first, name="one"))]
    assert origins(graph) == [("main", None, None), ("two", "main", second), ("one", "main", first)]
    assert run(graph.branches("t"))[1:] == made
    assert made[0].thread_id == "t"
    assert (made[0].created_at - run(graph.branches("t"))[0].created_at).total_seconds() == 1


def test_forks_without_a_name_are_numbered(graph):
    run(graph.fork("t", from_=point(graph, "interrupted"), name="fork-2"))
    assert [forked(graph, "interrupted") for _ in range(3)] == ["fork-1", "fork-3", "fork-4"]


def test_a_fork_of_a_fork_names_the_branch_it_was_taken_from(graph):
    one = forked(graph, "superstep_completed", 0)
    graph.invoke(None, thread_id="t", branch_id=one)
    origin = point(graph, "interrupted", branch=one)
    two = run(graph.fork("t", branch_id=one, from_=origin))
    assert (two.parent_branch_id, two.from_event_id) == (one, origin)
    assert run(graph.branches("t"))[-1] == two


def test_a_fork_of_a_fork_at_an_event_of_the_grandparent_stands_there(graph, store):
    shared = point(graph, "superstep_completed", 0)
    one = forked(graph, "superstep_completed", 1)
    two = run(graph.fork("t", branch_id=one, from_=shared)).id
    with untouched(store, "main", one):
        done = graph.invoke(None, thread_id="t", branch_id=two)
        assert done.state.log == ["a", "b"]
        assert graph.invoke(None, thread_id="t", branch_id=two, resume=Resume(2)).state.log == ["a", "b", "ask: 2", "z"]


def test_a_fork_at_an_event_that_is_shared_is_listed_as_it_was_returned(graph):
    shared = point(graph, "superstep_completed", 0)
    one = forked(graph, "superstep_completed", 1)
    two = run(graph.fork("t", branch_id=one, from_=shared))
    assert (two.parent_branch_id, two.from_event_id) == (one, shared)
    assert run(graph.branches("t"))[-1] == two


def test_where_a_fork_began_can_be_loaded_also_after_a_fork_of_an_event_inside_a_commit(graph):
    inner = next(event for event in events(graph) if "." in event.id and event.sequence > 1)
    one = run(graph.fork("t", from_=inner.id))
    two = run(graph.fork("t", branch_id=one.id, from_=point(graph, "run_started")))
    assert run(graph.branches("t"))[1:] == [one, two]
    for made in (one, two):
        assert run(graph.load("t", made.from_event_id, branch_id=made.parent_branch_id)) == run(
            graph.load("t", branch_id=made.id)
        )


def test_a_fork_is_one_commit_however_long_the_thread_is(store):
    def goes_on(state: Log) -> bool:
        return state.n < 40

    a = does("a", lambda state: {"n": state.n + 1, "log": ["x" * 1000]})
    graph = of(START >> a >> when(goes_on, a, otherwise=END), max_steps=50, state_store=store)
    graph.invoke({}, thread_id="t")
    watched = Watched(store)
    branch = run(graph.fork("t", from_=point(graph, "superstep_completed", 20), state_store=watched)).id

    assert watched.kinds() == [["Forked"]]
    assert len(store.records("t", "main")) == 41
    own = [record for record in store.records("t", branch) if record.branch_no == store.head("t", branch).no]
    assert [len(own), len(own[0].body) < 100] == [1, True]


def test_the_fork_of_a_pause_writes_a_row_for_each_open_question_and_no_more(store):
    graph = side_by_side(asks("x"), asks("y"), says("b"), state_store=store)
    graph.invoke({}, thread_id="t")
    run(graph.answer("t", {"x:ok": 1}))
    branch = forked(graph, "answered")
    assert [row.key for row in store.read("t", branch).questions] == ["y:ok"]
    assert [row.key for row in store.read("t", "main").questions] == ["y:ok"]


def test_the_history_of_a_fork_begins_with_the_shared_events(graph):
    shared = events(graph)
    branch = forked(graph, "superstep_completed", 0)
    graph.invoke(None, thread_id="t", branch_id=branch)
    seen = events(graph, branch=branch)
    begin = [event.id for event in shared if event.sequence <= 2]
    assert [event.id for event in seen[: len(begin)]] == begin
    assert told(graph, branch=branch)[len(begin)] == "forked"
    assert events(graph) == shared


def test_the_checkpoints_of_a_fork_go_on_from_where_it_left(graph):
    branch = forked(graph, "superstep_completed", 0)
    graph.invoke(None, thread_id="t", branch_id=branch)
    main, other = (run(graph.history("t", branch_id=name)) for name in ("main", branch))
    assert other.checkpoints[:2] == main.checkpoints[:2]
    assert not set(other.checkpoints[2:]) & set(main.checkpoints)
    assert [event.sequence for event in other.events] == sorted(event.sequence for event in other.events)
    assert {event.sequence for event in other.events} == set(range(1, other.events[-1].sequence + 1))
    assert (main.branch_id, other.branch_id, other.thread_id) == ("main", branch, "t")


def test_what_a_call_reports_as_its_last_event_is_an_event_of_the_fork(graph):
    branch = forked(graph, "superstep_completed", 0)
    for resume in (None, Resume(1)):
        done = graph.invoke(None, thread_id="t", branch_id=branch, resume=resume)
        assert run(graph.history("t", branch_id=branch)).checkpoints[-1] == done.checkpoint_id
        assert done.checkpoint_id not in run(graph.history("t")).checkpoints


def test_a_fork_may_bear_any_name_that_a_branch_may(graph):
    for name in ("x" * 512, "größer als 1/2", " "):
        assert run(graph.fork("t", from_=point(graph, "interrupted"), name=name)).id == name
        assert run(graph.exists("t", branch_id=name))
