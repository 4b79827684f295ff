"""Forks and crashes with a graph at work inside a task: each goes on where it stood, and does nothing twice."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    ResumeError,
    Send,
    Status,
    node,
    subgraph,
)
from nodestep.testing import DyingStore
from nodestep.testing.dying import StoreDiedError
from tests.asking import refusal
from tests.history.making import events, forked, open_keys, untouched
from tests.nesting.inside import KINDS, Log, asks, chain, path_of, put_inside, says
from tests.stores.writing import StillClock

kinds = pytest.mark.parametrize("kind", KINDS)


def deep(kind: str, store: Any, ran: list[str]) -> Graph[Log]:
    inner = chain("inner", says("i1", ran), asks("ask", ran), says("i2", ran))
    middle = chain("middle", says("m1", ran), put_inside(kind, inner, "deep"), says("m2", ran))
    return chain("outer", says("o1", ran), put_inside(kind, middle), says("o2", ran), state_store=store)


def key(kind: str) -> str:
    return f"{path_of(kind)}/{path_of(kind, 'deep')}/ask:ok"


LOG = ["o1", "m1", "i1", "ask=yes", "i2", "m2", "o2"]


@kinds
def test_forks_taken_inside_are_answered_on_their_own(store, kind):
    ran: list[str] = []
    graph = deep(kind, store, ran)
    graph.invoke({}, thread_id="t")
    one, two = forked(graph, "interrupted"), forked(graph, "interrupted")
    del ran[:]

    with untouched(store, "main", two):
        no = graph.invoke(None, thread_id="t", branch_id=one, resume=Resume("no"))
    assert open_keys(graph, branch_id=two) == [key(kind)]
    yes = graph.invoke(None, thread_id="t", branch_id=two, resume=Resume(answers={key(kind): "yes"}))
    original = graph.invoke(None, thread_id="t", resume=Resume("maybe"))

    assert [done.state.log[3] for done in (no, yes, original)] == ["ask=no", "ask=yes", "ask=maybe"]
    assert ran == ["ask", "i2", "m2", "o2"] * 3
    with refusal(store, ResumeError, "waits for no answer", branch=one):
        graph.invoke(None, thread_id="t", branch_id=one, resume=Resume("again"))


@kinds
def test_a_fork_at_every_event_goes_on_to_the_same_end(store, kind):
    ran: list[str] = []
    graph = deep(kind, store, ran)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("yes"))

    for event in asyncio.run(graph.history("t")).checkpoints[:-1]:
        recorded = [
            e.node for e in events(graph) if e.type == "node_completed" and e.sequence <= int(event.split("-")[1])
        ]
        branch = asyncio.run(graph.fork("t", from_=event)).id
        del ran[:]
        for _ in range(2):
            head = store.head("t", branch)
            if head.status is Status.COMPLETED:
                break
            resume = Resume("yes") if open_keys(graph, branch_id=branch) else None
            graph.invoke(None, thread_id="t", branch_id=branch, resume=resume)
        assert asyncio.run(graph.load("t", branch_id=branch))["log"] == LOG, event
        assert set(ran).isdisjoint(recorded), event


def finish(graph: Graph[Any], store: Any) -> list[str]:
    """Take the thread to its end from wherever it stands."""
    for _ in range(3):
        head = store.head("t", "main")
        if head is not None and head.status is Status.COMPLETED:
            break
        resume = Resume("yes") if head is not None and open_keys(graph) else None
        graph.invoke({} if head is None else None, thread_id="t", resume=resume)
    log: list[str] = asyncio.run(graph.load("t"))["log"]
    return log


@kinds
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_write_repeats_nothing_that_was_recorded(kind, after):
    for at in range(1, 100):
        ran: list[str] = []
        clock = StillClock()
        store = InMemoryStateStore(clock=clock)
        dying = DyingStore(store, at=at, after=after)
        with contextlib.suppress(StoreDiedError):
            finish(deep(kind, dying, ran), dying)
        if not dying.dead:
            break
        exists = store.head("t", "main") is not None
        recorded = {e.node for e in events(store) if e.type == "node_completed"} if exists else set()
        del ran[:]
        clock.forward(60_000)  # the lease of the dead ends
        assert finish(deep(kind, store, ran), store) == LOG, at
        assert recorded.isdisjoint(ran), at
    assert at > 9


# Fan-outs of graphs


def test_each_send_to_a_subgraph_is_a_graph_of_its_own(store):
    ran: list[str] = []
    inner = chain("inner", says("work", ran), asks("ask", ran))
    item = subgraph(
        "item", inner, state_in=lambda s: {"title": s.title}, state_out=lambda s: {"log": [s.title, *s.log]}
    )

    @node(goto=[item])
    def spread(state: Log) -> list[Send]:
        return [Send(item, {"title": title}) for title in ("a", "b", "c")]

    graph = Graph(Log, state_store=store).flow(START >> spread, item >> says("last", ran) >> END)
    paused = graph.invoke({}, thread_id="t")
    keys = ["item/ask:ok", "item[1]/ask:ok", "item[2]/ask:ok"]
    assert list(paused.interrupts) == keys

    answers = {keys[2]: "C", keys[0]: "A", keys[1]: "B"}
    done = graph.invoke(None, thread_id="t", resume=Resume(answers=answers))

    assert done.state.log == ["a", "work", "ask=A", "b", "work", "ask=B", "c", "work", "ask=C", "last"]
    assert sorted(ran) == ["ask"] * 6 + ["last"] + ["work"] * 3


@kinds
def test_a_finished_graph_is_not_run_again_beside_one_that_asks(store, kind):
    ran: list[str] = []
    quick = put_inside(kind, chain("quick", says("q1", ran), says("q2", ran)), "quick")
    slow = put_inside(kind, chain("slow", says("s1", ran), asks("ask", ran)), "slow")
    graph = Graph(Log, state_store=store).flow(START >> [quick, slow] >> says("both", ran) >> END)

    graph.invoke({}, thread_id="t")
    del ran[:]
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))

    assert ran == ["ask", "both"]
    assert done.state.log == ["q1", "q2", "s1", "ask=yes", "both"]


@kinds
def test_a_failure_beside_an_inner_pause_keeps_both(store, kind):
    ran: list[str] = []
    broken = [True]

    @node
    def fragile(state: Log) -> dict[str, Any]:
        ran.append("fragile")
        if broken[0]:
            raise OSError("down")
        return {"log": ["fragile"]}

    inner = chain("inner", says("i", ran), asks("ask", ran))
    first = put_inside(kind, inner, "a sub")
    graph = Graph(Log, state_store=store).flow(START >> says("o") >> [first, fragile] >> says("last", ran) >> END)
    with pytest.raises(OSError, match="down"):
        graph.invoke({}, thread_id="t")
    broken[0] = False

    for _ in range(3):
        resume = Resume("yes") if open_keys(graph) else None
        done = graph.invoke(None, thread_id="t", resume=resume)
        if done.status == "completed":
            break

    assert done.state.log == ["o", "i", "ask=yes", "fragile", "last"]
    assert ran.count("i") == 1


@kinds
def test_a_join_inside_waits_for_a_pause_inside_it(store, kind):
    deepest = chain("deepest", asks("ask"))
    inner = Graph(Log, name="inner").flow(START >> [says("a"), put_inside(kind, deepest, "b")] >> says("joined") >> END)
    graph = chain("outer", put_inside(kind, inner), state_store=store)

    graph.invoke({}, thread_id="t")

    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["a", "ask=yes", "joined"]


def test_two_calls_one_after_the_other_are_not_repeated(store):
    ran: list[str] = []
    inner = chain("inner", asks("ask", ran))

    @node
    async def sub(state: Log, ctx: NodeContext) -> dict[str, Any]:
        ran.append("sub")
        first = await ctx.call(inner, id="first")
        second = await ctx.call(inner, id="second")
        return {"log": [*first.log, *second.log]}

    graph = chain("outer", sub, state_store=store)
    keys = [*graph.invoke({}, thread_id="t").interrupts]
    keys += graph.invoke(None, thread_id="t", resume=Resume("1")).interrupts
    done = graph.invoke(None, thread_id="t", resume=Resume("2"))

    assert keys == ["sub/first/ask:ok", "sub/second/ask:ok"]
    assert done.state.log == ["ask=1", "ask=2"]
    assert ran == ["sub", "ask", "sub", "ask", "ask", "sub", "ask"]
