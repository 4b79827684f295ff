"""Pauses beside work that fails, ends, goes on or asks again. Ids are those of the collection of cases."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from nodestep import END, START, Command, Middleware, NodeContext, Resume, Send, interrupt
from tests.cases.side_by_side import asks, counts
from tests.running.making import Log, does, of, returns, run, says


def test_pa_07_an_error_beside_a_question_reaches_the_caller_and_nothing_is_lost(store):
    ran: Counter[str] = Counter()

    def boom(state: Log):
        ran["boom"] += 1
        if ran["boom"] == 1:
            raise ValueError("once")
        return {"log": ["boom"]}

    graph = of(
        START >> [counts("ok", ran), does("boom", boom), asks("ask", ran)] >> says("end") >> END, state_store=store
    )
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")
    assert run(graph.load("t"))["log"] == []
    assert [item.key for item in run(graph.pending("t")).items] == ["ask:sign_off"]

    paused = graph.invoke(None, thread_id="t")
    assert (paused.status, list(paused.interrupts), paused.state.log) == ("interrupted", ["ask:sign_off"], [])

    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["ask: yes", "boom", "ok", "end"]
    assert ran == {"ok": 1, "boom": 2, "ask": 2}


def test_pa_07_one_call_may_answer_and_run_again_what_failed(store):
    ran: Counter[str] = Counter()

    def boom(state: Log):
        ran["boom"] += 1
        if ran["boom"] == 1:
            raise ValueError("once")
        return {"log": ["boom"]}

    graph = of(START >> [does("boom", boom), asks("ask", ran)] >> says("end") >> END, state_store=store)
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")

    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["ask: yes", "boom", "end"]


class ApproveSmall(Middleware):
    def on_interrupt(self, ctx, payload):
        return "small" if payload < 50 else None


def test_pa_08_a_hook_answers_one_of_two_and_a_bare_answer_the_other(store):
    graph = of(
        START >> [asks("large", payload=80), asks("little", payload=20)] >> says("end") >> END,
        state_store=store,
        middleware=[ApproveSmall()],
    )

    paused = graph.invoke({}, thread_id="t")
    assert list(paused.interrupts) == ["large:sign_off"]
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["large: yes", "little: small", "end"]


def test_pa_10_items_that_need_nobody_run_once(store):
    ran: Counter[int] = Counter()

    def item(state: Log):
        ran[state.n] += 1
        answer = interrupt("?", id="ok") if state.n == 3 else "alone"
        return {"log": [f"{state.n} {answer}"]}

    graph = of(
        START >> returns("plan", [Send("item", {"n": n}) for n in range(1, 6)], goto=["item"]),
        does("item", item) >> says("end") >> END,
        state_store=store,
    )

    assert list(graph.invoke({}, thread_id="t").interrupts) == ["item[2]:ok"]
    done = graph.invoke(None, thread_id="t", resume=Resume("asked"))

    assert done.state.log == ["1 alone", "2 alone", "3 asked", "4 alone", "5 alone", "end"]
    assert ran == {1: 1, 2: 1, 3: 2, 4: 1, 5: 1}


def test_pa_11_tasks_keep_their_ids_and_caches_over_rounds(store, reopened):
    """A asks twice, B once, C twice."""
    seen: list[tuple[str, Any]] = []
    items = {1: ("a", ["one", "two"]), 2: ("b", ["one"]), 3: ("c", ["one", "two"])}

    def item(state: Log, ctx: NodeContext):
        name, ids = items[state.n]
        mine = ctx.cache.setdefault("mine", f"cache of {name}")
        answers = [interrupt(name, id=id) for id in ids]
        seen.append((ctx.task_id, mine))
        return {"log": [f"{name} {' '.join(answers)}"]}

    def graph(kept):
        return of(
            START >> returns("plan", [Send("item", {"n": n}) for n in items], goto=["item"]),
            does("item", item) >> END,
            state_store=kept,
        )

    first = graph(store).invoke({}, thread_id="t")
    assert sorted(first.interrupts) == ["item:one", "item[1]:one", "item[2]:one"]
    answers = {key: f"1{question.payload}" for key, question in first.interrupts.items()}
    second = graph(reopened()).invoke(None, thread_id="t", resume=Resume(answers=answers))
    assert sorted(second.interrupts) == ["item:two", "item[2]:two"]
    answers = {key: f"2{question.payload}" for key, question in second.interrupts.items()}
    done = graph(reopened()).invoke(None, thread_id="t", resume=Resume(answers=answers))

    assert done.state.log == ["a 1a 2a", "b 1b", "c 1c 2c"]
    assert sorted(seen) == [("item", "cache of a"), ("item[1]", "cache of b"), ("item[2]", "cache of c")]


def test_pa_13_a_pause_holds_the_thread_at_its_superstep(store):
    ran: Counter[str] = Counter()
    graph = of(
        START >> [counts("s1", ran), asks("ask")],
        "s1" >> counts("s2", ran) >> counts("s3", ran) >> END,
        "ask" >> END,
        state_store=store,
    )

    graph.invoke({}, thread_id="t")
    assert ran == {"s1": 1}
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))

    assert done.state.log == ["ask: yes", "s1", "s2", "s3"]
    assert ran == {"s1": 1, "s2": 1, "s3": 1}


def test_pa_14_the_jump_of_a_sibling_is_kept(store, reopened):
    ran: Counter[str] = Counter()

    def graph(kept):
        return of(
            START >> [returns("jump", Command(update={"log": ["jump"]}, goto=["x"]), goto=["x"]), asks("ask")],
            "ask" >> counts("next", ran) >> END,
            counts("x", ran) >> END,
            state_store=kept,
        )

    graph(store).invoke({}, thread_id="t")
    assert ran == {}
    done = graph(reopened()).invoke(None, thread_id="t", resume=Resume("yes"))

    assert done.state.log == ["ask: yes", "jump", "next", "x"]
    assert ran == {"next": 1, "x": 1}
    assert done.step == 1
