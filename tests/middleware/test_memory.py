"""`ctx.memory`: what a middleware keeps in the thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    InvalidUpdateError,
    Middleware,
    Resume,
    Send,
    SQLiteStateStore,
    StateStoreError,
    add,
    interrupt,
    node,
    subgraph,
    when,
)


class State(BaseState):
    n: int = 0
    log: Annotated[list[str], add] = Field(default_factory=list)


class Counting(Middleware):
    """Counts the tasks that were done, and shows the count to the test."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def after_node(self, ctx: Any) -> None:
        ctx.memory["done"] = ctx.memory.get("done", 0) + 1
        self.seen.append(ctx.memory["done"])


@node
def count(state: State) -> dict[str, Any]:
    return {"n": state.n + 1}


def loop(counting: Counting, store: Any, rounds: int = 3) -> Graph[State]:
    graph = Graph(State, state_store=store, middleware=[counting])
    return graph.flow(START >> count >> when(lambda s: s.n % rounds != 0, count, otherwise=END))


def test_what_a_hook_keeps_is_there_in_the_next_superstep_and_the_next_turn() -> None:
    counting = Counting()
    graph = loop(counting, InMemoryStateStore())

    graph.invoke({}, thread_id="t")
    graph.invoke({}, thread_id="t")

    assert counting.seen == [1, 2, 3, 4, 5, 6]


def test_another_process_finds_what_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    loop(Counting(), SQLiteStateStore(path)).invoke({}, thread_id="t")
    later = Counting()

    loop(later, SQLiteStateStore(path)).invoke({}, thread_id="t")

    assert later.seen == [4, 5, 6]


def test_what_is_kept_survives_a_snapshot() -> None:
    class Text(BaseState):
        text: str = ""
        n: int = 0

    @node
    def write(state: Text) -> dict[str, Any]:
        return {"text": "x" * 9000 + str(state.n), "n": state.n + 1}

    store = InMemoryStateStore()
    counting = Counting()
    graph = Graph(Text, state_store=store, middleware=[counting]).flow(
        START >> write >> when(lambda s: s.n % 6 != 0, write, otherwise=END)
    )
    graph.invoke({}, thread_id="t")
    stored = store.read("t", "main")
    assert stored is not None
    assert stored.snapshot is not None

    graph.invoke({}, thread_id="t")

    assert counting.seen == list(range(1, 13))


def test_a_fork_goes_on_with_what_was_kept_at_its_event() -> None:
    counting = Counting()
    graph = loop(counting, InMemoryStateStore())
    graph.invoke({}, thread_id="t")
    first = asyncio.run(graph.history("t")).checkpoints[1]

    asyncio.run(graph.fork("t", from_=first, name="again"))
    counting.seen.clear()
    graph.invoke(None, thread_id="t", branch_id="again")

    assert counting.seen == [2, 3]


class Before(Middleware):
    def before_node(self, ctx: Any) -> None:
        ctx.memory["began"] = ctx.memory.get("began", 0) + 1


def test_what_a_pausing_task_kept_is_lost_with_it() -> None:
    seen: list[Any] = []

    class Looking(Before):
        def after_node(self, ctx: Any) -> None:
            seen.append(dict(ctx.memory))

    @node
    def ask(state: State) -> None:
        interrupt("?", id="q")

    graph = Graph(State, state_store=InMemoryStateStore(), middleware=[Looking()]).flow(START >> ask >> END)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(None))

    assert seen == [{"began": 1}]


class ByTask(Middleware):
    def after_node(self, ctx: Any) -> None:
        ctx.memory[ctx.task_id] = True


@node(goto=["work"])
def plan(state: State) -> list[Send]:
    return [Send("work"), Send("work")]


work = node(lambda state: None, name="work")


def fan_out(middleware: Middleware, *rest: Middleware) -> Graph[State]:
    return Graph(State, state_store=InMemoryStateStore(), middleware=[middleware, *rest]).flow(
        START >> plan, work >> END
    )


def test_tasks_of_one_superstep_keep_keys_of_their_own() -> None:
    kept: list[Any] = []

    class Last(ByTask):
        def on_run_end(self, ctx: Any, outcome: Any) -> None:
            kept.append(dict(ctx.memory))

    fan_out(Last()).invoke({}, thread_id="t")

    assert kept == [{"plan": True, "work": True, "work[1]": True}]


def test_two_tasks_that_change_one_key_are_refused() -> None:
    class Same(Middleware):
        def after_node(self, ctx: Any) -> None:
            ctx.memory["last"] = ctx.task_id

    with pytest.raises(InvalidUpdateError, match=r"Same.memory\['last'\]"):
        fan_out(Same()).invoke({}, thread_id="t")


def test_each_class_has_a_dict_of_its_own() -> None:
    class One(Counting):
        pass

    class Other(Counting):
        pass

    one, other = One(), Other()
    graph = Graph(State, middleware=[one, other]).flow(START >> count >> END)

    graph.invoke({})

    assert (one.seen, other.seen) == ([1], [1])


def test_before_graph_can_begin_a_turn_anew_and_a_resume_go_on() -> None:
    counts: list[int] = []

    class PerTurn(Middleware):
        def before_graph(self, ctx: Any) -> None:
            if not ctx.resuming:
                ctx.memory.clear()

        def after_node(self, ctx: Any) -> None:
            ctx.memory["n"] = ctx.memory.get("n", 0) + 1
            counts.append(ctx.memory["n"])

    @node
    def ask(state: State) -> None:
        interrupt("?", id="q")

    graph = Graph(State, state_store=InMemoryStateStore(), middleware=[PerTurn()]).flow(START >> count >> ask >> END)
    for _ in range(2):
        graph.invoke({}, thread_id="t")
        graph.invoke(None, thread_id="t", resume=Resume(None))

    assert counts == [1, 2, 1, 2]


@pytest.mark.parametrize("hook", ["after_graph", "on_run_end"])
def test_hooks_after_the_last_commit_only_read(hook: str) -> None:
    def late(self: Any, ctx: Any, *_: Any) -> None:
        ctx.memory["n"] = 1

    late_class: Callable[[], Middleware] = type("Late", (Middleware,), {hook: late})

    with pytest.raises(TypeError, match="does not support item assignment"):
        Graph(State, middleware=[late_class()]).flow(START >> count >> END).invoke({})


def test_what_is_no_json_fails_the_task_and_keeps_nothing() -> None:
    class Wrong(Middleware):
        def after_node(self, ctx: Any) -> None:
            ctx.memory["bad"] = object()

    with pytest.raises(StateStoreError, match=r"ctx\.memory of Wrong"):
        Graph(State, middleware=[Wrong()]).flow(START >> count >> END).invoke({})


def test_an_inner_graph_keeps_its_own_and_begins_anew_each_time() -> None:
    counting = Counting()
    inner = Graph(State, name="inner", middleware=[counting]).flow(START >> count >> END)
    sub = subgraph("sub", inner, share=["n"])
    graph = Graph(State, state_store=InMemoryStateStore()).flow(
        START >> sub >> when(lambda s: s.n < 2, sub, otherwise=END)
    )

    graph.invoke({}, thread_id="t")

    assert counting.seen == [1, 1]
