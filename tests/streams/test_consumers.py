"""The consumer of a stream: slow, gone early, or asking for what does not exist."""

from __future__ import annotations

import asyncio
import gc
import warnings

import pytest

from nodestep import END, START, NodeContext, ResumeError, StreamEvent
from tests.running.making import Log, does, of, run, says

from .listening import FORMS, events, listen


@FORMS
@pytest.mark.parametrize("mode", ["final", "interrupt", ["values", "final"]])
def test_the_terminal_events_cannot_be_asked_for(form, mode):
    ran: list[str] = []
    with pytest.raises(ValueError, match="exactly one"):
        events(form, of(START >> says("a", ran) >> END), {}, mode)
    assert ran == []


@FORMS
@pytest.mark.parametrize("mode", ["value", "", ["updates", "value"], [5], "messages"])
def test_an_unknown_mode_is_refused_and_the_known_ones_are_told(form, mode):
    ran: list[str] = []
    with pytest.raises(ValueError, match="Modes: updates, values, custom, tokens, debug"):
        events(form, of(START >> says("a", ran) >> END), {}, mode)
    assert ran == []


def test_a_near_mode_is_suggested():
    with pytest.raises(ValueError, match="Did you mean 'values'"):
        of(START >> says("a") >> END).stream({}, stream_mode="value")


def test_the_mode_is_required():
    with pytest.raises(TypeError, match="stream_mode"):
        of(START >> says("a") >> END).stream({})  # type: ignore[call-arg]


@FORMS
def test_what_a_run_refuses_a_stream_refuses(form, store):
    graph = of(START >> says("a") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    with pytest.raises(ResumeError, match="completed"):
        events(form, graph, None, "values", thread_id="t")


@FORMS
def test_an_error_reaches_the_consumer_after_the_events_before_it(form):
    def fails(state: Log):
        raise ValueError("no")

    got: list[StreamEvent] = []
    with pytest.raises(ValueError, match="no"):
        listen(form, of(START >> says("a") >> does("b", fails) >> END), {}, "values", got.append)

    assert [event.data["log"] for event in got] == [["a"]]


@FORMS
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside another"])
def test_what_a_node_emitted_before_it_failed_reaches_the_consumer(form, alone):
    def fails(state: Log, ctx: NodeContext):
        ctx.emit("before")
        raise ValueError("no")

    failing = does("b", fails)
    graph = of(START >> failing >> END) if alone else of(START >> [failing, says("a")] >> says("c") >> END)
    got: list[StreamEvent] = []
    with pytest.raises(ValueError, match="no"):
        listen(form, graph, {}, "custom", got.append)

    assert [event.data for event in got] == ["before"]


def test_a_stream_that_nobody_reads_runs_nothing_and_warns_of_nothing(store):
    ran: list[str] = []
    graph = of(START >> says("a", ran) >> END, state_store=store)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        graph.stream({}, stream_mode="values", thread_id="t")
        gc.collect()

    assert (ran, warned) == ([], [])
    assert not run(graph.exists("t"))


@FORMS
@pytest.mark.parametrize("modes", ["values", "updates", ["debug"]])
def test_a_consumer_that_is_slow_holds_the_run_back(form, modes, store):
    ran: list[str] = []
    graph = of(START >> says("a", ran) >> [says("b", ran), says("c", ran)] >> says("d", ran) >> END, state_store=store)
    ahead = []

    def hear(event):
        if event.mode in ("values", "updates", "debug"):
            ahead.append((event.step, len(ran)))

    listen(form, graph, {}, modes, hear, thread_id="t")

    ran_by = {0: 1, 1: 3, 2: 4}
    assert ahead
    assert all(n <= ran_by[step] for step, n in ahead)


def test_two_streams_of_one_graph_do_not_mix(store):
    def emits(state: Log, ctx: NodeContext):
        ctx.emit(ctx.thread_id)

    graph = of(START >> does("a", emits) >> END, state_store=store)

    async def read(thread_id):
        return [
            e.data async for e in graph.astream({}, stream_mode="custom", thread_id=thread_id) if e.mode == "custom"
        ]

    async def every():
        return await asyncio.gather(*(read(f"t{n}") for n in range(10)))

    assert run(every()) == [[f"t{n}"] for n in range(10)]
