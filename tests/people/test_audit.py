"""Every answer is kept with who gave it, when, why and from where, readable per thread and over all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nodestep import END, START, GraphConfigError, Middleware, Page, Resume, ResumeError, interrupt
from nodestep.people.inbox import answer
from tests.asking import lone
from tests.history.making import asks, forked, side_by_side, told
from tests.running.making import Log, does, of, run


@pytest.fixture
def graph(store):
    return side_by_side(asks("x"), asks("y"), state_store=store)


def audit(on: Any, thread: str | None = "t", **options: Any) -> list[Any]:
    return list(run(on.audit(thread, **options)).items)


def test_an_answer_is_kept_with_who_when_why_and_from_where(graph, clock):
    paused = graph.invoke({}, thread_id="t").interrupts
    clock.forward(60_000)
    run(graph.answer("t", {"x:ok": {"a": [1]}}, by="ann", note="read it"))
    clock.forward(60_000)
    graph.invoke(None, thread_id="t", resume=Resume("no", by="ben", note="seen"))

    first, second = audit(graph)
    assert (first.thread_id, first.branch_id, first.key, first.value) == ("t", "main", "x:ok", {"a": [1]})
    assert (first.by, first.note, first.source, first.rejected) == ("ann", "read it", "api", None)
    assert (second.key, second.value, second.by, second.note, second.source) == ("y:ok", "no", "ben", "seen", "api")
    assert [item.pause for item in (first, second)] == [paused["x:ok"].pause, paused["y:ok"].pause]
    assert first.at == datetime.fromtimestamp((clock.wall - 60_000) / 1000, UTC)
    assert second.at - first.at == timedelta(minutes=1)


def test_who_and_why_may_be_left_out(graph):
    graph.invoke({}, thread_id="t")
    run(graph.answer("t", {"x:ok": None}))
    (kept,) = audit(graph)
    assert (kept.value, kept.by, kept.note) == (None, None, None)


@pytest.mark.parametrize("source", ["cli", "page"])
def test_a_front_end_says_that_it_was_the_one(graph, store, source):
    graph.invoke({}, thread_id="t")
    answer(store, "t", {"x:ok": 1}, by="ann", source=source)
    (kept,) = audit(graph)
    assert (kept.source, kept.by) == (source, "ann")


class Hook(Middleware):
    def on_interrupt(self, ctx: Any, payload: Any) -> Any:
        return "automatic" if payload == "x?" else None


def test_a_hooks_answer_is_kept_as_one(store):
    graph = side_by_side(asks("x"), asks("y"), state_store=store, middleware=[Hook()])
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert [(item.key, item.value, item.source, item.pause is None) for item in audit(graph)] == [
        ("x:ok", "automatic", "hook", True),
        ("y:ok", "yes", "api", False),
    ]


def test_a_hooks_answer_is_kept_once_however_often_the_task_runs(store):
    def both(state: Log):
        return {"log": [interrupt("x?", id="x"), interrupt("y?", id="y"), interrupt("z?", id="z")]}

    graph = of(START >> does("ask", both) >> END, state_store=store, middleware=[Hook()])
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("y"))
    graph.invoke(None, thread_id="t", resume=Resume("z"))
    assert [item.key for item in audit(graph)] == ["ask:x", "ask:y", "ask:z"]


def test_an_expiry_is_kept_as_one(store, clock):
    graph = of(START >> asks("ask", expires=timedelta(hours=1), default="nobody") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    clock.forward(3_600_000)
    graph.invoke(None, thread_id="t")
    assert [(item.value, item.source, item.by) for item in audit(graph)] == [("nobody", "expiry", None)]


def test_a_refused_answer_leaves_no_trace(graph):
    graph.invoke({}, thread_id="t")
    with pytest.raises(ResumeError):
        run(graph.answer("t", {"x:ok": 1, "z:ok": 1}, by="ann"))
    with pytest.raises(ResumeError):
        graph.invoke(None, thread_id="t", resume=Resume("one for two"))
    assert audit(graph) == []


def test_the_decisions_of_a_thread_are_those_of_all_its_branches(graph):
    graph.invoke({}, thread_id="t")
    branch = forked(graph, "interrupted")
    run(graph.answer("t", {"x:ok": 1}))
    run(graph.answer("t", {"x:ok": 2}, branch_id=branch))
    run(graph.answer("t", {"y:ok": 3}))
    assert [(item.branch_id, item.value) for item in audit(graph)] == [("main", 1), (branch, 2), ("main", 3)]


def test_a_fork_from_after_an_answer_does_not_repeat_it(graph):
    graph.invoke({}, thread_id="t")
    run(graph.answer("t", {"x:ok": 1}))
    branch = forked(graph, "answered")
    graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume(2))
    assert [(item.branch_id, item.key) for item in audit(graph)] == [("main", "x:ok"), (branch, "y:ok")]


@pytest.fixture
def many(graph):
    """Five decisions: on `t`, `u`, `t`, `u` and `v`."""
    for thread in ("t", "u", "v"):
        graph.invoke({}, thread_id=thread)
    for number, (thread, key) in enumerate([("t", "x"), ("u", "x"), ("t", "y"), ("u", "y"), ("v", "x")]):
        run(graph.answer(thread, {f"{key}:ok": number}))
    return graph


def test_pages_over_all_threads_follow_one_another_oldest_first(many):
    first = run(many.audit(limit=2))
    run(many.answer("v", {"y:ok": 5}))
    second = run(many.audit(limit=2, after=first.next))
    third = run(many.audit(limit=2, after=second.next))
    assert [[item.value for item in page.items] for page in (first, second, third)] == [[0, 1], [2, 3], [4, 5]]
    assert third.next is None


def test_pages_of_one_thread_hold_its_own_only(many, store):
    first = run(store.audit("u", limit=1))
    second = run(store.audit("u", limit=1, after=first.next))
    assert [item.value for item in (*first.items, *second.items)] == [1, 3]
    assert second.next is None
    assert run(store.audit("nobody")) == Page((), None)


def test_it_reads_the_same_in_another_process(many, reopened):
    assert run(reopened().audit()) == run(many.audit())


def test_a_deleted_thread_takes_its_decisions_along_and_leaves_the_pages_of_others_whole(many):
    first = run(many.audit(limit=2))
    run(many.delete("t"))
    assert audit(many) == []
    assert [item.value for item in audit(many, None)] == [1, 3, 4]
    assert [item.value for item in run(many.audit(limit=5, after=first.next)).items] == [3, 4]


def test_a_cancelled_thread_keeps_them(many):
    many.invoke({}, thread_id="w")
    run(many.answer("w", {"x:ok": "kept"}))
    run(many.cancel("w"))
    assert [item.value for item in audit(many, "w")] == ["kept"]
    assert told(many, "w")[-1] == "cancelled"


def test_what_was_answered_is_the_readers_own(store):
    graph = lone(lambda state: {"got": interrupt("?", id="a")}, store)
    graph.invoke({}, thread_id="t")
    run(graph.answer("t", {"ask:a": [1]}))
    audit(graph)[0].value.append("mine")
    assert audit(graph)[0].value == [1]
    assert graph.invoke(None, thread_id="t").data == {"got": [1]}


def test_a_graph_without_a_store_keeps_no_decisions():
    with pytest.raises(GraphConfigError, match="state_store="):
        run(of(START >> asks("ask") >> END).audit())
