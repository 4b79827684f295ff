"""Two people answering the same question: one is recorded, the other is told who was first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Command,
    NodestepError,
    Resume,
    ResumeError,
    interrupt,
)
from nodestep.people.inbox import answer
from tests.asking import refusal
from tests.history.making import asks, side_by_side
from tests.running.making import Log, does, of, run
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


def test_the_second_is_told_who_was_first_while_other_questions_are_open(graph, store, ran):
    run(graph.answer("t", {"x:ok": "yes"}, by="ann"))
    with refusal(store, ResumeError, "'x:ok'", "'ann'", ran=ran):
        run(graph.answer("t", {"x:ok": "no"}, by="ben"))


def test_the_second_is_told_who_was_first_when_it_was_the_last_question(single, store, ran):
    run(single.answer("t", {"ask:ok": "yes"}, by="ann"))
    with refusal(store, ResumeError, "'ask:ok'", "'ann'", ran=ran):
        run(single.answer("t", {"ask:ok": "no"}, by="ben"))
    with refusal(store, ResumeError, "'ann'", ran=ran):
        single.invoke(None, thread_id="t", resume=Resume(answers={"ask:ok": "no"}, by="ben"))


def test_a_wrong_answer_to_a_question_that_is_asked_anew_is_not_told_as_answered(store):
    def again(state: Log):
        answer = interrupt("Again?", id="ok", answer=int)
        return Command(update={"n": state.n + 1}, goto=END if answer else "ask")

    graph = of(START >> does("ask", again, goto=["ask"]), state_store=store)
    graph.invoke({}, thread_id="t")
    second = graph.invoke(None, thread_id="t", resume=Resume(0, by="ann")).interrupts["ask:ok"]
    for given, pause in (("many", None), ("many", second.pause), (2**80, None)):
        for call in (
            lambda given=given, pause=pause: run(graph.answer("t", {"ask:ok": given}, pause=pause)),
            lambda given=given, pause=pause: graph.invoke(
                None, thread_id="t", resume=Resume(answers={"ask:ok": given}, pause=pause)
            ),
        ):
            with pytest.raises(NodestepError, match="'ask:ok'") as caught:
                call()
            assert "already" not in str(caught.value)
    with refusal(store, ResumeError, "'ask:okay'", "Did you mean 'ask:ok'?"):
        run(graph.answer("t", {"ask:okay": 1}))


def test_one_who_answers_in_the_very_moment_is_told_who_was_first(graph, store):
    rival = meanwhile(store, lambda: answer(store, "t", {"x:ok": "yes"}, by="ann"))
    with pytest.raises(ResumeError, match=r"'x:ok'.*'ann'"):
        answer(rival, "t", {"x:ok": "no"}, by="ben")
