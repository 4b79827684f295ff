"""An answer that its schema lets through and its type still refuses: recorded as rejected, and asked again."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel, model_validator

from nodestep import END, START, Question, Resume, ResumeError, interrupt, interrupt_many
from tests.asking import lone
from tests.history.making import events, forked, open_keys, told
from tests.running.making import Log, does, of, run, says


def even(value: int) -> int:
    if value % 2:
        raise ValueError(f"{value} is odd")
    return value


Even = Annotated[int, AfterValidator(even)]


class Range(BaseModel):
    low: int
    high: int

    @model_validator(mode="after")
    def in_order(self) -> Range:
        if self.low > self.high:
            raise ValueError("hunter2")
        return self


@pytest.fixture
def graph(store, ran):
    """Thread `t` waits for an even number at `ask:n`."""

    def asks(state: Log):
        ran.append("ask")
        return {"n": interrupt("An even number?", id="n", answer=Even, assignee="ann")}

    graph = of(START >> does("ask", asks) >> says("z", ran) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    return graph


def test_the_run_returns_interrupted_with_the_question_under_a_new_pause(graph, ran):
    (first,) = run(graph.pending("t")).items
    result = graph.invoke(None, thread_id="t", resume=Resume(3))
    assert (result.status, list(result.interrupts), ran) == ("interrupted", ["ask:n"], ["ask", "ask"])
    (second,) = run(graph.pending("t")).items
    assert second == result.interrupts["ask:n"] == first
    assert second.pause == result.interrupts["ask:n"].pause > first.pause
    assert (second.assignee, second.answer_schema) == ("ann", {"type": "integer"})


def test_the_right_answer_then_goes_on(graph):
    graph.invoke(None, thread_id="t", resume=Resume(3))
    graph.invoke(None, thread_id="t", resume=Resume(5))
    done = graph.invoke(None, thread_id="t", resume=Resume(4))
    assert (done.status, done.state.n, done.state.log) == ("completed", 4, ["z"])


def test_an_answer_to_the_rejected_pause_is_refused(graph):
    (first,) = run(graph.pending("t")).items
    graph.invoke(None, thread_id="t", resume=Resume(3, pause=first.pause))
    with pytest.raises(ResumeError, match=f"pause {first.pause}"):
        graph.invoke(None, thread_id="t", resume=Resume(4, pause=first.pause))


def test_history_tells_that_it_was_answered_and_rejected(graph):
    graph.invoke(None, thread_id="t", resume=Resume(3, by="ann"))
    types = told(graph)
    assert types[types.index("answered") :] == ["answered", "run_started", "answer_rejected", "interrupted"]
    (rejected,) = [event for event in events(graph) if event.type == "answer_rejected"]
    assert (rejected.node, rejected.data) == ("ask", {"question": "ask:n"})
    assert rejected.message
    assert "is odd" not in rejected.message


def test_the_audit_has_the_answer_and_its_rejection(graph):
    graph.invoke(None, thread_id="t", resume=Resume(3, by="ann", note="sure"))
    graph.invoke(None, thread_id="t", resume=Resume(4, by="ben"))
    first, rejection, second = run(graph.audit("t")).items
    assert [(item.key, item.value, item.by) for item in (first, second)] == [("ask:n", 3, "ann"), ("ask:n", 4, "ben")]
    assert (first.note, first.source, first.rejected, second.rejected) == ("sure", "api", None, None)
    assert (rejection.key, rejection.value) == ("ask:n", 3)
    assert rejection.rejected
    assert first.pause is not None
    assert second.pause is not None
    assert second.pause > first.pause


def test_what_the_type_says_of_the_value_is_not_told(store):
    graph = lone(lambda state: {"got": interrupt("?", id="a", answer=Range).low}, store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume({"low": 2, "high": 1}))
    (rejected,) = [event for event in events(graph) if event.type == "answer_rejected"]
    assert "hunter2" not in str(rejected)
    assert graph.invoke(None, thread_id="t", resume=Resume({"low": 1, "high": 2})).data == {"got": 1}


def test_an_answer_that_was_collected_is_rejected_when_the_run_comes_to_it(graph):
    assert run(graph.answer("t", {"ask:n": 3}, by="ann")) == ()
    assert open_keys(graph) == []
    assert graph.invoke(None, thread_id="t").status == "interrupted"
    assert open_keys(graph) == ["ask:n"]
    assert run(graph.answer("t", {"ask:n": 4})) == ()
    assert graph.invoke(None, thread_id="t").state.n == 4


def test_only_what_was_rejected_is_asked_again(store):
    def asks(state):
        return interrupt_many({"a": Question("?", answer=Even), "b": Question("?", answer=Even), "c": "C?"})

    graph = lone(asks, store)
    graph.invoke({}, thread_id="t")
    both = Resume(answers={"ask:a": 2, "ask:b": 3, "ask:c": "c"})
    assert list(graph.invoke(None, thread_id="t", resume=both).interrupts) == ["ask:b"]
    assert graph.invoke(None, thread_id="t", resume=Resume(4)).data == {"a": 2, "b": 4, "c": "c"}


def test_it_is_open_again_in_another_process(graph, reopened):
    graph.invoke(None, thread_id="t", resume=Resume(3))
    (asked,) = run(reopened().pending("t")).items
    assert run(reopened().answer("t", {"ask:n": 4}, pause=asked.pause)) == ()
    assert graph.invoke(None, thread_id="t", state_store=reopened()).state.n == 4


def test_a_fork_from_before_and_one_from_after_the_rejection_each_go_on(graph):
    graph.invoke(None, thread_id="t", resume=Resume(3))
    before, after = forked(graph, "interrupted", 0), forked(graph, "interrupted", 1)
    for branch in (before, after):
        assert graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume(6)).state.n == 6
    assert open_keys(graph) == ["ask:n"]
