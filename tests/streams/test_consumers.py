"""The consumer of a stream: slow, gone early, or asking for what does not exist."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from contextlib import aclosing, closing

import pytest

from nodestep import END, START, Middleware, NodeContext, ResumeError, StreamEvent
from tests.running.making import Log, does, forever, of, run, says, soon

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


@FORMS
def test_closing_early_stops_the_run_which_can_be_continued(form, store):
    ran: list[str] = []
    graph = of(START >> says("a", ran) >> says("b", ran) >> says("c", ran) >> END, state_store=store)

    if form == "stream":
        with closing(graph.stream({}, stream_mode="values", thread_id="t")) as stream:  # type: ignore[type-var]
            next(stream)
    else:

        async def first():
            async with aclosing(graph.astream({}, stream_mode="values", thread_id="t")) as stream:  # type: ignore[type-var]
                async for _ in stream:
                    break

        run(first())
    assert ran == ["a"]

    assert graph.invoke(None, thread_id="t").state.log == ["a", "b", "c"]
    assert ran == ["a", "b", "c"]


def test_leaving_the_loop_stops_the_run_as_well(store):
    ran: list[str] = []
    graph = of(START >> says("a", ran) >> says("b", ran) >> END, state_store=store)
    for _ in graph.stream({}, stream_mode="values", thread_id="t"):
        break

    assert ran == ["a"]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


@FORMS
def test_closing_inside_a_superstep_cancels_what_runs(form, store):
    cancelled = []
    stuck = [True]

    async def waits(state: Log, ctx: NodeContext):
        if not stuck[0]:
            return {"log": ["waited"]}
        ctx.emit("here")
        try:
            await forever()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    graph = of(START >> [does("w", waits), says("z")] >> says("end") >> END, state_store=store)
    if form == "stream":
        with closing(graph.stream({}, stream_mode="custom", thread_id="t")) as stream:  # type: ignore[type-var]
            assert next(stream).data == "here"
    else:

        async def first():
            async with aclosing(graph.astream({}, stream_mode="custom", thread_id="t")) as stream:  # type: ignore[type-var]
                async for _ in stream:
                    break

        run(first())
    assert cancelled == [True]
    stuck[0] = False

    assert graph.invoke(None, thread_id="t").state.log == ["waited", "z", "end"]


@FORMS
def test_closing_does_not_wait_for_a_plain_node(form, store):
    release, over = threading.Event(), threading.Event()
    met: list[str] = []

    def slow(state: Log, ctx: NodeContext):
        if not release.is_set():
            ctx.emit("here")
            soon(release)
            try:
                ctx.emit("late")
            except RuntimeError as error:
                met.append(str(error))
            finally:
                over.set()
        return {"log": ["slow"]}

    graph = of(START >> [does("s", slow), says("z")] >> says("end") >> END, state_store=store)
    if form == "stream":
        with closing(graph.stream({}, stream_mode="custom", thread_id="t")) as stream:  # type: ignore[type-var]
            next(stream)
    else:

        async def first():
            async with aclosing(graph.astream({}, stream_mode="custom", thread_id="t")) as stream:  # type: ignore[type-var]
                async for _ in stream:
                    break

        run(first())
    release.set()
    soon(over)

    assert len(met) == 1
    assert graph.invoke(None, thread_id="t").state.log == ["slow", "z", "end"]


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


@FORMS
def test_on_run_end_is_told_that_a_closed_stream_was_cancelled(form, store):
    outcomes = []

    class Notes(Middleware):
        def on_run_end(self, ctx, outcome):
            outcomes.append(outcome.status)

    _close_after_one(form, of(START >> says("a") >> says("b") >> END, state_store=store, middleware=[Notes()]))

    assert outcomes == ["cancelled"]


@FORMS
def test_an_async_on_run_end_is_told_as_well(form, store):
    outcomes = []

    class Notes(Middleware):
        async def on_run_end(self, ctx, outcome):
            await asyncio.sleep(0)
            outcomes.append(outcome.status)

    graph = of(START >> says("a") >> says("b") >> END, state_store=store, middleware=[Notes()])
    _close_after_one(form, graph)

    assert outcomes == ["cancelled"]


def _close_after_one(form, graph):
    if form == "stream":
        with closing(graph.stream({}, stream_mode="values", thread_id="t")) as stream:
            next(stream)
        return

    async def first():
        async with aclosing(graph.astream({}, stream_mode="values", thread_id="t")) as stream:
            async for _ in stream:
                break

    run(first())


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
