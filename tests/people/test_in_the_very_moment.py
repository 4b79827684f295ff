"""Answers that meet between reading and writing: what somebody else did meanwhile is seen before anything is written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    NodestepError,
    Resume,
    ResumeError,
    StateStoreError,
    ThreadBusyError,
)
from nodestep.people.inbox import answer
from nodestep.runtime.editing import update_state
from tests.history.making import asks, forked, open_keys, side_by_side, told
from tests.running.making import PATIENCE_S, of, run
from tests.watching import Watched


@pytest.fixture
def graph(store, ran):
    """Thread `t` waits for `x:ok` and `y:ok`."""
    graph = side_by_side(asks("x", ran), asks("y", ran), state_store=store)
    graph.invoke({}, thread_id="t")
    return graph


@pytest.fixture
def single(store, ran):
    """Thread `t` waits for `ask:ok` alone."""
    graph = of(START >> asks("ask", ran) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    return graph


def meanwhile(store, *rivals: Callable[[], Any]) -> Watched:
    """The store, where others do something just before the first commits."""
    left = list(rivals)

    def rival(facts: list[Any]) -> None:
        if left:
            left.pop(0)()

    return Watched(store, rival)


def audit(on: Any) -> list[tuple[Any, ...]]:
    return [(item.key, item.value, item.by) for item in run(on.audit("t")).items]


def test_of_two_answers_in_the_very_moment_one_is_recorded(graph, store):
    rival = meanwhile(store, lambda: answer(store, "t", {"x:ok": "yes"}, by="ann"))
    with pytest.raises(ResumeError, match="'x:ok'"):
        answer(rival, "t", {"x:ok": "no"}, by="ben")
    assert audit(graph) == [("x:ok", "yes", "ann")]
    assert (told(graph).count("answered"), open_keys(graph)) == (1, ["y:ok"])


def test_answers_to_two_questions_in_the_very_moment_are_both_recorded(graph, store):
    rival = meanwhile(store, lambda: answer(store, "t", {"x:ok": 1}, by="ann"))
    assert answer(rival, "t", {"y:ok": 2}, by="ben") == ()
    assert audit(graph) == [("x:ok", 1, "ann"), ("y:ok", 2, "ben")]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "x: 1", "y: 2"]


def test_several_answers_of_which_one_is_taken_meanwhile_are_refused_together(graph, store):
    rival = meanwhile(store, lambda: answer(store, "t", {"x:ok": 1}, by="ann"))
    with pytest.raises(ResumeError, match="'x:ok'"):
        answer(rival, "t", {"y:ok": 2, "x:ok": 2}, by="ben")
    assert (audit(graph), open_keys(graph)) == ([("x:ok", 1, "ann")], ["y:ok"])


def test_a_resume_that_finds_one_of_its_questions_answered_runs_nothing(graph, store, ran):
    rival = meanwhile(store, lambda: answer(store, "t", {"x:ok": 1}, by="ann"))
    both = Resume(answers={"x:ok": 2, "y:ok": 2}, by="ben")
    with pytest.raises(ResumeError, match="'x:ok'"):
        graph.invoke(None, thread_id="t", resume=both, state_store=rival)
    assert (audit(graph), sorted(ran)) == ([("x:ok", 1, "ann")], ["x", "y"])


def test_a_thread_that_went_on_in_the_very_moment_takes_no_answer(single, store):
    rival = meanwhile(store, lambda: single.invoke(None, thread_id="t", resume=Resume("yes", by="ann")))
    with pytest.raises(ResumeError, match="completed"):
        answer(rival, "t", {"ask:ok": "no"}, by="ben")
    assert audit(single) == [("ask:ok", "yes", "ann")]


def test_an_edit_in_the_very_moment_does_not_cost_the_answer(graph, store):
    rival = meanwhile(store, lambda: update_state(graph.blueprint, store, "t", {"n": 5}))
    assert answer(rival, "t", {"x:ok": 1}) == ("y:ok",)
    assert run(graph.load("t"))["n"] == 5


def test_an_answer_that_always_finds_the_thread_changed_gives_up(graph, store):
    rivals: list[str] = []

    def edit(facts: list[Any]) -> None:
        rivals.append(update_state(graph.blueprint, store, "t", {"log": ["rival"]}))
        if len(rivals) > 20:
            raise StateStoreError("it goes round and round")

    with pytest.raises(ThreadBusyError, match=r"'t'.*not recorded"):
        answer(Watched(store, edit), "t", {"x:ok": 1})
    assert (audit(graph), open_keys(graph)) == ([], ["x:ok", "y:ok"])


def test_the_same_question_in_a_fork_has_an_answer_of_its_own(graph):
    branch = forked(graph, "interrupted")
    run(graph.answer("t", {"x:ok": "yes"}, by="ann"))
    assert run(graph.answer("t", {"x:ok": "no"}, by="ben", branch_id=branch)) == ("y:ok",)


def test_many_at_once_leave_one_answer_and_one_run(single, store, ran):
    del ran[:]
    outcomes: list[BaseException | None] = []
    start = threading.Barrier(6)

    def click(by: str) -> None:
        start.wait(PATIENCE_S)
        try:
            if by == "0":
                run(single.answer("t", {"ask:ok": by}, by=by))
            else:
                single.invoke(None, thread_id="t", resume=Resume(by, by=by))
            outcomes.append(None)
        except NodestepError as error:
            outcomes.append(error)

    clicks = [threading.Thread(target=click, args=(str(number),)) for number in range(6)]
    for thread in clicks:
        thread.start()
    for thread in clicks:
        thread.join(PATIENCE_S)
    if run(store.threads()).items[0].status == "ready":
        single.invoke(None, thread_id="t")

    assert len(outcomes) == 6
    assert outcomes.count(None) == 1
    assert {type(error) for error in outcomes if error} <= {ResumeError, ThreadBusyError}
    ((_, value, by),) = audit(single)
    assert (run(single.load("t"))["log"], value, ran) == ([f"ask: {by}"], by, ["ask"])
