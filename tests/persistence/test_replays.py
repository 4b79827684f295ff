"""What a store gives back is what the run saw, at every commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    NodeContext,
    RemoveMessage,
    Replace,
    Send,
    SQLiteStateStore,
    add,
    add_messages,
    merge_dict,
    node,
)
from nodestep.stores.base import StateStore
from tests.running.making import run


def longest(current: str | None, update: str) -> str:
    return max(current or "", update, key=len)


class Everything(BaseState):
    """A field for each way of merging, and a number that counts supersteps."""

    n: int = 0
    value: int = 0
    log: Annotated[list[str], add] = Field(default_factory=list)
    notes: Annotated[dict[str, str], merge_dict] = Field(default_factory=dict)
    chat: Annotated[list[dict[str, Any]], add_messages] = Field(default_factory=list)
    name: Annotated[str, longest] = ""


words = st.text("abc", min_size=1, max_size=3)
messages = st.fixed_dictionaries({"text": words}, optional={"id": words}) | st.builds(RemoveMessage, words)
merging = st.fixed_dictionaries(
    {},
    optional={
        "log": st.lists(words, max_size=2),
        "notes": st.dictionaries(words, words, max_size=2),
        "chat": st.lists(messages, max_size=3),
        "name": words,
    },
)
lone = st.fixed_dictionaries(
    {},
    optional={
        "value": st.integers(0, 9),
        "log": st.lists(words, max_size=2).map(Replace),
        "notes": st.dictionaries(words, words, max_size=2).map(Replace),
        "name": words.map(Replace),
    },
)
# What the workers of each superstep write, by name; and what the tasks of one node write, each of which may set anything.
supersteps = st.dictionaries(st.sampled_from("xyz"), merging, min_size=1) | st.lists(
    st.builds(lambda a, b: {**a, **b}, merging, lone), min_size=1, max_size=3
)


def play(plan: list[Any], store: StateStore, padding: str = "") -> Graph[Everything]:
    """A graph that writes what the plan says: `hub` sends the workers of each superstep, one after the other."""

    @node(goto=["x", "y", "z", "item"])
    def hub(state: Everything):
        if state.n == len(plan):
            return Command(goto=END)
        due = plan[state.n]
        sends = [Send("item", {"value": index}) for index in range(len(due))]
        update = {"n": state.n + 1, "log": [padding] if padding else []}
        return Command(update=update, goto=list(due) if isinstance(due, Mapping) else sends)

    def work(state: Everything, ctx: NodeContext):
        due = plan[state.n - 1]
        return due[ctx.node] if isinstance(due, Mapping) else due[state.value]

    workers = [node(work, name=name) for name in ("x", "y", "z", "item")]
    return Graph(Everything, state_store=store, max_steps=100).flow(
        START >> hub, *(worker >> hub for worker in workers)
    )


def check(plan: list[Any], store: StateStore, padding: str = "") -> None:
    graph = play(plan, store, padding)
    seen: dict[str | None, Any] = {}
    for event in graph.stream({}, thread_id="t", stream_mode="values"):
        seen[event.checkpoint_id] = event.data.state if event.mode == "final" else event.data

    for checkpoint, values in seen.items():
        assert checkpoint is not None
        assert run(graph.load("t", at=checkpoint)) == values
    assert run(graph.load("t")) == run(graph.get_state("t")).value.model_dump()


@given(st.lists(supersteps, min_size=1, max_size=5))
def test_every_commit_loads_as_the_run_saw_it(plan):
    with InMemoryStateStore() as store:
        check(plan, store)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@settings(max_examples=8)
@given(plan=st.lists(supersteps, min_size=6, max_size=10))
def test_the_same_with_snapshots_in_between(kind, plan, tmp_path_factory):
    path = tmp_path_factory.mktemp("replays") / "threads.db"
    with InMemoryStateStore() if kind == "memory" else SQLiteStateStore(path) as store:
        check(plan, store, padding="x" * 9000)
        stored = store.read("t", "main")
        assert stored is not None
        assert stored.snapshot is not None


@settings(max_examples=50)
@given(st.lists(supersteps, min_size=2, max_size=5), st.data())
def test_a_run_that_stops_anywhere_goes_on_to_the_same_state(plan, data):
    """Stopped after any number of supersteps, and continued from what is stored."""
    with InMemoryStateStore() as whole, InMemoryStateStore() as parts:
        expected = play(plan, whole).invoke({}, thread_id="t")
        stream = play(plan, parts).stream({}, thread_id="t", stream_mode="values")
        for _ in range(data.draw(st.integers(1, 2 * len(plan)))):
            next(stream)
        stream.close()  # type: ignore[attr-defined]

        assert without_ids(play(plan, parts).invoke(None, thread_id="t").data) == without_ids(expected.data)


def without_ids(data: dict[str, Any]) -> dict[str, Any]:
    """Ids that messages were given differ from store to store."""
    return {**data, "chat": [message["text"] for message in data["chat"]]}
