"""`delete` drops a thread with all its branches; what comes later under its name is another thread."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import (
    END,
    START,
    LeaseLostError,
    NodeContext,
    Resume,
    ResumeError,
    ThreadBusyError,
    UnknownThreadError,
    interrupt,
)
from nodestep.people.upkeep import cancel, delete
from tests.asking import kept
from tests.history.making import asks, forked, open_keys, untouched
from tests.lifecycle.standing import Life
from tests.running.making import Log, does, of, run, says


@pytest.fixture
def graph(store, ran):
    graph = of(START >> says("a", ran) >> asks("ask", ran) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    return graph


def test_nothing_of_it_is_left_on_any_branch(graph, store):
    branch = forked(graph, "interrupted")
    run(graph.answer("t", {"ask:ok": 1}))
    run(graph.delete("t"))
    assert not run(graph.exists("t"))
    assert not run(graph.exists("t", branch_id=branch))
    assert (open_keys(graph), open_keys(graph, None)) == ([], [])
    assert (run(graph.threads()).items, run(graph.audit()).items, run(graph.audit("t")).items) == ((), (), ())
    assert (kept(store), kept(store, "t", branch), store.records("t", "main")) == (None, None, ())
    for ask in (graph.load, graph.history, graph.branches, graph.get_state, graph.delete, graph.cancel):
        with pytest.raises(UnknownThreadError, match="'t'"):
            run(ask("t"))


def test_other_threads_stay(graph, store):
    graph.invoke({}, thread_id="other")
    run(graph.answer("other", {"ask:ok": 1}))
    with untouched(store, thread="other"):
        run(graph.delete("t"))
    assert [item.thread_id for item in run(graph.audit()).items] == ["other"]
    assert graph.invoke(None, thread_id="other").status == "completed"


def test_it_is_gone_in_another_process(graph, reopened):
    run(reopened().delete("t"))
    assert not run(graph.exists("t"))
    with pytest.raises(UnknownThreadError):
        graph.invoke(None, thread_id="t", resume=Resume(1))


@pytest.mark.parametrize(
    "stands", ["interrupted", "ready", "failed", "failed_and_open", "cut_off", "completed", "cancelled"]
)
def test_a_thread_at_rest_is_deleted_wherever_it_stands(store, clock, stands):
    graph = getattr(Life(store, clock), stands)()
    run(graph.delete("t"))
    assert not run(graph.exists("t"))


def test_an_unknown_thread_is_told(graph):
    with pytest.raises(UnknownThreadError, match="'nobody'"):
        run(graph.delete("nobody"))


@pytest.mark.parametrize("working", ["main", "side"])
def test_while_any_branch_is_worked_on_nothing_is_deleted(store, working):
    tried: list[str] = []

    def deletes(state: Log):
        if tried:
            with untouched(store, "main", "side"), pytest.raises(ThreadBusyError, match=rf"'{working}'.*'t'"):
                run(store.delete("t"))
            tried.append("refused")

    graph = of(START >> says("a") >> does("b", deletes) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    forked(graph, "superstep_completed", name="side")
    tried.append("now")
    graph.invoke({} if working == "main" else None, thread_id="t", branch_id=working)
    assert tried == ["now", "refused"]


def test_a_thread_made_anew_knows_nothing_of_the_old_one(store, reopened):
    keys: list[str] = []

    def asks(state: Log, ctx: NodeContext):
        ctx.cache["runs"] = ctx.cache.get("runs", 0) + 1
        keys.append(ctx.idempotency_key)
        first = ctx.once("first", lambda: len(keys))
        return {"log": [f"{first} {ctx.cache['runs']} {interrupt('?', id='ok')}"]}

    graph = of(START >> does("ask", asks) >> END, state_store=store)
    old = graph.invoke({"n": 7}, thread_id="t").interrupts["ask:ok"]
    forked(graph, "interrupted", name="side")
    run(reopened().delete("t"))

    new = graph.invoke({}, thread_id="t").interrupts["ask:ok"]
    assert new.pause is not None
    assert old.pause is not None
    assert new.pause > old.pause
    assert [made.id for made in run(graph.branches("t"))] == ["main"]
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert (done.state.log, done.state.n) == (["2 2 yes"], 0)
    assert keys[0] != keys[1] == keys[2]


def test_an_answer_meant_for_the_old_thread_does_not_meet_the_new_one(graph, ran):
    (old,) = run(graph.pending("t")).items
    events = run(graph.history("t")).checkpoints
    run(graph.delete("t"))
    graph.invoke({}, thread_id="t")
    del ran[:]
    with pytest.raises(ResumeError, match=f"pause {old.pause}"):
        run(graph.answer("t", {"ask:ok": 1}, pause=old.pause))
    with pytest.raises(ResumeError, match=f"pause {old.pause}"):
        graph.invoke(None, thread_id="t", resume=Resume(1, pause=old.pause))
    assert (open_keys(graph), ran) == (["ask:ok"], [])
    assert not set(events) & set(run(graph.history("t")).checkpoints)


@pytest.mark.parametrize("anew", [False, True])
def test_a_run_that_was_cancelled_and_whose_thread_is_gone_writes_nothing_more(store, anew):
    other = of(START >> says("new") >> END, state_store=store)

    def goes(state: Log):
        cancel(store, "t")
        delete(store, "t")
        if anew:
            other.invoke({}, thread_id="t")
        return {"log": ["old"]}

    graph = of(START >> does("a", goes) >> says("b") >> END, state_store=store)
    with pytest.raises(LeaseLostError, match="'t'"):
        graph.invoke({}, thread_id="t")
    assert run(graph.exists("t")) is anew
    assert not anew or run(graph.load("t"))["log"] == ["new"]


def test_a_page_of_questions_begun_before_goes_on_after(graph):
    for thread in ("u", "v"):
        graph.invoke({}, thread_id=thread)
    first = run(graph.pending(limit=1))
    run(graph.delete("t"))
    run(graph.delete("u"))
    rest: Any = run(graph.pending(limit=5, after=first.next))
    assert [item.thread_id for item in rest.items] == ["v"]
