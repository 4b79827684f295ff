"""A question past its deadline beside others, and clocks that do not go forward."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from nodestep import InterruptExpiredError, Question, Resume, ResumeError, interrupt_many
from tests.asking import lone, refusal
from tests.history.making import asks, events, open_keys, side_by_side, told
from tests.running.making import does, run

HOUR_MS = 3_600_000


@pytest.fixture
def graph(store, ran):
    """Thread `t` waits for `long:ok`, and for an hour for `short:ok`."""
    short = asks("short", ran, expires=timedelta(hours=1), default="nobody")
    graph = side_by_side(asks("long", ran), short, state_store=store)
    graph.invoke({}, thread_id="t")
    return graph


DONE = ["a", "long: yes", "short: nobody"]


def test_a_bare_value_answers_the_one_that_is_still_open(graph, clock):
    clock.forward(HOUR_MS)
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == DONE


def test_answers_name_only_the_rest(graph, store, clock, ran):
    clock.forward(HOUR_MS)
    with refusal(store, InterruptExpiredError, "'short:ok'", ran=ran):
        graph.invoke(None, thread_id="t", resume=Resume(answers={"long:ok": "yes", "short:ok": "late"}))
    done = graph.invoke(None, thread_id="t", resume=Resume(answers={"long:ok": "yes"}))
    assert done.state.log == DONE
    (event,) = [event for event in events(graph) if event.type == "expired"]
    assert event.data == {"questions": ["short:ok"]}
    assert {(item.key, item.source) for item in run(graph.audit("t")).items} == {
        ("long:ok", "api"),
        ("short:ok", "expiry"),
    }


def test_before_the_deadline_both_have_to_be_answered(graph, store, ran):
    with refusal(store, ResumeError, "'short:ok'", ran=ran):
        graph.invoke(None, thread_id="t", resume=Resume(answers={"long:ok": "yes"}))


def test_the_thread_still_waits_for_the_one_that_has_no_deadline(graph, store, clock, ran):
    clock.forward(HOUR_MS)
    assert open_keys(graph) == ["long:ok"]
    assert run(graph.threads()).items[0].status == "interrupted"
    inputs: list[Any] = [None, {}]
    for input in inputs:
        with refusal(store, ResumeError, "'long:ok'", ran=ran) as caught:
            graph.invoke(input, thread_id="t")
        assert "short" not in str(caught.value)


def test_answers_collected_one_by_one_leave_the_expired_one_out(graph, store, clock, ran):
    clock.forward(HOUR_MS)
    with refusal(store, InterruptExpiredError, "'short:ok'", ran=ran):
        run(graph.answer("t", {"short:ok": "late"}))
    with refusal(store, InterruptExpiredError, "'short:ok'", ran=ran):
        run(graph.answer("t", {"long:ok": "yes", "short:ok": "late"}))
    assert run(graph.answer("t", {"long:ok": "yes"})) == ()
    assert run(graph.threads()).items[0].status == "ready"
    assert graph.invoke(None, thread_id="t").state.log == DONE


def test_an_answer_given_in_time_counts_also_when_the_run_comes_later(graph, clock):
    assert run(graph.answer("t", {"short:ok": "in time"})) == ("long:ok",)
    clock.forward(HOUR_MS)
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["a", "long: yes", "short: in time"]
    assert "expired" not in told(graph)


def test_what_answer_says_is_still_open_leaves_the_expired_ones_out(store, clock):
    def body(state):
        hour = timedelta(hours=1)
        return interrupt_many({"a": "A?", "b": Question("B?", expires=hour, default=0), "c": "C?"})

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    clock.forward(HOUR_MS)
    assert run(graph.answer("t", {"ask:a": 1})) == ("ask:c",)
    assert run(graph.answer("t", {"ask:c": 3})) == ()
    assert graph.invoke(None, thread_id="t").data == {"a": 1, "b": 0, "c": 3}


def test_all_expired_is_told_of_a_bare_value(store, clock, ran):
    hour, two = timedelta(hours=1), timedelta(hours=2)
    graph = side_by_side(
        asks("x", ran, expires=hour, default=1), asks("y", ran, expires=two, default=2), state_store=store
    )
    graph.invoke({}, thread_id="t")
    clock.forward(2 * HOUR_MS)
    with refusal(store, InterruptExpiredError, "'x:ok'", "'y:ok'", ran=ran):
        graph.invoke(None, thread_id="t", resume=Resume("late"))
    assert graph.invoke(None, thread_id="t").state.log == ["a", "x: 1", "y: 2"]


def test_an_unknown_key_on_an_expired_thread_is_told_as_unknown(graph, store, clock, ran):
    run(graph.answer("t", {"long:ok": "yes"}))
    clock.forward(HOUR_MS)
    with refusal(store, ResumeError, "'lnog:ok'", ran=ran):
        graph.invoke(None, thread_id="t", resume=Resume(answers={"lnog:ok": 1}))


def test_a_failed_thread_whose_question_expired_goes_on_with_the_default(store, clock):
    broken = [True]

    def fails(state):
        if broken:
            raise OSError(broken.pop())
        return {"log": ["work"]}

    ask = asks("ask", expires=timedelta(hours=1), default="nobody")
    graph = side_by_side(ask, does("work", fails), state_store=store)
    with pytest.raises(OSError, match="True"):
        graph.invoke({}, thread_id="t")
    clock.forward(HOUR_MS)
    assert graph.invoke(None, thread_id="t").state.log == ["a", "ask: nobody", "work"]


# Clocks


def test_a_clock_that_goes_back_before_anything_was_recorded_opens_the_question_again(graph, clock):
    clock.forward(HOUR_MS)
    assert open_keys(graph) == ["long:ok"]
    clock.forward(-HOUR_MS)
    assert open_keys(graph) == ["long:ok", "short:ok"]
    both = Resume(answers={"long:ok": "yes", "short:ok": "in time after all"})
    assert graph.invoke(None, thread_id="t", resume=both).state.log == ["a", "long: yes", "short: in time after all"]


def test_a_clock_that_goes_back_does_not_undo_an_expiry_that_was_recorded(store, clock):
    def body(state):
        short = interrupt_many({"a": Question("A?", expires=timedelta(hours=1), default="nobody")})
        return {**short, **interrupt_many({"b": "B?"})}

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    clock.forward(HOUR_MS)
    assert list(graph.invoke(None, thread_id="t").interrupts) == ["ask:b"]
    clock.forward(-10 * HOUR_MS)
    assert open_keys(graph) == ["ask:b"]
    with refusal(store, ResumeError, "'ask:a'"):
        run(graph.answer("t", {"ask:a": "late"}))
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).data == {"a": "nobody", "b": 1}


def test_a_day_forward_and_back_between_any_two_calls_loses_no_answer(graph, clock):
    day = 24 * HOUR_MS
    clock.forward(-day)
    assert run(graph.answer("t", {"short:ok": "yes"})) == ("long:ok",)
    clock.forward(2 * day)
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["a", "long: yes", "short: yes"]
    clock.forward(-2 * day)
    assert run(graph.audit("t")).items[0].key == "short:ok"
