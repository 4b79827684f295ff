"""What a call may ask for: thread ids, inputs, going on, context."""

from __future__ import annotations

import pytest

from nodestep import (
    END,
    START,
    ContextNotProvidedError,
    GraphConfigError,
    InMemoryStateStore,
    NodeContext,
    Resume,
    ResumeError,
    UnknownThreadError,
    interrupt,
)
from tests.watching import Watched

from .making import Log, both, does, of, run, says


@pytest.mark.parametrize("thread_id", [None, "", 5])
def test_with_a_store_a_thread_id_is_required_before_anything_runs(thread_id):
    ran: list[str] = []
    store = Watched(InMemoryStateStore())
    graph = of(START >> says("a", ran) >> END, state_store=store)

    with pytest.raises(GraphConfigError, match="a text that is not empty, as in"):
        both(graph, {}, thread_id=thread_id)

    assert (ran, store.commits) == ([], [])


def test_without_a_store_the_thread_id_is_made_up():
    graph = of(START >> says("a") >> END)

    assert graph.invoke({}).thread_id != graph.invoke({}).thread_id
    assert graph.invoke({}, thread_id="mine").thread_id == "mine"


@pytest.mark.parametrize(
    "call", [{"initial_state": None}, {"resume": Resume(1)}, {"initial_state": {}, "branch_id": "b"}]
)
def test_without_a_store_there_is_nothing_to_go_on_with(call):
    ran: list[str] = []
    with pytest.raises(GraphConfigError, match="state_store="):
        both(of(START >> says("a", ran) >> END), **call)
    assert ran == []


def test_a_run_without_a_store_has_no_checkpoint():
    assert of(START >> says("a") >> END).invoke({}).checkpoint_id is None


def test_a_call_may_name_another_store():
    mine, other = InMemoryStateStore(), InMemoryStateStore()
    graph = of(START >> says("a") >> END, state_store=mine)
    graph.invoke({}, thread_id="t", state_store=other)

    assert not run(graph.exists("t"))
    assert run(graph.exists("t", state_store=other))


def test_what_is_no_store_is_refused():
    with pytest.raises(GraphConfigError, match="str"):
        of(START >> says("a") >> END).invoke({}, state_store="threads.db", thread_id="t")  # type: ignore[arg-type]


@pytest.mark.parametrize("branch_id", ["main", "other"])
@pytest.mark.parametrize("call", [{}, {"resume": Resume(1)}])
def test_an_unknown_thread_cannot_be_continued_or_answered(call, branch_id, store):
    graph = of(START >> says("a") >> END, state_store=store)
    with pytest.raises(UnknownThreadError) as caught:
        graph.invoke(thread_id="t", branch_id=branch_id, **call)

    assert isinstance(caught.value, ResumeError)
    assert (caught.value.thread_id, caught.value.branch_id) == ("t", branch_id)
    assert not run(graph.exists("t"))


def test_an_unknown_branch_takes_no_input(store):
    graph = of(START >> says("a") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    with pytest.raises(UnknownThreadError, match="'other'"):
        graph.invoke({}, thread_id="t", branch_id="other")


def test_a_completed_thread_cannot_be_continued_or_answered(store):
    graph = of(START >> says("a") >> END, state_store=store)
    graph.invoke({}, thread_id="t")

    for resume in (None, Resume(1)):
        with pytest.raises(ResumeError, match="completed"):
            graph.invoke(None, thread_id="t", resume=resume)


def test_context_reaches_the_nodes_and_is_not_stored(store):
    def reads(state: Log, ctx: NodeContext):
        return {"log": [ctx.context["tenant"]]}

    graph = of(START >> [does("a", reads), does("b", reads)] >> does("c", reads) >> END, state_store=store)

    done = graph.invoke({}, thread_id="t", context={"tenant": "acme"})
    assert done.state.log == ["acme"] * 3


def test_context_that_was_not_passed_is_a_failure_that_says_so_and_can_be_made_good(store):
    def reads(state: Log, ctx: NodeContext):
        return {"log": [ctx.context]}

    graph = of(START >> does("reader", reads) >> END, state_store=store)
    with pytest.raises(ContextNotProvidedError, match=r"'reader'.*context="):
        graph.invoke({}, thread_id="t")

    assert graph.invoke(None, thread_id="t", context="acme").state.log == ["acme"]


def test_falsy_context_is_context():
    def reads(state: Log, ctx: NodeContext):
        return {"n": len(ctx.context)}

    assert of(START >> does("a", reads) >> END).invoke({}, context={}).state.n == 0


def test_step_counts_the_supersteps_of_the_call_from_zero(store):
    steps = []

    def ask(state: Log, ctx: NodeContext):
        steps.append(ctx.step)
        return {"log": [interrupt("?", id="ok")]}

    graph = of(START >> says("a") >> does("ask", ask) >> says("b") >> END, state_store=store)

    assert graph.invoke({}, thread_id="t").step == 1
    assert graph.invoke(None, thread_id="t", resume=Resume("x")).step == 1
    assert steps == [1, 0]


def test_the_checkpoint_of_a_result_is_the_last_event(store):
    graph = of(START >> says("a") >> END, state_store=store)
    result = graph.invoke({}, thread_id="t")
    history = run(graph.history("t"))

    assert result.checkpoint_id == history.events[-1].id == history.checkpoints[-1]
    assert run(graph.load("t", at=result.checkpoint_id)) == result.data


def test_get_state_gives_the_state_type_now_and_at_an_event(store):
    graph = of(START >> says("a") >> says("b") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    first, second, *_ = run(graph.history("t")).checkpoints

    now, then = run(graph.get_state("t")), run(graph.get_state("t", at=second))

    assert (now.value, type(now.value), now.sequence) == (Log(log=["a", "b"]), Log, 3)
    assert (then.value, then.sequence) == (Log(log=["a"]), 2)
    assert run(graph.get_state("t", at=first)).value == Log()
