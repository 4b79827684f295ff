"""Rejected answers beside siblings, hooks, defaults, forks and other processes."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from nodestep import Middleware, Resume, ResumeError, interrupt
from tests.asking import lone
from tests.history.making import side_by_side, told
from tests.running.making import does, run, says


def even(value: int) -> int:
    if value % 2:
        raise ValueError(f"{value} is odd")
    return value


Even = Annotated[int, AfterValidator(even)]


def test_finished_siblings_are_not_repeated_for_it(store, ran):
    ask = does("ask", lambda state: {"n": interrupt("?", id="n", answer=Even)})
    graph = side_by_side(ask, says("x", ran), state_store=store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(3))
    done = graph.invoke(None, thread_id="t", resume=Resume(4))
    assert (done.state.n, done.state.log, ran) == (4, ["a", "x"], ["x"])


def test_a_sibling_that_was_answered_goes_on_and_is_not_asked_again(store):
    def asks(name: str):
        return does(name, lambda state: {"log": [f"{name} {interrupt('?', id='n', answer=Even)}"]})

    graph = side_by_side(asks("x"), asks("y"), state_store=store)
    graph.invoke({}, thread_id="t")
    first = graph.invoke(None, thread_id="t", resume=Resume(answers={"x:n": 2, "y:n": 3}))
    assert list(first.interrupts) == ["y:n"]
    assert graph.invoke(None, thread_id="t", resume=Resume(4)).state.log == ["a", "x 2", "y 4"]


def test_a_node_that_catches_exceptions_does_not_go_on_with_it(store):
    def asks(state):
        try:
            return {"got": interrupt("?", id="a", answer=Even)}
        except Exception:
            return {"got": "went on"}

    graph = lone(asks, store)
    graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume(3)).status == "interrupted"
    assert run(graph.load("t")) == {}


def test_a_validator_that_breaks_does_not_let_the_node_go_on(store):
    def breaks(value: int) -> int:
        raise KeyError("hunter2")

    def asks(state):
        try:
            return {"got": interrupt("?", id="a", answer=Annotated[int, AfterValidator(breaks)])}
        except Exception:
            return {"got": "went on"}

    graph = lone(asks, store)
    graph.invoke({}, thread_id="t")
    with suppress(KeyError):
        assert graph.invoke(None, thread_id="t", resume=Resume(1)).status == "interrupted"
    assert run(graph.load("t")) == {}


def test_a_default_that_the_type_refuses_is_asked_again_when_it_is_taken(store, clock):
    def asks(state):
        return {"got": interrupt("?", id="a", answer=Even, expires=timedelta(hours=1), default=3)}

    graph = lone(asks, store)
    graph.invoke({}, thread_id="t")
    clock.forward(3_600_000)
    assert graph.invoke(None, thread_id="t").status == "interrupted"
    assert graph.invoke(None, thread_id="t", resume=Resume(4)).data == {"got": 4}


def test_a_type_that_changed_while_the_thread_waited_asks_again_with_its_new_schema(store):
    def asking(answer_type: Any):
        return lone(lambda state: {"got": interrupt("?", id="a", answer=answer_type)}, store)

    asking(int).invoke({}, thread_id="t")
    again = asking(str).invoke(None, thread_id="t", resume=Resume(5))
    assert again.interrupts["ask:a"].answer_schema == {"type": "string"}
    assert asking(str).invoke(None, thread_id="t", resume=Resume("five")).data == {"got": "five"}


class Answers(Middleware):
    """Answers with these, one after another, and then leaves the question to a person."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)

    def on_interrupt(self, ctx: Any, payload: Any) -> Any:
        return self.values.pop(0) if self.values else None


def test_a_hooks_answer_that_the_type_refuses_fails_the_node_and_is_not_used(store):
    graph = lone(lambda state: {"got": interrupt("?", id="a", answer=Even)}, store, middleware=[Answers(3)])
    with pytest.raises(ResumeError, match=r"'a'.*'ask'"):
        graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t").status == "interrupted"
    assert graph.invoke(None, thread_id="t", resume=Resume(4)).data == {"got": 4}


def test_a_rejection_is_told_also_where_a_hook_answers_the_second_time(store):
    hook = Answers(None, 4)
    graph = lone(lambda state: {"got": interrupt("?", id="a", answer=Even)}, store, middleware=[hook])
    graph.invoke({}, thread_id="t")
    done = graph.invoke(None, thread_id="t", resume=Resume(3, by="ann"))
    assert done.data == {"got": 4}
    assert "answer_rejected" in told(graph)
    assert [item.rejected is not None for item in run(graph.audit("t")).items].count(True) == 1
