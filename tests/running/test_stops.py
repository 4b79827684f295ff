"""What stops a run from outside its rules: interrupts of the program, cancellation, errors that are no Exception."""

from __future__ import annotations

import asyncio
import threading

import pytest

from nodestep import END, START, NodeContext, RunLimitExceededError

from .making import Log, does, forever, of, run, says, soon


class Alarm(BaseException):
    """No Exception, and none of Python's own."""


STOPS = [KeyboardInterrupt, SystemExit, asyncio.CancelledError, Alarm, GeneratorExit]


def stops_once(error: type[BaseException], ran: list[str], is_async: bool):
    def body(state: Log):
        ran.append("stop")
        if ran.count("stop") == 1:
            raise error
        return {"log": ["stop"]}

    async def body_too(state: Log):
        return body(state)

    return does("stop", body_too if is_async else body)


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside another"])
@pytest.mark.parametrize("error", STOPS)
def test_what_stops_a_blocking_run_comes_out_and_the_thread_can_be_continued(error, alone, is_async, store):
    ran: list[str] = []
    stop = stops_once(error, ran, is_async)
    graph = of(
        START >> says("a") >> ([stop] if alone else [stop, says("z", ran)]) >> says("b") >> END, state_store=store
    )
    with pytest.raises(error):
        graph.invoke({}, thread_id="t")
    assert run(graph.load("t"))["log"] == ["a"]

    done = graph.invoke(None, thread_id="t")

    assert done.state.log == (["a", "stop", "b"] if alone else ["a", "stop", "z", "b"])


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside another"])
@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
@pytest.mark.parametrize("error", [asyncio.CancelledError, Alarm])
def test_what_stops_an_async_run_comes_out_and_the_thread_can_be_continued(error, alone, is_async, store):
    ran: list[str] = []
    stop = stops_once(error, ran, is_async)
    graph = of(START >> ([stop] if alone else [stop, says("z", ran)]) >> says("b") >> END, state_store=store)
    with pytest.raises(error):
        run(graph.ainvoke({}, thread_id="t"))

    done = run(graph.ainvoke(None, thread_id="t"))

    assert done.state.log == (["stop", "b"] if alone else ["stop", "z", "b"])


def test_a_run_without_a_store_lets_them_through_as_well():
    with pytest.raises(Alarm):
        of(START >> [stops_once(Alarm, [], False), says("z")] >> says("b") >> END).invoke({})


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside another"])
def test_cancelling_a_call_stops_its_nodes_and_the_thread_can_be_continued(alone, store):
    inside = threading.Event()
    cancelled = []
    stuck = [True]

    async def waits(state: Log):
        if not stuck[0]:
            return {"log": ["waited"]}
        inside.set()
        try:
            await forever()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    graph = of(
        START >> ([does("w", waits)] if alone else [does("w", waits), says("z")]) >> says("b") >> END, state_store=store
    )

    async def call():
        task = asyncio.ensure_future(graph.ainvoke({}, thread_id="t"))
        await asyncio.to_thread(soon, inside)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(call())
    assert cancelled == [True]
    stuck[0] = False

    assert graph.invoke(None, thread_id="t").state.log == (["waited", "b"] if alone else ["waited", "z", "b"])


def test_cancelling_a_call_does_not_wait_for_a_plain_node_and_its_context_refuses_it(store):
    inside, release, over = threading.Event(), threading.Event(), threading.Event()
    met: list[str] = []

    def slow(state: Log, ctx: NodeContext):
        inside.set()
        soon(release)
        try:
            ctx.once("late", lambda: 1)
        except RuntimeError as error:
            met.append(str(error))
        finally:
            over.set()

    graph = of(START >> does("slow", slow) >> END, state_store=store)

    async def call():
        task = asyncio.ensure_future(graph.ainvoke({}, thread_id="t"))
        await asyncio.to_thread(soon, inside)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(call())
    release.set()
    soon(over)
    assert len(met) == 1


def test_a_stop_tells_in_history_what_it_was(store):
    graph = of(START >> stops_once(Alarm, [], False) >> END, state_store=store)
    with pytest.raises(Alarm):
        graph.invoke({}, thread_id="t")

    last = run(graph.history("t")).events[-1]
    assert (last.type, last.error_type) == ("superstep_failed", "Alarm")


def test_a_stop_of_one_call_leaves_another_on_the_same_store_alone(store):
    graph = of(START >> says("a") >> stops_once(Alarm, [], False) >> END, state_store=store)
    with pytest.raises(Alarm):
        graph.invoke({}, thread_id="t")

    assert of(START >> says("a") >> END, state_store=store).invoke({}, thread_id="u").state.log == ["a"]


def test_a_limit_is_no_stop_of_the_store(store):
    graph = of(START >> does("a", lambda s: {"n": s.n + 1}) >> "a", state_store=store, max_steps=1)
    for _ in range(2):
        with pytest.raises(RunLimitExceededError):
            graph.invoke({}, thread_id="t")
