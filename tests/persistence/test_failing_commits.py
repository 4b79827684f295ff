"""A store that fails in the middle of a run: an error, never a promise that was not kept."""

from __future__ import annotations

import asyncio

import pytest

from nodestep import (
    END,
    START,
    InMemoryStateStore,
    Resume,
    SQLiteStateStore,
    StoreFullError,
    ThreadBusyError,
    interrupt,
)
from tests.running.making import Log, does, of, run, says
from tests.watching import Watched, until


class Full:
    """The disk is full when a commit says this, so many times."""

    def __init__(self, kind: str, times: int = 1) -> None:
        self.kind = kind
        self.times = times

    def __call__(self, facts) -> None:
        if self.times and any(type(fact).__name__ == self.kind for fact in facts):
            self.times -= 1
            raise StoreFullError("The disk is full.")


def ask(state: Log):
    return {"log": [interrupt("?", id="ok")]}


FORMS = pytest.mark.parametrize("form", ["invoke", "ainvoke"])


def call(graph, form, *args, **options):
    return run(graph.ainvoke(*args, **options)) if form == "ainvoke" else graph.invoke(*args, **options)


@FORMS
@pytest.mark.parametrize("instant", [True, False])
def test_a_pause_that_cannot_be_stored_is_an_error_and_no_pause(form, instant, store):
    graph = of(START >> does("ask", ask) >> END, state_store=Watched(store, Full("Paused"), instant=instant))
    with pytest.raises(StoreFullError):
        call(graph, form, {}, thread_id="t")

    assert run(graph.pending("t")).items == ()

    paused = call(graph, form, None, thread_id="t")
    assert (paused.status, len(run(graph.pending("t")).items)) == ("interrupted", 1)
    assert call(graph, form, None, thread_id="t", resume=Resume("yes")).state.log == ["yes"]


@FORMS
def test_a_claim_that_cannot_be_stored_runs_nothing(form, store):
    ran: list[str] = []
    graph = of(START >> says("a", ran) >> END, state_store=Watched(store, Full("Started")))
    with pytest.raises(StoreFullError):
        call(graph, form, {}, thread_id="t")

    assert ran == []
    assert not run(graph.exists("t"))


@FORMS
def test_answers_that_cannot_be_stored_run_nothing_and_the_question_stays_open(form, store):
    ran: list[str] = []

    def asks(state: Log):
        ran.append("ask")
        return ask(state)

    graph = of(START >> does("ask", asks) >> END, state_store=Watched(store, Full("Answered")))
    call(graph, form, {}, thread_id="t")
    with pytest.raises(StoreFullError):
        call(graph, form, None, thread_id="t", resume=Resume("lost"))

    assert ran == ["ask"]
    assert len(run(graph.pending("t")).items) == 1
    assert call(graph, form, None, thread_id="t", resume=Resume("kept")).state.log == ["kept"]


@FORMS
def test_a_superstep_that_cannot_be_stored_is_an_error_and_its_task_is_kept(form, store):
    ran: list[str] = []
    graph = of(START >> says("a", ran) >> says("b", ran) >> END, state_store=Watched(store, Full("SuperstepCompleted")))
    with pytest.raises(StoreFullError):
        call(graph, form, {}, thread_id="t")
    assert run(graph.load("t"))["log"] == []

    assert call(graph, form, None, thread_id="t").state.log == ["a", "b"]


@FORMS
def test_one_of_several_outcomes_that_cannot_be_stored_stops_the_run(form, store):
    graph = of(
        START >> [says("a"), says("b"), says("c")] >> says("d") >> END,
        state_store=Watched(store, Full("TaskRecorded")),
    )
    with pytest.raises(StoreFullError):
        call(graph, form, {}, thread_id="t")

    assert call(graph, form, None, thread_id="t").state.log == ["a", "b", "c", "d"]


@FORMS
def test_a_store_that_stays_full_says_that_the_end_was_not_recorded(form):
    full = Full("SuperstepCompleted", times=-1)
    still_full = Full("RunFailed", times=-1)

    def before(facts) -> None:
        full(facts)
        still_full(facts)

    store = Watched(InMemoryStateStore(lease_s=0.2), before)
    graph = of(START >> says("a") >> END, state_store=store)
    with pytest.raises(StoreFullError) as caught:
        call(graph, form, {}, thread_id="t")

    assert any("could not be recorded" in note for note in caught.value.__notes__)
    with pytest.raises(ThreadBusyError):
        graph.invoke(None, thread_id="t", state_store=store.store)

    until(lambda: not store.head("t", "main").live)
    assert graph.invoke(None, thread_id="t", state_store=store.store).state.log == ["a"]


def test_one_run_whose_commit_fails_does_not_fail_another_that_commits_with_it(tmp_path):
    """Writes that are ready together share a transaction; one that is refused leaves the others alone."""

    def before(facts):
        if any(getattr(fact, "message", "") == "poison" for fact in facts):
            raise StoreFullError("The disk is full.")

    def body(state: Log):
        if state.n == 3:
            raise ValueError("poison")

    async def every(graph):
        calls = (graph.ainvoke({"n": n}, thread_id=f"t{n}") for n in range(6))
        return await asyncio.gather(*calls, return_exceptions=True)

    with SQLiteStateStore(tmp_path / "threads.db") as inner:
        results = run(every(of(START >> does("a", body) >> END, state_store=Watched(inner, before))))

    failed = [n for n, result in enumerate(results) if isinstance(result, BaseException)]
    assert failed == [3]
