"""Errors of hooks, and that every `before_graph` that was called gets its `on_run_end`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import GraphConfigError, Middleware, Resume, StateStoreError, interrupt
from tests.middleware.noting import Awaiting, Noting, chain
from tests.watching import Watched


@pytest.fixture
def log() -> list[str]:
    return []


def ended(log: list[str]) -> list[str]:
    return [entry for entry in log if "on_run_end" in entry]


def ask(state):
    return {"got": interrupt("?", id="a")}


def broken(state):
    raise OSError("no disk")


@pytest.mark.parametrize("kind", [Noting, Awaiting])
def test_a_completed_run_ends_as_completed(store, log, kind):
    noting = kind("A", log)
    chain(lambda state: None, middleware=[noting], store=store).invoke({}, thread_id="t")
    (outcome,) = noting.outcomes
    assert (outcome.status, outcome.interrupts, outcome.error) == ("completed", {}, None)


def test_a_paused_run_ends_as_paused_with_its_questions(store, log):
    noting = Noting("A", log)
    graph = chain(ask, middleware=[noting], store=store)
    paused = graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(1))
    first, second = noting.outcomes
    assert (first.status, first.interrupts, first.error) == ("paused", paused.interrupts, None)
    assert second.status == "completed"


def test_a_failed_run_ends_as_failed_with_its_error(store, log):
    noting = Noting("A", log)
    with pytest.raises(OSError, match="no disk") as failed:
        chain(broken, middleware=[noting], store=store).invoke({}, thread_id="t")
    (outcome,) = noting.outcomes
    assert (outcome.status, outcome.error) == ("failed", failed.value)


def test_a_run_that_cannot_pause_ends_as_failed(log):
    noting = Noting("A", log)
    with pytest.raises(GraphConfigError):
        chain(ask, middleware=[noting]).invoke({})
    assert [outcome.status for outcome in noting.outcomes] == ["failed"]


def test_a_cancelled_run_ends_as_cancelled(store, log):
    noting = Noting("A", log)

    async def run():
        entered = asyncio.Event()

        async def wait(state):
            entered.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(chain(wait, middleware=[noting], store=store).ainvoke({}, thread_id="t"))
        await entered.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    (outcome,) = noting.outcomes
    assert (outcome.status, type(outcome.error)) == ("cancelled", asyncio.CancelledError)


def test_a_run_that_the_keyboard_stops_ends_as_cancelled(store, log):
    noting = Noting("A", log)

    def body(state):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chain(body, middleware=[noting], store=store).invoke({}, thread_id="t")
    assert [outcome.status for outcome in noting.outcomes] == ["cancelled"]


def test_a_stream_that_is_closed_ends_as_cancelled(store, log):
    noting = Noting("A", log)
    events = chain(lambda state: None, broken, middleware=[noting], store=store).stream(
        {}, thread_id="t", stream_mode="updates"
    )
    next(iter(events))
    events.close()  # type: ignore[attr-defined]
    assert [outcome.status for outcome in noting.outcomes] == ["cancelled"]


def test_a_call_that_is_refused_before_anything_ran_calls_no_hook(store, log):
    graph = chain(ask, middleware=[Noting("A", log)], store=store)
    graph.invoke({}, thread_id="t")
    log.clear()
    for resume in (None, Resume(answers={"n0:b": 1})):
        with pytest.raises(Exception, match=r"'n0:a'"):
            graph.invoke(None, thread_id="t", resume=resume)
    assert log == []


def test_a_before_graph_that_raises_fails_the_run_before_any_node(store, log):
    ran: list[int] = []
    raising = Noting("A", log, before_graph=LookupError("no quota"))
    graph = chain(lambda state: ran.append(1), middleware=[raising], store=store)
    with pytest.raises(LookupError, match="no quota"):
        graph.invoke({}, thread_id="t")
    assert ran == []
    assert [outcome.status for outcome in raising.outcomes] == ["failed"]
    raising.does.clear()
    graph.invoke(None, thread_id="t")
    assert ran == [1]


def test_a_before_graph_that_was_called_gets_its_end_also_when_a_later_one_raises(log):
    hooks = [Noting("A", log), Noting("B", log, before_graph=LookupError("no quota"))]
    with pytest.raises(LookupError):
        chain(lambda state: None, middleware=hooks).invoke({})
    assert ended(log) == ["B.on_run_end", "A.on_run_end"]


def test_a_before_graph_that_was_not_called_gets_no_end(log):
    hooks = [Noting("A", log, before_graph=LookupError("no quota")), Noting("B", log)]
    with pytest.raises(LookupError):
        chain(lambda state: None, middleware=hooks).invoke({})
    assert ended(log) == ["A.on_run_end"]


def test_an_after_graph_that_raises_fails_the_call_and_the_thread_is_completed_all_the_same(store, log):
    raising = Noting("A", log, after_graph=LookupError("no mail"))
    graph = chain(lambda state: {"got": 1}, middleware=[raising], store=store)
    with pytest.raises(LookupError, match="no mail"):
        graph.invoke({}, thread_id="t")
    assert [outcome.status for outcome in raising.outcomes] == ["failed"]
    assert [event.type for event in asyncio.run(graph.history("t")).events][-1] == "run_completed"


@pytest.mark.parametrize("kind", [Noting, Awaiting])
def test_an_error_of_on_run_end_on_a_failed_run_is_a_note_on_its_error(store, log, kind):
    hooks = [kind("A", log), kind("B", log, on_run_end=LookupError("no mail"))]
    with pytest.raises(OSError, match="no disk") as failed:
        chain(broken, middleware=hooks, store=store).invoke({}, thread_id="t")
    assert any("LookupError" in note and "no mail" in note for note in failed.value.__notes__)
    assert ended(log) == ["B.on_run_end", "A.on_run_end"]


def test_an_error_of_on_run_end_keeps_no_other_from_its_end(log):
    hooks = [Noting("A", log), Noting("B", log, on_run_end=LookupError("no mail"))]
    with pytest.raises(LookupError, match="no mail"):
        chain(lambda state: None, middleware=hooks).invoke({})
    assert ended(log) == ["B.on_run_end", "A.on_run_end"]


def test_several_errors_of_on_run_end_come_out_as_the_first_with_notes(log):
    hooks = [
        Noting("A", log, on_run_end=ValueError("no disk")),
        Noting("B", log, on_run_end=LookupError("no mail")),
    ]
    with pytest.raises(LookupError, match="no mail") as failed:
        chain(lambda state: None, middleware=hooks).invoke({})
    assert any("no disk" in note for note in failed.value.__notes__)


@pytest.mark.parametrize("hook", ["before_node", "after_node"])
@pytest.mark.parametrize("kind", [Noting, Awaiting])
def test_a_node_hook_that_raises_fails_its_task(store, log, hook, kind):
    raising = kind("A", log, **{hook: LookupError("no quota")})
    graph = chain(lambda state: {"got": 1}, middleware=[raising], store=store)
    with pytest.raises(LookupError, match="no quota"):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.load("t")) == {}
    failed = asyncio.run(graph.history("t")).events[-1]
    assert (failed.type, failed.node, failed.error_type) == ("superstep_failed", "n0", "LookupError")


def test_an_error_hook_that_raises_fails_its_task_with_its_own_error(log):
    raising = Noting("A", log, on_error=LookupError("no fallback"))
    with pytest.raises(LookupError, match="no fallback") as failed:
        chain(broken, middleware=[raising]).invoke({})
    assert isinstance(failed.value.__context__, OSError)


def test_no_error_hook_is_asked_about_a_pause(store, log):
    graph = chain(ask, middleware=[Noting("A", log)], store=store)
    graph.invoke({}, thread_id="t")
    assert "A.on_error" not in log


def test_a_store_that_fails_ends_the_run_as_failed(store, log):
    def refuse(facts: list[Any]) -> None:
        if any(type(fact).__name__ == "SuperstepCompleted" for fact in facts):
            raise StateStoreError("no space")

    noting = Noting("A", log)
    with pytest.raises(StateStoreError, match="no space") as failed:
        chain(lambda state: None, middleware=[noting], store=Watched(store, refuse)).invoke({}, thread_id="t")
    (outcome,) = noting.outcomes
    assert (outcome.status, outcome.error) == ("failed", failed.value)


def test_without_hooks_of_its_own_a_middleware_changes_nothing():
    class Quiet(Middleware):
        pass

    assert chain(lambda state: {"got": 1}, middleware=[Quiet(), Quiet()]).invoke({}).data == {"got": 1}
