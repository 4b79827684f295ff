"""Graphs inside graphs (SG): what is inside is asked at the top, done once, and never mixed up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    GraphInterrupt,
    NodeContext,
    Resume,
    ResumeError,
    SQLiteStateStore,
    UnknownThreadError,
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


def answered(graph: Graph[Any], *answers: Any, store: Any = None) -> Any:
    for answer in answers:
        resume = Resume(answers=answer) if isinstance(answer, dict) else Resume(answer)
        result = graph.invoke(None, thread_id="t", resume=resume, state_store=store)
    return result


@kinds
def test_sg_01_a_subgraph_goes_on_where_it_asked(store, kind):
    ran: list[str] = []
    inner = chain("inner", says("s1", ran), asks("ask", ran), says("s3", ran))
    graph = chain("outer", put_inside(kind, inner), says("after", ran), state_store=store)

    paused = graph.invoke({}, thread_id="t")
    assert (paused.status, list(paused.interrupts)) == ("interrupted", [f"{path_of(kind)}/ask:ok"])

    assert answered(graph, "yes").state.log == ["s1", "ask=yes", "s3", "after"]
    assert ran == ["s1", "ask", "ask", "s3", "after"]


@kinds
def test_sg_04_the_same_subgraph_side_by_side_keeps_two_questions_apart(store, kind):
    inner = chain("inner", asks("ask"))
    left, right = (put_inside(kind, inner, name) for name in ("left", "right"))
    graph = Graph(Log, state_store=store).flow(START >> [left, right] >> says("after") >> END)

    paused = graph.invoke({}, thread_id="t")
    keys = [f"{path_of(kind, name)}/ask:ok" for name in ("left", "right")]
    assert sorted(paused.interrupts) == keys

    done = answered(graph, dict(zip(keys, ("L", "R"), strict=True)))
    assert done.state.log == ["ask=L", "ask=R", "after"]


@kinds
def test_sg_05_every_round_of_a_loop_begins_the_subgraph_anew(store, kind):
    caches: list[dict[str, Any]] = []

    @node
    def ask(state: Log, ctx: NodeContext) -> dict[str, Any]:
        caches.append(dict(ctx.cache))
        ctx.cache["seen"] = state.log
        return {"log": [interrupt("?", id="ok")]}

    inner = chain("inner", ask)
    counted = node(lambda state: {"rounds": state.rounds + 1}, name="counted")
    graph = Graph(Log, state_store=store).flow(
        START >> put_inside(kind, inner) >> counted >> when(lambda s: s.rounds < 3, "sub", otherwise=END)
    )

    paused = graph.invoke({}, thread_id="t")
    pauses = {found.pause for found in paused.interrupts.values()}
    for answer in ("a", "b"):
        paused = answered(graph, answer)
        assert paused.status == "interrupted"
        pauses |= {found.pause for found in paused.interrupts.values()}

    assert answered(graph, "c").state.log == ["a", "b", "c"]
    assert len(pauses) == 3
    assert [cache for cache in caches if not cache] == [{}] * 3


@kinds
def test_sg_06_three_levels_go_on_in_another_process(tmp_path, kind):
    ran: list[str] = []

    def made() -> Graph[Log]:
        inner = chain("inner", says("i1", ran), asks("ask", ran))
        middle = chain("middle", says("m1", ran), put_inside(kind, inner, "deep"), says("m2", ran))
        return chain("outer", says("o1", ran), put_inside(kind, middle), says("o2", ran))

    key = f"{path_of(kind)}/{path_of(kind, 'deep')}/ask:ok"
    with SQLiteStateStore(tmp_path / "t.db") as store:
        assert list(made().invoke({}, thread_id="t", state_store=store).interrupts) == [key]
    assert ran == ["o1", "m1", "i1", "ask"]
    with SQLiteStateStore(tmp_path / "t.db") as store:
        done = answered(made(), {key: "yes"}, store=store)

    assert done.state.log == ["o1", "m1", "i1", "ask=yes", "m2", "o2"]
    assert ran == ["o1", "m1", "i1", "ask", "ask", "m2", "o2"]


@kinds
def test_sg_07_names_that_share_a_prefix_are_told_apart(store, kind):
    inner = chain("inner", asks("review"))
    nodes = [put_inside(kind, inner, name) for name in ("review", "review_final", "review.final", "review 2")]
    graph = Graph(Log, state_store=store).flow(START >> nodes >> says("after") >> END)

    paused = graph.invoke({}, thread_id="t")
    keys = [f"{path_of(kind, each.name)}/review:ok" for each in nodes]
    assert sorted(paused.interrupts) == sorted(keys)

    asyncio.run(graph.answer("t", {keys[0]: "first"}))
    assert sorted(found.key for found in asyncio.run(graph.pending("t")).items) == sorted(keys[1:])

    done = answered(graph, dict(zip(keys[1:], "234", strict=True)))
    assert sorted(done.state.log[:-1]) == ["review=2", "review=3", "review=4", "review=first"]


@kinds
def test_sg_08_an_answered_question_inside_is_not_listed_again(tmp_path, kind):
    def made() -> Graph[Log]:
        return chain("outer", put_inside(kind, chain("inner", asks("ask", None, "title", "text"))))

    listed = []
    for answer in (None, "T", "D"):
        with SQLiteStateStore(tmp_path / "t.db") as store:
            graph = made()
            if answer is None:
                graph.invoke({}, thread_id="t", state_store=store)
            else:
                done = answered(graph, answer, store=store)
            listed.append([found.id for found in asyncio.run(store.pending()).items])

    assert listed == [["title"], ["text"], []]
    assert done.state.log == ["ask=T", "ask=D"]


def test_sg_09_a_graph_invoked_by_hand_fails_clearly_and_never_looks_complete(store):
    inner = chain("inner", asks("ask"))

    @node
    def by_hand(state: Log) -> dict[str, Any]:
        return {"log": inner.invoke({}).state.log}

    graph = chain("outer", by_hand, state_store=store)

    with pytest.raises(GraphConfigError, match="'ask' asks 'ok', and nothing can pause without a store"):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.load("t"))["log"] == []


@kinds
def test_sg_10_an_inner_question_is_answered_by_the_outer_thread_alone(store, kind):
    inner = chain("inner", asks("ask"))
    graph = chain("outer", put_inside(kind, inner), state_store=store)
    paused = graph.invoke({}, thread_id="t")
    (key,) = paused.interrupts
    with pytest.raises(GraphInterrupt) as caught:
        asyncio.run(graph.run({}, checkpoint_id="t"))
    nested = caught.value.nested_checkpoint_id
    assert nested is not None

    for wrong in ("ask", "sub", path_of(kind), f"t/{path_of(kind)}", nested):
        for asked in (graph, inner):
            with refusal(store, UnknownThreadError):
                asked.invoke(None, thread_id=wrong, resume=Resume("yes"), state_store=store)
        with refusal(store, UnknownThreadError):
            asyncio.run(store.answer(wrong, {key: "yes"}))
    with refusal(store, GraphConfigError, "checkpoint_id='t'"):
        asyncio.run(graph.run({}, checkpoint_id=nested, resume="yes"))
    with refusal(store, ResumeError, "No open question has the key 'ask:ok'"):
        asyncio.run(graph.answer("t", {"ask:ok": "yes"}))
    assert len(asyncio.run(store.threads()).items) == 1
    assert answered(graph, "yes").status == "completed"


@kinds
def test_sg_11_a_shared_list_is_not_doubled_by_a_pause(store, kind):
    @node
    def grow(state: Log) -> dict[str, Any]:
        return {"log": [f"item {interrupt('?', id='ok')}"]}

    graph = chain("outer", put_inside(kind, chain("inner", grow)), state_store=store)

    graph.invoke({"log": ["a", "b"]}, thread_id="t")

    assert answered(graph, "c").state.log == ["a", "b", "item c"]


def test_sg_11_a_shared_list_keeps_what_a_sibling_added(store):
    inner = chain("inner", asks("ask"))
    graph = Graph(Log, state_store=store).flow(
        START >> [says("a"), put_inside("subgraph", inner), says("z")] >> says("after") >> END
    )

    graph.invoke({"log": ["given"]}, thread_id="t")

    assert answered(graph, "yes").state.log == ["given", "a", "ask=yes", "z", "after"]


def test_a_declared_pause_inside_is_told_by_its_field(store):
    class Post(BaseState):
        draft: str = "hello"
        verdict: str = ""

    inner = Graph(Post, name="inner").flow(START >> interrupt_node("ask", key="verdict", prompt="{draft}?") >> END)
    graph = Graph(Post, state_store=store).flow(START >> subgraph("sub", inner, share=["draft", "verdict"]) >> END)

    with pytest.raises(GraphInterrupt) as caught:
        asyncio.run(graph.run({}, checkpoint_id="t"))
    signal = caught.value
    assert (signal.key, signal.prompt, signal.node_id, signal.checkpoint_id) == ("verdict", "hello?", "ask", "t")
    assert signal.nested_checkpoint_id is not None
    assert asyncio.run(graph.load("t", at=signal.nested_checkpoint_id)) == {"draft": "hello", "verdict": ""}

    assert asyncio.run(graph.run({}, checkpoint_id="t", resume={"verdict": "yes"})).verdict == "yes"
