"""Cancelling a thread that a run works on: the run stops at its next write, and writes nothing after."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    LeaseLostError,
    NodeContext,
    Resume,
    ResumeError,
    ThreadCancelledError,
    UnknownThreadError,
)
from nodestep.people.upkeep import cancel
from tests.asking import kept, refusal
from tests.history.making import asks, open_keys, side_by_side, told
from tests.middleware.noting import Noting
from tests.running.making import Log, does, of, run, says
from tests.watching import Watched


class Stop:
    """Cancels thread `t`, and remembers what the store held right after."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.left: object = None

    def __call__(self, *_: Any) -> None:
        cancel(self.store, "t", reason="stop")
        self.left = kept(self.store)

    def check(self, call: Callable[[], Any]) -> None:
        """The call ends as cancelled, after which the thread is as the cancellation left it."""
        with pytest.raises(ThreadCancelledError, match="'t'"):
            call()
        assert self.left is not None
        assert kept(self.store) == self.left
        assert run(self.store.threads()).items[0].status == "cancelled"
        assert (told(self.store)[-1], open_keys(self.store)) == ("cancelled", [])


@pytest.fixture
def stop(store) -> Stop:
    return Stop(store)


def before(store, kind: str, does: Callable[[], Any]) -> Watched:
    """The store, where something happens just before the first commit of a fact of this kind."""
    left = [does]

    def look(facts: list[Any]) -> None:
        if left and any(type(fact).__name__ == kind for fact in facts):
            left.pop()()

    return Watched(store, look)


def cancelling(stop: Stop, then: Callable[[], Any] = lambda: None):
    def body(state: Log):
        stop()
        then()
        return {"log": ["too late"]}

    return does("b", body)


def test_the_run_ends_at_its_next_write_and_no_later_node_runs(store, stop, ran):
    graph = of(START >> says("a") >> cancelling(stop) >> says("c", ran) >> END, state_store=store)
    stop.check(lambda: graph.invoke({}, thread_id="t"))
    assert (run(graph.load("t"))["log"], ran) == (["a"], [])


def test_the_middleware_is_told_that_it_was_cancelled(store, stop):
    noting = Noting("m", [])
    graph = of(START >> cancelling(stop) >> says("c") >> END, state_store=store, middleware=[noting])
    stop.check(lambda: graph.invoke({}, thread_id="t"))
    (outcome,) = noting.outcomes
    assert outcome.status == "cancelled"
    assert isinstance(outcome.error, ThreadCancelledError)


@pytest.mark.parametrize("form", ["ainvoke", "stream", "astream"])
def test_it_ends_so_in_every_form_of_a_call(store, stop, ran, form):
    graph = of(START >> cancelling(stop) >> says("c", ran) >> END, state_store=store)
    call = getattr(graph, form)

    async def listened() -> list[Any]:
        return [event async for event in call({}, thread_id="t", stream_mode=[])]

    calls = {
        "ainvoke": lambda: run(call({}, thread_id="t")),
        "stream": lambda: list(call({}, thread_id="t", stream_mode=[])),
        "astream": lambda: run(listened()),
    }
    stop.check(calls[form])
    assert ran == []


def test_a_resumed_run_ends_so_as_well(store, stop):
    graph = of(START >> asks("ask") >> cancelling(stop) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    stop.check(lambda: graph.invoke(None, thread_id="t", resume=Resume(1)))


def test_a_node_that_fails_after_it_ends_as_cancelled(store, stop):
    def fails() -> None:
        raise OSError("no disk")

    graph = of(START >> cancelling(stop, fails) >> END, state_store=store)
    stop.check(lambda: graph.invoke({}, thread_id="t"))


def test_what_would_be_recorded_once_is_refused_in_the_node(store, stop, ran):
    def cancels(state: Log, ctx: NodeContext):
        stop()
        with pytest.raises(ThreadCancelledError):
            ctx.once("late", lambda: 1)
        ran.append("refused")

    graph = of(START >> does("b", cancels) >> END, state_store=store)
    stop.check(lambda: graph.invoke({}, thread_id="t"))
    assert ran == ["refused"]


def test_siblings_at_work_are_stopped(store, stop, ran):
    async def waits(state: Log):
        try:
            await asyncio.Event().wait()
        finally:
            ran.append("stopped")

    graph = side_by_side(cancelling(stop), does("waits", waits), state_store=store)
    stop.check(lambda: graph.invoke({}, thread_id="t"))
    assert ran == ["stopped"]


@pytest.mark.parametrize("kind", ["Paused", "RunCompleted", "RunFailed", "TaskRecorded"])
def test_a_cancellation_just_before_a_commit_wins(store, stop, kind):
    def fails(state: Log):
        if kind == "RunFailed":
            raise OSError("no disk")
        return {}

    ask = [asks("ask")] if kind in ("Paused", "TaskRecorded") else []
    graph = side_by_side(does("x", fails), *ask)
    stop.check(lambda: graph.invoke({}, thread_id="t", state_store=before(store, kind, stop)))


def test_a_cancellation_just_before_a_run_takes_the_thread_refuses_the_run(store, ran):
    graph = of(START >> asks("ask", ran) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    rival = before(store, "Continued", lambda: cancel(store, "t"))
    with pytest.raises(ResumeError, match="cancelled"):
        graph.invoke(None, thread_id="t", resume=Resume(1), state_store=rival)
    assert (ran, told(graph)[-1]) == (["ask"], "cancelled")


def test_a_thread_that_comes_to_its_end_while_it_is_cancelled_is_completed(store):
    graph = of(START >> asks("ask") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    rival = before(store, "Cancelled", lambda: graph.invoke(None, thread_id="t", resume=Resume(1)))
    with pytest.raises(ResumeError, match="completed"):
        cancel(rival, "t")
    assert run(graph.threads()).items[0].status == "completed"
    assert told(graph)[-1] == "run_completed"


def test_a_thread_that_is_deleted_while_it_is_cancelled_is_unknown(store):
    graph = of(START >> asks("ask") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    with pytest.raises(UnknownThreadError, match="'t'"):
        cancel(before(store, "Cancelled", lambda: store.delete_rows("t")), "t")


def test_a_turn_that_began_meanwhile_is_not_touched_by_the_run_that_was_cancelled(store, stop):
    def anew() -> None:
        of(START >> says("a") >> END, state_store=store).invoke({"log": ["new"]}, thread_id="t")

    graph = of(START >> cancelling(stop, anew) >> END, state_store=store)
    with pytest.raises((ThreadCancelledError, LeaseLostError), match="'t'"):
        graph.invoke({"log": ["old"]}, thread_id="t")
    assert run(graph.load("t"))["log"] == ["old", "new", "a"]
    with refusal(store, ResumeError, "completed"):
        graph.invoke(None, thread_id="t")
