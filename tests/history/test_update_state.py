"""`update_state`: an edit from outside a run, through the reducers, recorded, and seen by what goes on."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    LeaseLostError,
    Replace,
    Resume,
    ResumeError,
    add,
    interrupt,
    merge_dict,
    when,
)
from nodestep.runtime.editing import update_state
from tests.asking import refusal
from tests.history.making import asks, events, forked, open_keys, point, side_by_side, untouched
from tests.lifecycle.standing import Life
from tests.running.making import Log, does, of, run, says
from tests.watching import Watched


@pytest.fixture
def graph(store, ran):
    """Thread `t` waits for `ask:ok`, and goes to `big` or `small` by what `n` is then."""

    def body(state: Log):
        ran.append("ask")
        return {"log": [f"{interrupt('?', id='ok')} with {state.n}"]}

    def is_big(state: Log) -> bool:
        return state.n > 9

    big, small = says("big", ran), says("small", ran)
    flow = START >> says("a", ran) >> does("ask", body) >> when(is_big, big, otherwise=small)
    graph = of(flow, big >> END, small >> END, state_store=store)
    graph.invoke({"n": 1}, thread_id="t")
    return graph


def edit(on: Any, values: Any, **options: Any) -> str:
    return run(on.update_state("t", values, **options))


def test_the_task_that_was_paused_sees_it_and_so_does_the_router_behind(graph, ran):
    edit(graph, {"n": 10})
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert (done.state.n, done.state.log) == (10, ["a", "yes with 10", "big"])
    assert ran == ["a", "ask", "ask", "big"]


def test_it_starts_nothing_and_leaves_the_question_open(graph, ran):
    before = run(graph.pending("t"))
    del ran[:]
    edit(graph, {"n": 10})
    assert (ran, run(graph.pending("t"))) == ([], before)
    assert run(graph.load("t")) == {"n": 10, "log": ["a"]}


def test_it_returns_the_event_that_tells_it(graph):
    at = edit(graph, {"n": 10, "log": ["edit"]})
    last = events(graph)[-1]
    assert (last.id, last.type, last.data) == (at, "state_updated", {"set": {"n": 10}, "append": {"log": ["edit"]}})
    assert run(graph.history("t")).checkpoints[-1] == at
    assert run(graph.load("t", at)) == {"n": 10, "log": ["a", "edit"]}
    assert run(graph.load("t", point(graph, "interrupted"))) == {"n": 1, "log": ["a"]}


def test_it_goes_through_the_reducers_and_replace_goes_round_them(store):
    class Kept(BaseState):
        log: Annotated[list[str], add] = Field(default_factory=list)
        table: Annotated[dict[str, int], merge_dict] = Field(default_factory=dict)
        most: Annotated[int, lambda current, update: max(current or 0, update)] = 0

    graph = Graph(Kept, state_store=store).flow(START >> does("a", lambda state: None) >> END)
    graph.invoke({"log": ["in"], "table": {"a": 1}, "most": 5}, thread_id="t")
    edit(graph, {"log": ["x"], "table": {"b": 2}, "most": 3})
    assert run(graph.load("t")) == {"log": ["in", "x"], "table": {"a": 1, "b": 2}, "most": 5}
    edit(graph, {"log": Replace([]), "table": Replace({"c": 3}), "most": Replace(1)})
    assert run(graph.load("t")) == {"log": [], "table": {"c": 3}, "most": 1}
    assert graph.invoke({}, thread_id="t").state == Kept(table={"c": 3}, most=1)


def test_a_finished_siblings_update_merges_on_top_where_the_reducer_merges(store):
    graph = side_by_side(asks("ask"), says("x"), state_store=store)
    graph.invoke({}, thread_id="t")
    edit(graph, {"log": ["edit"]})
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).state.log == ["a", "edit", "ask: 1", "x"]


def test_answers_collected_before_and_after_it_are_kept(store):
    graph = side_by_side(asks("x"), asks("y"), state_store=store)
    graph.invoke({}, thread_id="t")
    run(graph.answer("t", {"x:ok": 1}))
    edit(graph, {"log": ["edit"]})
    assert open_keys(graph) == ["y:ok"]
    run(graph.answer("t", {"y:ok": 2}))
    edit(graph, {"n": 5})
    done = graph.invoke(None, thread_id="t")
    assert (done.state.log, done.state.n) == (["a", "edit", "x: 1", "y: 2"], 5)


def test_a_failed_task_that_runs_again_sees_it(store, clock):
    life = Life(store, clock)
    graph = life.failed()
    edit(graph, {"given": 5})
    assert graph.invoke(None, thread_id="t").data == {"given": 5, "work": "done"}
    assert life.ran == ["work", "work"]


def test_a_run_that_was_cut_off_goes_on_with_it(store, clock):
    graph = Life(store, clock).cut_off()
    edit(graph, {"given": 5})
    assert graph.invoke(None, thread_id="t").data == {"given": 5, "work": "done"}


@pytest.mark.parametrize("stands", ["completed", "cancelled"])
def test_the_next_turn_of_a_thread_that_is_over_begins_with_it(store, clock, stands):
    graph = getattr(Life(store, clock), stands)()
    edit(graph, {"given": 5})
    with refusal(store, ResumeError, stands):
        graph.invoke(None, thread_id="t")
    assert graph.invoke({}, thread_id="t").data == {"first": True, "work": "done", "given": 5}


def test_an_edit_of_a_fork_leaves_the_original_alone(graph, store):
    branch = forked(graph, "interrupted")
    with untouched(store):
        at = edit(graph, {"n": 10}, branch_id=branch)
    assert at == events(graph, branch=branch)[-1].id
    assert graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume("x")).state.log[-1] == "big"
    assert graph.invoke(None, thread_id="t", resume=Resume("x")).state.log[-1] == "small"


def test_a_run_whose_lease_has_ended_is_shut_out_by_an_edit(store, clock):
    stalled = [True]

    def stalls(state: Log):
        if stalled:
            stalled.pop()
            clock.forward(60_000)
            edit(graph, {"n": 5})
        return {"log": [f"b of {state.n}"]}

    graph = of(START >> says("a") >> does("b", stalls) >> END, state_store=store)
    with pytest.raises(LeaseLostError, match="'t'"):
        graph.invoke({}, thread_id="t")
    assert run(graph.load("t")) == {"n": 5, "log": ["a"]}
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b of 5"]


def test_an_edit_of_nothing_changes_nothing_but_is_told(graph):
    edit(graph, {})
    assert run(graph.load("t")) == {"n": 1, "log": ["a"]}
    assert events(graph)[-1].type == "state_updated"


def test_it_survives_a_restart(graph, reopened):
    edit(graph, {"n": 10})
    assert run(reopened().load("t"))["n"] == 10


def test_two_edits_at_once_are_both_kept(graph, store):
    """The second finds the thread changed when it writes, and looks again."""
    rivals = [lambda: update_state(graph.blueprint, store, "t", {"log": ["one"]})]

    def first(facts: list[Any]) -> None:
        if rivals:
            rivals.pop()()

    edit(graph, {"log": ["two"]}, state_store=Watched(store, first))
    assert run(graph.load("t"))["log"] == ["a", "one", "two"]
