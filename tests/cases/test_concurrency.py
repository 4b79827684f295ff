"""Several calls, threads of history and processes at the same time. Ids are those of the collection of cases."""

from __future__ import annotations

import asyncio
import threading

import pytest

from nodestep import END, START, Command, Resume, ResumeError, SQLiteStateStore, ThreadBusyError, interrupt
from tests.persistence.children import Child
from tests.persistence.programs.holder import build
from tests.running.making import Log, does, forever, of, run, says, soon
from tests.watching import until


def test_cc_02_a_stale_worker_writes_nothing_after_someone_else_went_on(tmp_path):
    path = tmp_path / "threads.db"
    with SQLiteStateStore(path) as store, Child("holder", path, "plain", 0.3) as a:
        assert a.hears() == "inside"
        a.stop()
        until(lambda: not store.head("t", "main").live)  # type: ignore[union-attr]
        b = build(store, "b").invoke(None, thread_id="t")

        a.wake()
        a.tell()
        assert a.hears() == "LeaseLostError"
        assert run(store.load("t")) == b.data


def review(store):
    """Asks again and again, until the answer is yes."""

    def asks(state: Log):
        answer = interrupt(f"Round {state.n}", id="approve")
        return Command(update={"n": state.n + 1, "log": [answer]}, goto=END if answer == "yes" else "review")

    return of(START >> does("review", asks, goto=["review"]), state_store=store)


def test_cc_03_an_answer_that_carries_its_pause_cannot_meet_the_next_question(store):
    graph = review(store)
    first = graph.invoke({}, thread_id="t").interrupts["review:approve"]
    answer = Resume("no", pause=first.pause)
    second = graph.invoke(None, thread_id="t", resume=answer).interrupts["review:approve"]
    assert (second.payload, second.pause) == ("Round 1", first.pause + 1)

    with pytest.raises(ResumeError, match=f"pause {first.pause}"):
        graph.invoke(None, thread_id="t", resume=answer)
    with pytest.raises(ResumeError, match=f"pause {first.pause}"):
        run(graph.answer("t", {"review:approve": "no"}, pause=first.pause))

    assert run(graph.load("t")) == {"n": 1, "log": ["no"]}
    assert graph.invoke(None, thread_id="t", resume=Resume("yes", pause=second.pause)).state.log == ["no", "yes"]


def test_cc_05_of_two_inputs_at_once_one_is_refused_and_none_is_lost(store):
    inside, go = threading.Event(), threading.Event()

    def slow(state: Log):
        inside.set()
        soon(go)

    graph = of(START >> says("a") >> does("slow", slow) >> END, state_store=store)

    async def two() -> None:
        first = asyncio.ensure_future(graph.ainvoke({"log": ["first"]}, thread_id="t"))
        await asyncio.to_thread(soon, inside)
        with pytest.raises(ThreadBusyError, match="'t'"):
            await graph.ainvoke({"log": ["second"]}, thread_id="t")
        go.set()
        assert (await first).state.log == ["first", "a"]
        assert (await graph.ainvoke({"log": ["second"]}, thread_id="t")).state.log == ["first", "a", "second", "a"]

    run(two())


def test_cc_05_inputs_that_race_are_each_taken_or_refused(store):
    graph = of(START >> says("a") >> END, state_store=store)
    graph.invoke({}, thread_id="t")

    async def race() -> list[str]:
        calls = (graph.ainvoke({"log": [str(n)]}, thread_id="t") for n in range(10))
        results = await asyncio.gather(*calls, return_exceptions=True)
        refused = [result for result in results if isinstance(result, BaseException)]
        assert all(isinstance(error, ThreadBusyError) for error in refused)
        return [str(n) for n, result in enumerate(results) if not isinstance(result, BaseException)]

    taken = run(race())
    log = run(graph.load("t"))["log"]

    assert taken
    assert sorted(entry for entry in log if entry != "a") == taken


def test_cc_07_a_resume_that_is_cancelled_can_be_continued(store):
    """Semantics: the answer was accepted, so it is kept and used; the thread goes on with `invoke(None)`."""
    inside = threading.Event()
    stuck = [True]

    async def asks(state: Log):
        answer = interrupt("?", id="ok")
        if stuck[0]:
            inside.set()
            await forever()
        return {"log": [answer]}

    graph = of(START >> does("ask", asks) >> END, state_store=store)

    async def cancelled() -> None:
        await graph.ainvoke({}, thread_id="t")
        call = asyncio.ensure_future(graph.ainvoke(None, thread_id="t", resume=Resume("yes")))
        await asyncio.to_thread(soon, inside)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    run(cancelled())
    stuck[0] = False

    assert run(graph.load("t"))["log"] == []
    with pytest.raises(ResumeError, match="answered already"):
        graph.invoke(None, thread_id="t", resume=Resume("again"))
    assert graph.invoke(None, thread_id="t").state.log == ["yes"]


def test_cc_08_an_answer_while_the_superstep_still_runs_is_refused_and_nothing_is_lost(store):
    """Semantics: siblings of an asking task run to their end, and the question is listed from the pause on."""
    asked, go = threading.Event(), threading.Event()

    def asks(state: Log):
        asked.set()
        return {"log": [interrupt("?", id="ok")]}

    def slow(state: Log):
        soon(go)
        return {"log": ["slow"]}

    graph = of(START >> [does("ask", asks), does("slow", slow)] >> says("z") >> END, state_store=store)

    async def answer_early() -> None:
        await asyncio.to_thread(soon, asked)
        assert (await graph.pending("t")).items == ()
        with pytest.raises(ThreadBusyError):
            await graph.ainvoke(None, thread_id="t", resume=Resume("early"))
        with pytest.raises(ThreadBusyError):
            await graph.answer("t", {"ask:ok": "early"})
        go.set()

    async def listen() -> list[str]:
        early = asyncio.ensure_future(answer_early())
        modes = [event.mode async for event in graph.astream({}, thread_id="t", stream_mode="values")]
        await early
        return modes

    assert run(listen()) == ["interrupt"]
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["yes", "slow", "z"]
