"""What graphs inside tasks share with other work: deadlines, rejected answers, hooks that ask, changed states, depth."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, Field

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    GraphChangedError,
    InterruptExpiredError,
    Middleware,
    NodeContext,
    Resume,
    add,
    interrupt,
    node,
    subgraph,
)
from nodestep.errors import GraphConfigError
from nodestep.middleware import Replacement
from tests.asking import refusal
from tests.history.making import open_keys
from tests.nesting.inside import KINDS, Log, asks, chain, path_of, put_inside, says
from tests.stores.writing import StillClock

kinds = pytest.mark.parametrize("kind", KINDS)


# Deadlines and types


@kinds
def test_an_inner_question_takes_its_default_at_its_deadline(store, clock: StillClock, kind):
    ask = node(
        lambda state: {"log": [interrupt("?", id="ok", expires=timedelta(seconds=5), default="late")]}, name="ask"
    )
    graph = chain("outer", put_inside(kind, chain("inner", says("i"), ask)), state_store=store)
    graph.invoke({}, thread_id="t")
    clock.forward(6000)

    assert graph.invoke(None, thread_id="t").state.log == ["i", "late"]


@kinds
def test_an_inner_question_without_a_default_expires_inside(store, clock: StillClock, kind):
    ask = node(lambda state: {"log": [interrupt("?", id="ok", expires=timedelta(seconds=5))]}, name="ask")
    graph = chain("outer", put_inside(kind, chain("inner", ask)), state_store=store)
    (key,) = graph.invoke({}, thread_id="t").interrupts
    clock.forward(6000)

    with refusal(store, InterruptExpiredError, key):
        graph.invoke(None, thread_id="t", resume=Resume(answers={key: "yes"}))
    with pytest.raises(InterruptExpiredError, match="'ok' of node 'ask'"):
        graph.invoke(None, thread_id="t")


def even(number: int) -> int:
    if number % 2:
        raise ValueError("odd")
    return number


@kinds
def test_an_inner_answer_that_its_type_refuses_is_asked_for_again(store, kind):
    ask = node(
        lambda state: {"log": [str(interrupt("?", id="ok", answer=Annotated[int, AfterValidator(even)]))]}, name="ask"
    )
    graph = chain("outer", put_inside(kind, chain("inner", says("i"), ask)), state_store=store)
    first = next(iter(graph.invoke({}, thread_id="t").interrupts.values()))

    again = graph.invoke(None, thread_id="t", resume=Resume(3))

    second = again.interrupts[first.key]
    assert second.pause != first.pause
    assert graph.invoke(None, thread_id="t", resume=Resume(4)).state.log == ["i", "4"]
    decisions = asyncio.run(graph.audit("t")).items
    assert [(made.key, made.value, made.rejected is None) for made in decisions] == [
        (first.key, 3, True),
        (first.key, 3, False),
        (first.key, 4, True),
    ]


# Hooks that ask, and that step in


@kinds
def test_a_hook_around_a_graph_may_ask_before_and_after_it(store, kind):
    ran: list[str] = []

    class Gates(Middleware):
        def before_node(self, ctx: Any) -> None:
            if ctx.node_name == "sub":
                interrupt("Begin?", id="begin")

        def after_node(self, ctx: Any) -> Any:
            if ctx.node_name != "sub":
                return None
            return Replacement({"log": [*ctx.update["log"], interrupt("Keep?", id="keep")]})

    inner = chain("inner", says("i", ran), asks("ask", ran))
    graph = chain("outer", put_inside(kind, inner), state_store=store, middleware=[Gates()])

    keys = [*graph.invoke({}, thread_id="t").interrupts]
    for answer in ("go", "yes"):
        keys += graph.invoke(None, thread_id="t", resume=Resume(answer)).interrupts
    done = graph.invoke(None, thread_id="t", resume=Resume("kept"))

    assert keys == ["sub:begin", f"{path_of(kind)}/ask:ok", "sub:keep"]
    assert done.state.log == ["i", "ask=yes", "kept"]
    assert ran == ["i", "ask", "ask"]


@kinds
def test_a_hook_may_give_a_result_for_a_graph_that_failed(store, kind):
    class Instead(Middleware):
        def on_error(self, ctx: Any, error: Exception) -> Any:
            return Replacement({"log": [f"instead of {error}"]})

    def broken(state: Log) -> None:
        raise OSError("down")

    inner = chain("inner", says("i"), node(broken))
    graph = chain("outer", put_inside(kind, inner), asks("last"), state_store=store, middleware=[Instead()])

    assert list(graph.invoke({}, thread_id="t").interrupts) == ["last:ok"]
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["instead of down", "last=yes"]


# States that change while a thread waits inside


def versions(inner_state: type[BaseState], store: Any, ask: Any) -> Graph[Log]:
    inner = Graph(inner_state, name="inner").flow(START >> ask >> END)
    return chain("outer", subgraph("sub", inner, share=["log"]), state_store=store)


class First(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)
    note: str = "first"


class Gained(First):
    added: int = 7


class Changed(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)
    note: int = 0


class Lost(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)


@node
def ask(state: Any) -> dict[str, Any]:
    interrupt("?", id="ok")
    return {"log": [f"{getattr(state, 'note', '-')} {getattr(state, 'added', '-')}"]}


def test_an_inner_state_that_gained_or_lost_a_field_goes_on(store):
    for state, told in ((Gained, "first 7"), (Lost, "- -")):
        versions(First, store, ask).invoke({}, thread_id=told)
        done = versions(state, store, ask).invoke(None, thread_id=told, resume=Resume("yes"))
        assert done.state.log == [told]


def test_an_inner_state_that_no_longer_fits_is_refused_before_anything_is_written(store):
    versions(First, store, ask).invoke({}, thread_id="t")

    with refusal(store, GraphChangedError, "Thread 't' no longer fits", "'note'"):
        versions(Changed, store, ask).invoke(None, thread_id="t", resume=Resume("yes"))


# What flow() can tell


def test_a_field_that_the_inner_state_needs_must_be_shared():
    class Needs(BaseState):
        log: Annotated[list[str], add] = Field(default_factory=list)
        amount: float

    inner = Graph(Needs, name="inner").flow(START >> node(lambda state: {}, name="n") >> END)

    with pytest.raises(GraphConfigError, match=r"'sub' does not give 'amount', which Needs needs"):
        chain("outer", subgraph("sub", inner, share=["log"]))


# Depth and names


def test_graphs_stand_thirty_deep(store):
    ran: list[str] = []
    graph = chain("leaf", says("i", ran), asks("ask", ran))
    for level in range(30):
        graph = chain(f"g{level}", subgraph("in", graph, share=["log"]))
    top = chain("top", subgraph("in", graph, share=["log"]), state_store=store)

    assert list(top.invoke({}, thread_id="t").interrupts) == ["in/" * 31 + "ask:ok"]
    assert top.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["i", "ask=yes"]
    assert ran == ["i", "ask", "ask"]


def test_long_names_on_the_way_make_a_long_key(store):
    name = "n" * 500
    graph = chain("g", asks(name))
    for _ in range(3):
        graph = chain("g", subgraph(name, graph, share=["log"]))
    top = chain("top", subgraph(name, graph, share=["log"]), state_store=store)

    (key,) = top.invoke({}, thread_id="t").interrupts
    assert open_keys(top) == [key]
    assert top.invoke(None, thread_id="t", resume=Resume(answers={key: "yes"})).state.log == [f"{name}=yes"]


@kinds
def test_a_cache_and_a_once_inside_belong_to_the_inner_task(store, kind):
    made: list[str] = []

    @node(name="sub")
    def ask(state: Log, ctx: NodeContext) -> dict[str, Any]:
        ctx.cache["n"] = ctx.cache.get("n", 0) + 1
        ctx.once("make", lambda: made.append(ctx.task_id) or "made")  # type: ignore[func-returns-value]
        interrupt("?", id="ok")
        return {"log": [f"{ctx.cache['n']}"]}

    graph = chain("outer", put_inside(kind, chain("inner", ask)), state_store=store)
    graph.invoke({}, thread_id="t")

    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["2"]
    assert made == ["sub"]
