"""The lifecycle table, its cells that go on: what runs, and what the branch holds then."""

from __future__ import annotations

import asyncio

import pytest

from nodestep import END, START, Graph, Resume, interrupt_many, node
from nodestep.stores.base import Status
from tests.asking import kept
from tests.lifecycle.standing import FORMS, answering, going_on, invoke, resuming, starting

FORM = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)


def state_of(graph):
    return asyncio.run(graph.load("t"))


def kinds(graph) -> list[str]:
    return [event.type for event in asyncio.run(graph.history("t")).events]


def status_of(life) -> Status:
    return life.store.head("t", "main").status


@FORM
def test_interrupted_takes_an_answer_and_goes_on(life, form):
    graph = life.interrupted()
    resuming(form, graph)
    assert (state_of(graph), status_of(life)) == ({"got": "late"}, Status.COMPLETED)
    assert life.ran == ["ask", "ask"]


def test_interrupted_records_a_collected_answer_and_runs_nothing(life):
    graph = life.interrupted()
    assert answering(invoke, graph) == ()
    assert (life.ran, status_of(life)) == (["ask"], Status.READY)
    assert kinds(graph)[-1] == "answered"
    assert asyncio.run(graph.pending("t")).items == ()


@FORM
def test_ready_goes_on_with_what_was_collected(life, form):
    graph = life.ready()
    going_on(form, graph)
    assert (state_of(graph), status_of(life)) == ({"got": "early"}, Status.COMPLETED)


@FORM
@pytest.mark.parametrize("state", ["failed", "cut_off"])
def test_failed_or_cut_off_goes_on(life, form, state):
    graph = getattr(life, state)()
    life.ran.clear()
    going_on(form, graph)
    assert (state_of(graph), status_of(life), life.ran) == ({"work": "done"}, Status.COMPLETED, ["work"])


@FORM
@pytest.mark.parametrize("state", ["failed", "cut_off"])
def test_failed_or_cut_off_takes_a_new_turn_and_the_unfinished_superstep_stays_in_history(life, form, state):
    graph = getattr(life, state)()
    before = asyncio.run(graph.history("t")).events
    starting(form, graph)
    events = asyncio.run(graph.history("t")).events
    assert events[: len(before)] == before
    assert events[len(before)].type == "run_started"
    assert state_of(graph) == {"new": True, "work": "done"}


@FORM
def test_failed_with_a_question_open_runs_again_what_failed(life, form):
    graph = life.failed_and_open()
    life.ran.clear()
    going_on(form, graph)
    assert (life.ran, status_of(life)) == (["work"], Status.INTERRUPTED)
    assert [asked.key for asked in asyncio.run(graph.pending("t")).items] == ["ask:a"]


@FORM
def test_failed_with_a_question_open_takes_an_answer_and_goes_on(life, form):
    graph = life.failed_and_open()
    resuming(form, graph)
    assert (state_of(graph), status_of(life)) == ({"got": "late", "work": "done"}, Status.COMPLETED)


def test_failed_with_a_question_open_records_a_collected_answer_and_is_ready(life):
    graph = life.failed_and_open()
    life.ran.clear()
    assert answering(invoke, graph) == ()
    assert (life.ran, status_of(life)) == ([], Status.READY)
    assert graph.invoke(None, thread_id="t").data == {"got": "late", "work": "done"}


@FORM
@pytest.mark.parametrize("state", ["completed", "cancelled"])
def test_completed_or_cancelled_takes_a_new_turn_on_the_stored_state(life, form, state):
    graph = getattr(life, state)()
    life.ran.clear()
    starting(form, graph)
    assert state_of(graph) == {"first": True, "work": "done", "new": True}
    assert (life.ran, status_of(life)) == (["work"], Status.COMPLETED)


@FORM
def test_an_unknown_thread_takes_a_first_turn(life, form):
    graph = life.unknown()
    starting(form, graph)
    assert state_of(graph) == {"new": True, "work": "done"}


def test_an_empty_input_starts_a_turn_and_none_does_not(life):
    graph = life.completed()
    assert graph.invoke({}, thread_id="t").data == {"first": True, "work": "done"}
    assert kinds(graph).count("run_started") == 2


def test_a_question_collected_one_by_one_is_ready_only_after_the_last(life):
    graph = Graph(dict, state_store=life.store).flow(
        START >> node(lambda state: interrupt_many({"a": 1, "b": 2}), name="ask") >> END
    )
    graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.answer("t", {"ask:b": "B"})) == ("ask:a",)
    assert status_of(life) == Status.INTERRUPTED
    assert graph.invoke(None, thread_id="t", resume=Resume("A")).data == {"a": "A", "b": "B"}


def test_what_was_refused_can_be_done_rightly_after(life):
    graph = life.interrupted()
    before = kept(life.store)
    for call in (going_on, starting):
        with pytest.raises(Exception, match="paused"):
            call(invoke, graph)
    assert kept(life.store) == before
    resuming(invoke, graph)
    assert state_of(graph) == {"got": "late"}
