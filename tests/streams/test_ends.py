"""How a stream ends, and what every event carries."""

from __future__ import annotations

import pytest

from nodestep import (
    END,
    START,
    FinalEventData,
    InterruptEventData,
    Resume,
    interrupt,
)
from tests.running.making import Log, does, of, says

from .listening import FORMS, events


def ask(state: Log):
    return {"log": [interrupt("Approve?", id="ok")]}


@FORMS
@pytest.mark.parametrize("modes", ["values", [], ["updates", "debug", "custom"]])
def test_a_completed_run_ends_with_exactly_one_final_event(form, modes):
    got = events(form, of(START >> says("a") >> END), {}, modes, thread_id="t")

    assert [event.mode for event in got if event.mode in ("final", "interrupt")] == ["final"]
    assert got[-1].data == FinalEventData({"n": 0, "log": ["a"]}, "t")
    assert (got[-1].node, got[-1].task_id) == (None, None)


@FORMS
@pytest.mark.parametrize("modes", ["values", [], ["updates", "debug", "custom"]])
def test_a_paused_run_ends_with_exactly_one_interrupt_event(form, modes, store):
    graph = of(START >> says("a") >> [does("ask", ask), says("b")] >> says("c") >> END, state_store=store)
    got = events(form, graph, {}, modes, thread_id="t")

    assert [event.mode for event in got if event.mode in ("final", "interrupt")] == ["interrupt"]
    told = got[-1].data
    assert type(told) is InterruptEventData
    assert (told.state, told.thread_id, list(told.interrupts)) == ({"n": 0, "log": ["a"]}, "t", ["ask:ok"])
    assert told.interrupts["ask:ok"].payload == "Approve?"


@FORMS
def test_a_stream_can_answer(form, store):
    graph = of(START >> does("ask", ask) >> END, state_store=store)
    graph.invoke({}, thread_id="t")

    got = events(form, graph, None, "updates", thread_id="t", resume=Resume("yes"))
    assert [event.mode for event in got] == ["updates", "final"]
    assert got[-1].data.state["log"] == ["yes"]


@FORMS
def test_events_carry_their_run_and_the_last_commit(form, store):
    graph = of(START >> says("a") >> says("b") >> END, state_store=store)
    got = events(form, graph, {}, "updates", thread_id="t")

    assert len({event.run_id for event in got}) == 1
    assert len({event.checkpoint_id for event in got}) == 2
    assert got[-1].checkpoint_id is not None
    assert all(event.path == "" for event in got)


@FORMS
def test_a_run_without_a_store_tells_no_checkpoint(form):
    assert {event.checkpoint_id for event in events(form, of(START >> says("a") >> END), {}, "updates")} == {None}


@FORMS
def test_the_payload_of_an_interrupt_event_is_a_copy(form, store):
    shared = {"amounts": [1]}
    graph = of(START >> does("ask", lambda state: interrupt(shared, id="ok")) >> END, state_store=store)
    event = events(form, graph, {}, [], thread_id="t")[-1]
    event.data.interrupts["ask:ok"].payload["amounts"].append("spoilt")

    assert shared == {"amounts": [1]}
