"""Questions with a deadline: nothing fires by itself, and what comes next reads the clock of the store."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from nodestep import (
    InterruptExpiredError,
    Resume,
    ResumeError,
    interrupt,
)
from tests.asking import lone, refusal
from tests.history.making import events, open_keys, told
from tests.running.making import run

HOUR = timedelta(hours=1)
HOUR_MS = 3_600_000


@pytest.fixture
def graph(store, ran):
    """Thread `t` waits for `ask:a` for an hour; then `nobody` decides."""

    def asks(state):
        ran.append("ask")
        return {"got": interrupt("?", id="a", expires=HOUR, default="nobody")}

    graph = lone(asks, store)
    graph.invoke({}, thread_id="t")
    return graph


def test_before_the_deadline_it_is_a_question_like_any_other(graph, clock, store, ran):
    clock.forward(HOUR_MS - 1)
    assert open_keys(graph) == ["ask:a"]
    with refusal(store, ResumeError, "'ask:a'", ran=ran):
        graph.invoke(None, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).data == {"got": "yes"}
    assert "expired" not in told(graph)


def test_nothing_happens_by_itself_when_the_deadline_passes(graph, clock, store, ran):
    before = store.read("t", "main")
    clock.forward(10 * HOUR_MS)
    assert store.read("t", "main") == before
    assert ran == ["ask"]


@pytest.mark.parametrize("by_store", [False, True])
def test_an_answer_after_it_is_refused_and_nothing_is_written(graph, store, clock, ran, by_store):
    clock.forward(HOUR_MS)
    for answers in (Resume("late"), Resume(answers={"ask:a": "late"})):
        with refusal(store, InterruptExpiredError, "'ask:a'", ran=ran):
            graph.invoke(None, thread_id="t", resume=answers)
    with refusal(store, InterruptExpiredError, "'ask:a'", ran=ran):
        run((store if by_store else graph).answer("t", {"ask:a": "late"}))
    assert run(graph.audit("t")).items == ()


def test_the_next_run_takes_the_default(graph, clock, ran):
    clock.forward(HOUR_MS)
    assert graph.invoke(None, thread_id="t").data == {"got": "nobody"}
    assert ran == ["ask", "ask"]


def test_the_expiry_is_recorded_as_one_and_never_as_a_persons_decision(graph, clock):
    clock.forward(HOUR_MS)
    graph.invoke(None, thread_id="t")
    types = told(graph)
    assert "answered" not in types
    assert types[types.index("interrupted") + 1 :][:2] == ["expired", "run_started"]
    (event,) = [event for event in events(graph) if event.type == "expired"]
    assert event.data == {"questions": ["ask:a"]}
    (kept,) = run(graph.audit("t")).items
    assert (kept.key, kept.value, kept.source, kept.by, kept.note) == ("ask:a", "nobody", "expiry", None, None)
    assert kept.pause is not None


def test_a_new_input_is_refused_until_the_thread_has_gone_on(graph, store, clock, ran):
    clock.forward(HOUR_MS)
    with refusal(store, ResumeError, "invoke(None)", ran=ran):
        graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t")
    assert graph.invoke({}, thread_id="t").status == "interrupted"


def test_another_process_reads_the_deadline_as_well(graph, reopened, clock):
    clock.forward(HOUR_MS)
    assert graph.invoke(None, thread_id="t", state_store=reopened()).data == {"got": "nobody"}


@pytest.mark.parametrize("default", [None, False, 0, "", [], {"a": 1}])
def test_any_json_value_is_a_default(store, clock, default):
    graph = lone(lambda state: {"got": interrupt("?", id="a", expires=HOUR, default=default)}, store)
    graph.invoke({}, thread_id="t")
    clock.forward(HOUR_MS)
    assert graph.invoke(None, thread_id="t").data == {"got": default}


def test_a_default_becomes_the_type(store, clock):
    got: list[Any] = []

    def asks(state):
        got.append(interrupt("?", id="a", answer=timedelta, expires=HOUR, default=HOUR))

    graph = lone(asks, store)
    graph.invoke({}, thread_id="t")
    clock.forward(HOUR_MS)
    graph.invoke(None, thread_id="t")
    assert got == [HOUR]
