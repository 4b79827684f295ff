"""A consumer that leaves early: the run stops, and can be continued."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing, closing

from nodestep import END, START, Middleware, NodeContext
from tests.running.making import Log, does, forever, of, run, says, soon

from .listening import FORMS


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
