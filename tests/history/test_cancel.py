"""`cancel` ends a thread where it stands: what was open closes, and a new input starts another turn."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    LimitExceededError,
    NodeContext,
    Resume,
    ResumeError,
    UnknownThreadError,
    interrupt,
)
from tests.asking import refusal
from tests.history.making import asks, events, forked, open_keys, side_by_side, told, untouched
from tests.lifecycle.standing import Life
from tests.running.making import Log, does, of, run, says


@pytest.fixture
def graph(store, ran):
    """Thread `t` waits for `x:ok` and `y:ok`; `says` has finished beside them."""
    graph = side_by_side(asks("x", ran), asks("y", ran), says("says", ran), state_store=store)
    graph.invoke({}, thread_id="t")
    return graph


def cancel(on: Any, thread: str = "t", **options: Any) -> None:
    run(on.cancel(thread, **options))


def status(on: Any) -> str:
    return run(on.threads()).items[0].status


def test_the_questions_close_and_nothing_runs(graph, ran):
    del ran[:]
    cancel(graph)
    assert (open_keys(graph), ran, status(graph)) == ([], [], "cancelled")


def test_it_is_told_with_its_reason(graph):
    cancel(graph, reason="the customer went away")
    last = events(graph)[-1]
    assert (last.type, last.message) == ("cancelled", "the customer went away")
    assert run(graph.history("t")).checkpoints[-1] == last.id


def test_a_cancelled_thread_takes_no_answer_and_does_not_go_on(graph, store, ran):
    cancel(graph)
    with refusal(store, ResumeError, "cancelled", ran=ran):
        graph.invoke(None, thread_id="t")
    for answers in (Resume(1), Resume(answers={"x:ok": 1, "y:ok": 2})):
        with refusal(store, ResumeError, "cancelled", ran=ran):
            graph.invoke(None, thread_id="t", resume=answers)
    with refusal(store, ResumeError, "cancelled", ran=ran):
        run(graph.answer("t", {"x:ok": 1}))


def test_the_state_stays_as_it_was_and_what_had_not_merged_is_not_in_it(graph):
    cancel(graph)
    assert run(graph.load("t")) == {"log": ["a"], "n": 0}


def test_a_new_input_starts_a_turn_that_knows_nothing_of_the_old_one(store):
    def asking(state: Log, ctx: NodeContext):
        ctx.cache["runs"] = ctx.cache.get("runs", 0) + 1
        first = ctx.once("first", lambda: state.log)
        return {"log": [f"{first} {ctx.cache['runs']} {interrupt('?', id='ok')}"]}

    graph = of(START >> does("ask", asking) >> END, state_store=store)
    old = graph.invoke({"log": ["old"]}, thread_id="t").interrupts["ask:ok"]
    cancel(graph)
    new = graph.invoke({"log": ["new"]}, thread_id="t").interrupts["ask:ok"]
    assert new.pause != old.pause
    with refusal(store, ResumeError, f"pause {old.pause}"):
        graph.invoke(None, thread_id="t", resume=Resume("late", pause=old.pause))
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["old", "new", "['old', 'new'] 2 yes"]


def test_it_reads_the_same_in_another_process(graph, reopened):
    cancel(reopened(), reason="from elsewhere")
    assert (status(graph), told(graph)[-1], open_keys(graph)) == ("cancelled", "cancelled", [])


@pytest.mark.parametrize("stands", ["interrupted", "ready", "failed", "failed_and_open", "cut_off"])
def test_a_thread_that_is_not_over_is_cancelled_wherever_it_stands(store, clock, stands):
    life = Life(store, clock)
    graph = getattr(life, stands)()
    del life.ran[:]
    cancel(graph)
    assert (status(graph), open_keys(graph), life.ran) == ("cancelled", [], [])
    assert graph.invoke({"new": True}, thread_id="t").data["new"] is True


@pytest.mark.parametrize("stands", ["completed", "cancelled"])
def test_a_thread_that_is_over_has_nothing_to_cancel(store, clock, stands):
    graph = getattr(Life(store, clock), stands)()
    with refusal(store, ResumeError, "'t'", stands):
        cancel(graph)


@pytest.mark.parametrize(("thread", "branch"), [("nobody", "main"), ("t", "nobody")])
def test_a_thread_that_is_not_there_is_unknown(graph, store, thread, branch):
    with untouched(store), pytest.raises(UnknownThreadError, match="'nobody'"):
        cancel(graph, thread, branch_id=branch)


def test_a_reason_that_cannot_be_stored_is_refused(graph, store):
    for reason in ("a\0b", "x" * (1 << 20)):
        with refusal(store, LimitExceededError, "reason"):
            cancel(graph, reason=reason)


def test_a_reason_that_is_no_text_is_refused(graph, store):
    for reason in (5, object(), ["gone"]):
        with refusal(store, TypeError, "reason"):
            cancel(graph, reason=reason)


def test_a_fork_is_cancelled_on_its_own_and_so_is_the_original(graph, store):
    branch = forked(graph, "interrupted")
    with untouched(store):
        cancel(graph, branch_id=branch)
    assert open_keys(graph, branch_id=branch) == []
    assert open_keys(graph) == ["x:ok", "y:ok"]

    other = forked(graph, "interrupted")
    with untouched(store, branch, other):
        cancel(graph)
    assert {asked.branch_id for asked in run(graph.pending("t")).items} == {other}


def test_an_expired_question_does_not_keep_a_thread_from_being_cancelled(store, clock):
    graph = of(START >> asks("ask", expires=timedelta(hours=1)) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    clock.forward(3_600_000)
    cancel(graph)
    assert status(graph) == "cancelled"
    assert "expired" not in told(graph)
