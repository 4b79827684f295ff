"""Graphs inside tasks as they are watched and stepped into: streams with their path, hooks of both graphs, context, limits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    ContextNotProvidedError,
    Graph,
    GraphTimeoutError,
    InterruptSwallowedError,
    Middleware,
    NodeContext,
    Resume,
    ResumeError,
    RunLimitExceededError,
    interrupt,
    node,
    subgraph,
    when,
)
from tests.asking import refusal
from tests.nesting.inside import KINDS, Log, asks, chain, path_of, put_inside, says

kinds = pytest.mark.parametrize("kind", KINDS)


def deep(kind: str, store: Any, **options: Any) -> Graph[Log]:
    inner = chain("inner", says("i"), asks("ask"))
    middle = chain("middle", put_inside(kind, inner, "deep"))
    return chain("outer", says("o"), put_inside(kind, middle), state_store=store, **options)


# Streams


@kinds
@pytest.mark.parametrize("form", ["stream", "astream"])
def test_inner_events_reach_the_outer_stream_with_their_path(store, kind, form):
    graph = deep(kind, store)

    def streamed(*args: Any, **options: Any) -> list[Any]:
        if form == "stream":
            return list(graph.stream(*args, **options))

        async def collected() -> list[Any]:
            return [event async for event in graph.astream(*args, **options)]

        return asyncio.run(collected())

    sub = path_of(kind)
    below = f"{sub}/{path_of(kind, 'deep')}"
    paused = streamed({}, thread_id="t", stream_mode="updates")
    assert [(e.mode, e.path, e.node) for e in paused] == [
        ("updates", "", "o"),
        ("updates", below, "i"),
        ("interrupt", "", None),
    ]
    assert list(paused[-1].data.interrupts) == [f"{below}/ask:ok"]

    done = streamed(None, thread_id="t", resume=Resume("yes"), stream_mode=["updates", "values"])
    assert [(e.mode, e.path, e.node) for e in done if e.mode != "values"] == [
        ("updates", below, "ask"),
        ("updates", sub, "deep"),
        ("updates", "", "sub"),
        ("final", "", None),
    ]
    assert [(e.path, e.data["log"]) for e in done if e.mode == "values"][-1] == ("", ["o", "i", "ask=yes"])


@kinds
def test_what_an_inner_node_emits_reaches_the_outer_stream(store, kind):
    @node
    def talk(state: Log, ctx: NodeContext) -> None:
        ctx.emit({"from": ctx.graph_name, "root": ctx.root_run_id})

    graph = chain("outer", put_inside(kind, chain("inner", talk)), state_store=store)

    (custom, final) = graph.stream({}, thread_id="t", stream_mode="custom")

    assert (custom.data["from"], custom.path, custom.node) == ("inner", path_of(kind), "talk")
    assert custom.data["root"] == final.run_id
    assert custom.run_id != final.run_id


@kinds
def test_a_stream_closed_inside_leaves_a_thread_that_goes_on(store, kind):
    graph = chain("outer", put_inside(kind, chain("inner", says("a"), says("b"), says("c"))), state_store=store)
    stream = graph.stream({}, thread_id="t", stream_mode="updates")
    next(stream)
    stream.close()  # type: ignore[attr-defined]

    assert graph.invoke(None, thread_id="t").state.log == ["a", "b", "c"]


# Hooks


class Answers(Middleware):
    """Answers every question, and notes whose it was."""

    def __init__(self, name: str, answer: Any, noted: list[Any]) -> None:
        self.name = name
        self.answer = answer
        self.noted = noted

    def on_interrupt(self, ctx: Any, payload: Any) -> Any:
        self.noted.append((self.name, ctx.graph_name, ctx.node_name, payload))
        return self.answer


@kinds
def test_the_hooks_of_outer_graphs_cover_inner_questions(store, kind):
    noted: list[Any] = []
    graph = deep(kind, store, middleware=[Answers("outer", "yes", noted)])

    assert graph.invoke({}, thread_id="t").state.log == ["o", "i", "ask=yes"]
    assert noted == [("outer", "inner", "ask", "ask ok?")]


@kinds
def test_hooks_are_asked_from_the_inside_outwards_and_the_first_answer_wins(store, kind):
    noted: list[Any] = []
    inner = chain("inner", asks("ask"), middleware=[Answers("inner 1", None, noted), Answers("inner 2", None, noted)])
    middle = chain("middle", put_inside(kind, inner, "deep"), middleware=[Answers("middle", False, noted)])
    outer = chain("outer", put_inside(kind, middle), middleware=[Answers("outer", "yes", noted)], state_store=store)

    assert outer.invoke({}, thread_id="t").state.log == ["ask=False"]
    assert [name for name, *_ in noted] == ["inner 1", "inner 2", "middle"]


@kinds
def test_a_hook_that_raises_outside_fails_the_inner_question(store, kind):
    class Broken(Middleware):
        def on_interrupt(self, ctx: Any, payload: Any) -> Any:
            raise LookupError("no policy")

    graph = deep(kind, store, middleware=[Broken()])

    with pytest.raises(LookupError, match="no policy"):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.pending("t")).items == ()


@kinds
def test_each_graph_has_its_own_hooks_around_runs_and_nodes(store, kind):
    noted: list[str] = []

    class Notes(Middleware):
        def before_graph(self, ctx: Any) -> None:
            noted.append(f"+{ctx.graph_name}")

        def on_run_end(self, ctx: Any, outcome: Any) -> None:
            noted.append(f"-{ctx.graph_name} {outcome.status} {sorted(outcome.interrupts)}")

        def before_node(self, ctx: Any) -> None:
            noted.append(f"{ctx.graph_name}.{ctx.node_name}")

    inner = chain("inner", asks("ask"), middleware=[Notes()])
    graph = chain("outer", put_inside(kind, inner), middleware=[Notes()], state_store=store)
    key = f"{path_of(kind)}/ask:ok"

    graph.invoke({}, thread_id="t")
    assert noted == [
        "+outer",
        "outer.sub",
        "+inner",
        "inner.ask",
        f"-inner paused ['{key}']",
        f"-outer paused ['{key}']",
    ]

    del noted[:]
    graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert noted == ["+outer", "outer.sub", "+inner", "inner.ask", "-inner completed []", "-outer completed []"]


# What is inside works with


@kinds
def test_the_context_of_the_outer_call_reaches_inner_nodes(store, kind):
    @node
    def read(state: Log, ctx: NodeContext) -> dict[str, Any]:
        interrupt("?", id="ok")
        return {"log": [f"{ctx.context} in {ctx.thread_id}"]}

    graph = chain("outer", put_inside(kind, chain("inner", read)), state_store=store)
    graph.invoke({}, thread_id="t")

    with pytest.raises(ContextNotProvidedError):
        graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert graph.invoke(None, thread_id="t", context="kim").state.log == ["kim in t"]


@kinds
def test_inner_graphs_keep_their_own_limits(store, kind):
    turn = node(lambda state: {"rounds": state.rounds + 1}, name="turn")
    inner = Graph(Log, name="inner", max_steps=3).flow(
        START >> turn >> when(lambda s: s.rounds < 9, turn, otherwise=END)
    )
    graph = chain("outer", put_inside(kind, inner), state_store=store, max_steps=1)

    with pytest.raises(RunLimitExceededError):
        graph.invoke({}, thread_id="t")
    for _ in range(2):
        try:
            done = graph.invoke(None, thread_id="t")
        except RunLimitExceededError:
            continue
    assert done.status == "completed"


@kinds
def test_an_inner_timeout_is_the_inner_graphs(store, kind):
    @node
    async def hang(state: Log) -> None:
        await asyncio.Event().wait()

    inner = chain("inner", hang, timeout=0.01)
    graph = chain("outer", put_inside(kind, inner), state_store=store)

    with pytest.raises(GraphTimeoutError, match="'inner'"):
        graph.invoke({}, thread_id="t")


def test_maps_see_copies_and_run_once_for_each_frame(store):
    seen: list[str] = []

    def state_in(state: Log) -> dict[str, Any]:
        seen.append("in")
        state.log.append("from the map")
        return {"log": state.log}

    def state_out(state: Log) -> dict[str, Any]:
        seen.append("out")
        return {"log": state.log}

    inner = chain("inner", says("i"), asks("ask"))
    graph = chain("outer", subgraph("sub", inner, state_in=state_in, state_out=state_out), state_store=store)
    graph.invoke({"log": ["given"]}, thread_id="t")
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))

    assert seen == ["in", "out"]
    assert done.state.log == ["given", "given", "from the map", "i", "ask=yes"]


def test_nothing_is_asked_in_a_map(store):
    def state_in(state: Log) -> dict[str, Any]:
        return {"title": interrupt("?", id="q")}

    graph = chain("outer", subgraph("sub", chain("inner", says("i")), state_in=state_in, state_out=lambda s: {}))

    with pytest.raises(RuntimeError, match="outside a running node"):
        graph.invoke({}, state_store=store, thread_id="t")


def test_a_call_whose_pause_is_swallowed_fails(store):
    inner = chain("inner", asks("ask"))

    @node
    async def sub(state: Log, ctx: NodeContext) -> dict[str, Any]:
        found = await asyncio.gather(ctx.call(inner, id="x"), return_exceptions=True)
        return {"log": [str(type(found[0]).__name__)]}

    graph = chain("outer", sub, state_store=store)

    with pytest.raises(InterruptSwallowedError):
        graph.invoke({}, thread_id="t")


@kinds
def test_an_answer_is_checked_against_the_type_of_an_inner_question(store, kind):
    ask = node(lambda state: {"log": [str(interrupt("?", id="ok", answer=int))]}, name="ask")
    graph = chain("outer", put_inside(kind, chain("inner", ask)), state_store=store)
    graph.invoke({}, thread_id="t")

    with refusal(store, ResumeError, f"'{path_of(kind)}/ask:ok' does not fit its question"):
        graph.invoke(None, thread_id="t", resume=Resume("many"))
    assert graph.invoke(None, thread_id="t", resume=Resume(5)).state.log == ["5"]
