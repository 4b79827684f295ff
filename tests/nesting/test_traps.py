"""Traps that another runtime of this kind was seen to fall into, each closed here: flat, in a subgraph, and in a call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    GraphChangedError,
    GraphInterrupt,
    NodeContext,
    Resume,
    ResumeError,
    interrupt,
    interrupt_node,
    node,
    subgraph,
    when,
)
from nodestep.errors import GraphConfigError
from tests.asking import refusal
from tests.nesting.inside import KINDS, Log, asks, chain, path_of, put_inside, says

kinds = pytest.mark.parametrize("kind", KINDS)
places = pytest.mark.parametrize("kind", ["flat", *KINDS])


def placed(kind: str, inner: Graph[Log], store: Any) -> Graph[Log]:
    """The graph itself, with a store, or a graph with it inside."""
    if kind == "flat":
        graph = Graph(Log, name="flat", state_store=store)
        graph._blueprint = inner.blueprint
        return graph
    return chain("outer", put_inside(kind, inner), state_store=store)


def key(kind: str, rest: str) -> str:
    return rest if kind == "flat" else f"{path_of(kind)}/{rest}"


def answered(graph: Graph[Any], answer: Any) -> Any:
    resume = Resume(answers=answer) if isinstance(answer, dict) else Resume(answer)
    return graph.invoke(None, thread_id="t", resume=resume)


@places
def test_a_pause_in_one_branch_of_a_fan_out_does_not_lose_the_others(store, kind):
    ran: list[str] = []
    inner = Graph(Log, name="inner").flow(
        START >> [says("a", ran), asks("b", ran), says("c", ran)] >> says("last", ran) >> END
    )
    graph = placed(kind, inner, store)

    graph.invoke({}, thread_id="t")

    assert answered(graph, "yes").state.log == ["a", "b=yes", "c", "last"]
    assert sorted(ran) == ["a", "b", "b", "c", "last"]


@kinds
def test_a_pause_inside_one_branch_does_not_lose_the_others(store, kind):
    ran: list[str] = []
    inner = chain("inner", says("i", ran), asks("ask", ran))
    graph = Graph(Log, state_store=store).flow(
        START >> [says("a", ran), put_inside(kind, inner), says("z", ran)] >> says("last", ran) >> END
    )

    graph.invoke({}, thread_id="t")

    assert answered(graph, "yes").state.log == ["a", "i", "ask=yes", "z", "last"]
    assert sorted(ran) == ["a", "ask", "ask", "i", "last", "z"]


@places
def test_the_first_answer_does_not_end_a_loop(store, kind):
    @node
    def turn(state: Log) -> dict[str, Any]:
        return {"log": [interrupt(f"Round {state.rounds}?", id="go")], "rounds": state.rounds + 1}

    inner = Graph(Log, name="inner").flow(START >> turn >> when(lambda s: s.rounds < 3, turn, otherwise=END))
    graph = placed(kind, inner, store)
    payloads = [found.payload for found in graph.invoke({}, thread_id="t").interrupts.values()]
    for answer in ("a", "b"):
        paused = answered(graph, answer)
        payloads += [found.payload for found in paused.interrupts.values()]

    assert answered(graph, "c").state.log == ["a", "b", "c"]
    assert payloads == ["Round 0?", "Round 1?", "Round 2?"]


@kinds
def test_the_inner_id_handed_back_skips_nothing(store, kind):
    ran: list[str] = []
    graph = chain("outer", put_inside(kind, chain("inner", asks("ask", ran), says("rest", ran))), state_store=store)
    with pytest.raises(GraphInterrupt) as caught:
        asyncio.run(graph.run({}, checkpoint_id="t"))
    nested = caught.value.nested_checkpoint_id
    assert nested is not None

    for options in ({}, {"resume": "yes"}, {"resume": None}):
        with refusal(store, GraphConfigError, "is the id of an inner checkpoint", "checkpoint_id='t'", ran=ran):
            asyncio.run(graph.run({}, checkpoint_id=nested, **options))

    assert asyncio.run(graph.run({}, checkpoint_id="t", resume="yes")).log == ["ask=yes", "rest"]


@places
@pytest.mark.parametrize("answer", [False, 0, "", None, [], 0.0])
def test_a_falsy_answer_counts(store, kind, answer):
    graph = placed(kind, chain("inner", asks("ask")), store)
    graph.invoke({}, thread_id="t")

    assert asyncio.run(graph.run({}, checkpoint_id="t", resume=answer)).log == [f"ask={answer}"]


@places
def test_a_bare_answer_reaches_the_question(store, kind):
    graph = placed(kind, chain("inner", asks("ask")), store)
    graph.invoke({}, thread_id="t")

    assert asyncio.run(graph.run({}, checkpoint_id="t", resume="yes")).log == ["ask=yes"]


@places
@pytest.mark.parametrize("wrong", ["ask:okay", "ask", "ok", "sub:ok", "other/ask:ok", "sub/ask:ok/", "/ask:ok", ""])
def test_a_typo_in_the_key_is_refused(store, kind, wrong):
    ran: list[str] = []
    graph = placed(kind, chain("inner", asks("ask", ran)), store)
    graph.invoke({}, thread_id="t")
    right = key(kind, "ask:ok")

    with refusal(store, ResumeError, repr(right), ran=ran):
        answered(graph, {wrong: "yes"})
    with refusal(store, ResumeError, repr(right), ran=ran):
        asyncio.run(graph.answer("t", {wrong: "yes"}))
    with refusal(store, ResumeError, repr(right), ran=ran):
        asyncio.run(graph.run({}, checkpoint_id="t", resume={right: "yes", wrong: "yes"}))
    assert answered(graph, {right: "yes"}).state.log == ["ask=yes"]


@pytest.mark.parametrize("kind", ["flat", "subgraph"])
def test_renaming_the_node_that_asks_is_told_before_anything_is_written(store, kind):
    ran: list[str] = []
    placed(kind, chain("inner", says("a", ran), asks("ask", ran)), store).invoke({}, thread_id="t")
    renamed = placed(kind, chain("inner", says("a", ran), asks("approve", ran), says("rest", ran)), store)

    for resume in ({key(kind, "ask:ok"): "yes"}, "yes"):
        with refusal(store, GraphChangedError, "Thread 't' no longer fits", "'ask'", ran=ran):
            answered(renamed, resume)


def test_a_call_of_a_graph_whose_asking_node_was_renamed_fails_and_runs_nothing_inside(store):
    ran: list[str] = []
    placed("call", chain("inner", says("a", ran), asks("ask", ran)), store).invoke({}, thread_id="t")
    renamed = placed("call", chain("inner", says("a", ran), asks("approve", ran), says("rest", ran)), store)

    with pytest.raises(GraphChangedError, match="'ask'"):
        answered(renamed, "yes")
    assert ran == ["a", "ask"]

    back = placed("call", chain("inner", says("a", ran), asks("ask", ran)), store)
    assert back.invoke(None, thread_id="t").state.log == ["a", "ask=yes"]


def test_an_inner_node_is_found_by_its_alias(store):
    def pause(name: str, **options: Any) -> Graph[Log]:
        ask = interrupt_node(name, key="title", prompt="Which?", **options)
        return chain("outer", subgraph("sub", chain("inner", ask), share=["title"]), state_store=store)

    pause("ask").invoke({}, thread_id="t")

    renamed = pause("approve", aliases=["ask"])
    assert asyncio.run(renamed.run({}, checkpoint_id="t", resume={"title": "News"})).title == "News"


def test_a_subgraph_node_is_found_by_its_alias(store):
    inner = chain("inner", asks("ask"))
    chain("outer", subgraph("sub", inner, share=["log"]), state_store=store).invoke({}, thread_id="t")
    gone = chain("outer", subgraph("review", inner, share=["log"]), state_store=store)
    with refusal(store, GraphChangedError, "'sub'"):
        answered(gone, "yes")

    renamed = chain("outer", subgraph("review", inner, share=["log"], aliases=["sub"]), state_store=store)
    assert answered(renamed, "yes").state.log == ["ask=yes"]


def test_a_subgraph_that_became_a_function_is_refused(store):
    chain("outer", put_inside("subgraph", chain("inner", asks("ask"))), state_store=store).invoke({}, thread_id="t")
    plain = chain("outer", says("sub"), state_store=store)

    with refusal(store, GraphChangedError, "node 'sub', which is no subgraph any more"):
        answered(plain, "yes")


@kinds
def test_an_edit_of_the_outer_state_during_an_inner_pause_is_not_reverted(store, kind):
    class Order(BaseState):
        title: str = ""
        log: list[str] = []
        amount: int = 1

    inner = chain("inner", asks("ask"))
    if kind == "subgraph":
        sub = subgraph("sub", inner, state_in=lambda s: {"title": s.title}, state_out=lambda s: {"log": s.log})
    else:

        @node(name="sub")
        async def sub(state: Order, ctx: NodeContext) -> dict[str, Any]:
            return {"log": (await ctx.call(inner, {"title": state.title}, id="x")).log}

    amount = node(lambda state: {"title": f"{state.title} {state.amount}"}, name="amount")
    graph = Graph(Order, state_store=store).flow(START >> sub >> amount >> END)
    graph.invoke({"title": "old"}, thread_id="t")

    asyncio.run(graph.update_state("t", {"amount": 500, "title": "new"}))

    done = answered(graph, "yes").state
    assert (done.amount, done.title, done.log) == (500, "new 500", ["ask=yes"])


@kinds
def test_what_is_left_of_a_cancelled_turn_answers_no_question_of_the_next(store, kind):
    graph = chain("outer", put_inside(kind, chain("inner", says("i"), asks("ask"))), state_store=store)
    first = next(iter(graph.invoke({}, thread_id="t").interrupts.values()))
    asyncio.run(graph.answer("t", {first.key: "old answer"}))
    asyncio.run(graph.cancel("t"))

    second = next(iter(graph.invoke({}, thread_id="t").interrupts.values()))

    assert second.key == first.key
    assert second.pause != first.pause
    with refusal(store, ResumeError, "was meant for pause"):
        graph.invoke(None, thread_id="t", resume=Resume("late", pause=first.pause))
    assert answered(graph, "new").state.log == ["i", "ask=new"]


@kinds
def test_an_answer_never_meets_another_question_of_the_changed_node(store, kind):
    graph = chain("outer", put_inside(kind, chain("inner", asks("ask", None, "refund"))), state_store=store)
    graph.invoke({}, thread_id="t")
    asyncio.run(graph.answer("t", {f"{path_of(kind)}/ask:refund": "yes"}))
    changed = chain("outer", put_inside(kind, chain("inner", asks("ask", None, "delete"))), state_store=store)

    paused = changed.invoke(None, thread_id="t")

    assert list(paused.interrupts) == [f"{path_of(kind)}/ask:delete"]
    assert answered(changed, "no").state.log == ["ask=no"]


def test_a_call_that_a_node_no_longer_makes_keeps_its_question_to_itself(store):
    calls = ["first", "second"]
    inner = chain("inner", asks("ask"))

    @node
    async def sub(state: Log, ctx: NodeContext) -> dict[str, Any]:
        return {"log": (await ctx.call(inner, id=calls[0])).log}

    graph = chain("outer", sub, state_store=store)
    graph.invoke({}, thread_id="t")
    asyncio.run(graph.answer("t", {"sub/first/ask:ok": "for the first"}))
    calls.reverse()

    paused = graph.invoke(None, thread_id="t")

    assert list(paused.interrupts) == ["sub/second/ask:ok"]
    assert answered(graph, "for the second").state.log == ["ask=for the second"]


@places
def test_approving_one_thing_approves_none_that_comes_later(store, kind):
    inner = chain("inner", asks("first"), asks("second"), asks("third"))
    graph = placed(kind, inner, store)
    graph.invoke({}, thread_id="t")
    keys = []
    for answer in ("1", "2"):
        keys += answered(graph, answer).interrupts

    assert keys == [key(kind, "second:ok"), key(kind, "third:ok")]
    with refusal(store, ResumeError, repr(keys[1])):
        answered(graph, {key(kind, "first:ok"): "again"})
    assert answered(graph, "3").state.log == ["first=1", "second=2", "third=3"]


@kinds
def test_approving_one_item_of_a_fan_out_approves_no_other(store, kind):
    inner = chain("inner", asks("ask"))
    graph = Graph(Log, state_store=store).flow(
        START >> [put_inside(kind, inner, name) for name in ("a", "b", "c")] >> says("last") >> END
    )
    graph.invoke({}, thread_id="t")

    left = asyncio.run(graph.answer("t", {f"{path_of(kind, 'b')}/ask:ok": "yes"}))

    assert left == tuple(f"{path_of(kind, name)}/ask:ok" for name in ("a", "c"))
