"""What happened inside a task, read at the top: events with their path, inner states, edits, and where a thread stands."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from nodestep import END, START, Graph, GraphInterrupt, InvalidUpdateError, Replace, Resume, UnknownEventError, node
from nodestep.engine.due import Wait, due_tasks
from nodestep.flow.standing import standing_by_node
from nodestep.people.reading import load_branch
from tests.asking import refusal
from tests.nesting.inside import KINDS, Log, asks, chain, path_of, put_inside, says

kinds = pytest.mark.parametrize("kind", KINDS)


def deep(kind: str, store: Any = None) -> Graph[Log]:
    inner = chain("inner", says("i1"), asks("ask"))
    middle = chain("middle", put_inside(kind, inner, "deep"), says("m2"))
    return chain("outer", says("o1"), put_inside(kind, middle), state_store=store)


def told(graph: Graph[Any]) -> list[tuple[str, str, str | None]]:
    events = asyncio.run(graph.history("t")).events
    return [(event.type, event.path, event.node) for event in events]


@kinds
def test_inner_events_stand_in_the_one_history_under_their_path(store, kind):
    graph = deep(kind, store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("yes"))

    sub = path_of(kind)
    below = f"{sub}/{path_of(kind, 'deep')}"
    assert told(graph) == [
        ("run_started", "", None),
        ("superstep_started", "", None),
        ("node_completed", "", "o1"),
        ("superstep_completed", "", None),
        ("superstep_started", "", None),
        ("superstep_started", sub, None),
        ("superstep_started", below, None),
        ("node_completed", below, "i1"),
        ("superstep_completed", below, None),
        ("superstep_started", below, None),
        ("interrupted", below, "ask"),
        ("answered", "", None),
        ("run_started", "", None),
        ("node_completed", below, "ask"),
        ("superstep_completed", below, None),
        ("node_completed", sub, "deep"),
        ("superstep_completed", sub, None),
        ("superstep_started", sub, None),
        ("node_completed", sub, "m2"),
        ("superstep_completed", sub, None),
        ("node_completed", "", "sub"),
        ("superstep_completed", "", None),
        ("run_completed", "", None),
    ]


@kinds
def test_a_failure_is_told_where_it_comes_from(store, kind):
    def broken(state: Log) -> None:
        raise OSError("down")

    middle = chain("middle", says("m1"), put_inside(kind, chain("inner", node(broken)), "deep"))
    graph = chain("outer", put_inside(kind, middle), state_store=store)
    with pytest.raises(OSError, match="down"):
        graph.invoke({}, thread_id="t")

    last = asyncio.run(graph.history("t")).events[-1]
    assert (last.type, last.path, last.node, last.message) == (
        "superstep_failed",
        f"{path_of(kind)}/{path_of(kind, 'deep')}",
        "broken",
        "down",
    )


@kinds
def test_every_event_that_ends_a_commit_can_be_loaded_with_the_graphs_at_work_then(store, kind):
    graph = deep(kind, store)
    graph.invoke({}, thread_id="t")
    below = f"{path_of(kind)}/{path_of(kind, 'deep')}"

    async def logs(path: str) -> list[Any]:
        found = []
        for event in (await graph.history("t")).checkpoints:
            try:
                found.append((await graph.load("t", at=f"{event}{path}"))["log"])
            except UnknownEventError:
                found.append(None)
        return found

    assert asyncio.run(logs("")) == [[], ["o1"], ["o1"], ["o1"]]
    assert asyncio.run(logs(f"/{path_of(kind)}")) == [None, None, ["o1"], ["o1"]]
    assert asyncio.run(logs(f"/{below}")) == [None, None, ["o1", "i1"], ["o1", "i1"]]


@kinds
def test_the_nested_checkpoint_of_a_pause_shows_the_inner_state(store, kind):
    graph = deep(kind, store)
    with pytest.raises(GraphInterrupt) as caught:
        asyncio.run(graph.run({}, checkpoint_id="t"))

    nested = caught.value.nested_checkpoint_id
    last = asyncio.run(graph.history("t")).checkpoints[-1]
    assert nested == f"{last}/{path_of(kind)}/{path_of(kind, 'deep')}"
    assert asyncio.run(graph.load("t", at=nested))["log"] == ["o1", "i1"]
    with pytest.raises(GraphInterrupt) as again:
        asyncio.run(graph.run({}, checkpoint_id="t"))
    assert again.value.nested_checkpoint_id == nested


def test_a_path_where_no_graph_was_is_refused(store):
    graph = deep("subgraph", store)
    graph.invoke({}, thread_id="t")
    last = asyncio.run(graph.history("t")).checkpoints[-1]

    for path, words in (("sub/deeper", ["'sub/deeper'", "'sub', 'sub/deep'"]), ("ask", ["'ask'"])):
        with refusal(store, UnknownEventError, *words):
            asyncio.run(graph.load("t", at=f"{last}/{path}"))
    for ask in (graph.get_state, lambda thread, at: graph.fork(thread, from_=at)):
        with refusal(store, UnknownEventError, f"the event is {last!r}"):
            asyncio.run(ask("t", f"{last}/sub"))


# Edits


def test_a_field_that_an_open_inner_graph_shares_is_not_edited(store):
    graph = deep("subgraph", store)
    graph.invoke({}, thread_id="t")

    edits: list[dict[str, Any]] = [{"log": ["x"]}, {"title": "x"}, {"log": Replace([])}, {"done": True, "title": "x"}]
    for values in edits:
        with refusal(store, InvalidUpdateError, "shared with the graph inside 'sub'", "Nothing was written"):
            asyncio.run(graph.update_state("t", values))


@kinds
def test_an_edit_of_another_field_during_an_inner_pause_stays(store, kind):
    graph = deep(kind, store)
    graph.invoke({}, thread_id="t")

    asyncio.run(graph.update_state("t", {"done": True, "rounds": 7}))
    done = graph.invoke(None, thread_id="t", resume=Resume("yes")).state

    assert (done.done, done.rounds, done.log) == (True, 7, ["o1", "i1", "ask=yes", "m2"])


def test_a_shared_field_can_be_edited_before_and_after(store):
    graph = chain("outer", put_inside("subgraph", chain("inner", asks("ask"))), asks("last"), state_store=store)
    asyncio.run(graph.update_state("t", {"title": "before"}, create=True))
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("yes"))

    asyncio.run(graph.update_state("t", {"title": "after"}))

    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.title == "after"


# Where a thread stands


def test_a_task_that_waits_for_what_is_inside_says_so(store):
    graph = deep("subgraph", store)
    graph.invoke({}, thread_id="t")
    position = load_branch(store, "t", "main").checkpoint.position

    assert [(due.path, due.task.id, due.wait, due.keys) for due in due_tasks(position, store.now_ms())] == [
        ("", "sub", Wait.INSIDE, ()),
        ("sub", "deep", Wait.INSIDE, ()),
        ("sub/deep", "ask", Wait.ASKS, ("sub/deep/ask:ok",)),
    ]
    assert standing_by_node(graph.blueprint, position, store.now_ms()) == {
        "sub": "inside",
        "sub/deep": "inside",
        "sub/deep/ask": "asks",
    }


def test_calls_from_code_stand_in_no_drawing(store):
    graph = deep("call", store)
    graph.invoke({}, thread_id="t")
    position = load_branch(store, "t", "main").checkpoint.position

    assert standing_by_node(graph.blueprint, position, store.now_ms()) == {"sub": "inside"}


def test_history_is_the_same_when_it_is_read_from_a_snapshot(store):
    def grow(state: Log) -> dict[str, Any]:
        return {"title": "x" * 40_000, "log": [str(len(state.log))]}

    inner = chain("inner", *(node(grow, name=f"grow {n}") for n in range(4)), asks("ask"))
    graph = Graph(Log, state_store=store).flow(START >> put_inside("subgraph", inner) >> END)
    graph.invoke({}, thread_id="t")
    before = asyncio.run(graph.history("t")).events

    asyncio.run(graph.prune("t", keep=2))

    after = asyncio.run(graph.history("t")).events
    assert json.dumps([str(event) for event in after]) == json.dumps([str(event) for event in before[-len(after) :]])
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["0", "1", "2", "3", "ask=yes"]
