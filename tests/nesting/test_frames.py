"""Graphs inside tasks, at any depth: what was finished inside is not done again, whatever ended the run before."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    GraphChangedError,
    InMemoryStateStore,
    NodeContext,
    Resume,
    add,
    interrupt,
    node,
    subgraph,
    when,
)


class Log(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)


Run = Callable[..., Any]


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request: pytest.FixtureRequest) -> Run:
    if request.param == "invoke":
        return lambda graph, *args, **kwargs: graph.invoke(*args, **kwargs)
    return lambda graph, *args, **kwargs: asyncio.run(graph.ainvoke(*args, **kwargs))


@pytest.fixture
def calls() -> list[str]:
    return []


def inner_graph(calls: list[str]) -> Graph[Log]:
    @node
    def work(state: Log) -> dict[str, Any]:
        calls.append("work")
        return {"log": ["work"]}

    @node
    def ask(state: Log) -> dict[str, Any]:
        calls.append("ask")
        return {"log": [f"ask {interrupt('ok?', id='ok')}"]}

    return Graph(Log, name="inner").flow(START >> work >> ask >> END)


def two_deep(calls: list[str]) -> Graph[Log]:
    middle = Graph(Log, name="middle").flow(START >> subgraph("deep", inner_graph(calls), share=["log"]) >> END)
    before = node(lambda state: {"log": ["before"]}, name="before")
    after = node(lambda state: {"log": ["after"]}, name="after")
    flow = START >> before >> subgraph("sub", middle, share=["log"]) >> after >> END
    return Graph(Log, name="outer", state_store=InMemoryStateStore()).flow(flow)


def test_a_pause_two_graphs_deep_shows_at_the_top_under_its_path(run: Run, calls: list[str]) -> None:
    result = run(two_deep(calls), {}, thread_id="t")

    assert result.status == "interrupted"
    assert list(result.interrupts) == ["sub/deep/ask:ok"]
    assert result.state.log == ["before"]


def test_finished_inner_nodes_do_not_run_again_after_a_pause(run: Run, calls: list[str]) -> None:
    graph = two_deep(calls)
    run(graph, {}, thread_id="t")

    result = run(graph, None, thread_id="t", resume=Resume("yes"))

    assert result.state.log == ["before", "work", "ask yes", "after"]
    assert calls == ["work", "ask", "ask"]


def test_a_pause_below_makes_as_many_commits_as_a_flat_one(run: Run, calls: list[str]) -> None:
    graph = two_deep(calls)
    run(graph, {}, thread_id="t")
    n_paused = len(asyncio.run(graph.history("t")).checkpoints)
    run(graph, None, thread_id="t", resume=Resume("yes"))
    n_all = len(asyncio.run(graph.history("t")).checkpoints)

    assert n_paused == 1 + 1 + 1 + 1  # the claim, before, work, the pause
    assert n_all == n_paused + 1 + 1 + 1  # the answer, ask with both ends, after


def test_several_calls_from_one_node_pause_together_and_are_not_repeated(run: Run, calls: list[str]) -> None:
    inner = inner_graph(calls)

    @node
    async def outer(state: Log, ctx: NodeContext) -> dict[str, Any]:
        one, two = await asyncio.gather(ctx.call(inner, id="one"), ctx.call(inner, {"log": ["given"]}, id="two"))
        return {"log": [*one.log, *two.log]}

    graph = Graph(Log, name="outer", state_store=InMemoryStateStore()).flow(START >> outer >> END)
    paused = run(graph, {}, thread_id="t")
    done = run(graph, None, thread_id="t", resume=Resume(answers=dict.fromkeys(paused.interrupts, "yes")))

    assert sorted(paused.interrupts) == ["outer/one/ask:ok", "outer/two/ask:ok"]
    assert done.state.log == ["work", "ask yes", "given", "work", "ask yes"]
    assert sorted(calls) == ["ask"] * 4 + ["work"] * 2


def test_a_call_waits_beside_a_pause_until_its_graph_has_come_to_its_end(run: Run) -> None:
    events: list[str] = []

    @node
    async def slow(state: Log) -> dict[str, Any]:
        await asyncio.sleep(0.01)
        events.append("slow ended")
        return {"log": ["slow"]}

    slow_graph = Graph(Log, name="slow").flow(START >> slow >> END)
    asking = Graph(Log, name="asking").flow(START >> node(lambda s: interrupt("?", id="q"), name="ask") >> END)

    @node
    async def outer(state: Log, ctx: NodeContext) -> None:
        await asyncio.gather(ctx.call(asking, id="asking"), ctx.call(slow_graph, id="slow"))

    graph = Graph(Log, state_store=InMemoryStateStore()).flow(START >> outer >> END)

    assert run(graph, {}, thread_id="t").status == "interrupted"
    assert events == ["slow ended"]
    assert run(graph, None, thread_id="t", resume=Resume(None)).status == "completed"
    assert events == ["slow ended"]


def test_a_failure_inside_fails_the_outer_task_and_goes_on_where_it_failed(run: Run) -> None:
    calls: list[str] = []
    broken = [True]

    @node
    def first(state: Log) -> None:
        calls.append("first")

    @node
    def fragile(state: Log) -> None:
        calls.append("fragile")
        if broken[0]:
            raise OSError("down")

    inner = Graph(Log, name="inner").flow(START >> first >> fragile >> END)
    graph = Graph(Log, name="outer", state_store=InMemoryStateStore()).flow(
        START >> subgraph("sub", inner, share=["log"]) >> END
    )
    with pytest.raises(OSError, match="down"):
        run(graph, {}, thread_id="t")
    broken[0] = False

    assert run(graph, None, thread_id="t").status == "completed"
    assert calls == ["first", "fragile", "fragile"]


def test_a_call_that_comes_back_with_another_graph_is_refused(run: Run, calls: list[str]) -> None:
    graphs = [inner_graph(calls), Graph(Log, name="other").flow(START >> node(lambda s: None, name="n") >> END)]

    @node
    async def outer(state: Log, ctx: NodeContext) -> None:
        await ctx.call(graphs[0], id="one")

    graph = Graph(Log, name="outer", state_store=InMemoryStateStore()).flow(START >> outer >> END)
    run(graph, {}, thread_id="t")
    graphs.reverse()

    with pytest.raises(GraphChangedError, match="inner"):
        run(graph, None, thread_id="t", resume=Resume("yes"))


def test_the_next_round_of_a_loop_begins_the_inner_graph_anew(run: Run) -> None:
    keys: list[str] = []

    @node
    def inner_work(state: Log, ctx: NodeContext) -> dict[str, Any]:
        keys.append(ctx.idempotency_key)
        return {"log": ["x"]}

    inner = Graph(Log, name="inner").flow(START >> inner_work >> END)
    sub = subgraph("sub", inner, state_in=lambda s: {}, state_out=lambda s: {"log": s.log})

    @node(goto=["sub"])
    def again(state: Log) -> Any:
        return Command(goto="sub") if len(state.log) < 3 else None

    graph = Graph(Log, name="outer", state_store=InMemoryStateStore()).flow(START >> sub >> again >> END)

    assert run(graph, {}, thread_id="t").state.log == ["x", "x", "x"]
    assert len(set(keys)) == 3


def test_an_error_that_the_node_handled_does_not_win_over_a_later_pause(run: Run, calls: list[str]) -> None:
    def fail(state: Log) -> None:
        raise OSError("down")

    broken = Graph(Log, name="broken").flow(START >> node(fail) >> END)
    inner = inner_graph(calls)

    @node
    async def outer(state: Log, ctx: NodeContext) -> None:
        with contextlib.suppress(OSError):
            await ctx.call(broken, id="broken")
        await ctx.call(inner, id="inner")

    graph = Graph(Log, name="outer", state_store=InMemoryStateStore()).flow(START >> outer >> END)

    assert list(run(graph, {}, thread_id="t").interrupts) == ["outer/inner/ask:ok"]


def test_a_snapshot_beside_a_running_task_keeps_what_that_task_recorded_once() -> None:
    """The inner graph writes enough for a snapshot while its sibling has recorded a result and still runs."""
    made: list[str] = []
    store = InMemoryStateStore()

    class Text(BaseState):
        text: str = ""
        rounds: int = 0

    @node
    def write(state: Text) -> dict[str, Any]:
        return {"text": "x" * 9000 + str(state.rounds), "rounds": state.rounds + 1}

    inner = Graph(Text, name="inner").flow(START >> write >> when(lambda s: s.rounds < 6, write, otherwise=END))
    snapshots_written = asyncio.Event()
    die = [True]

    async def make() -> str:
        made.append("made")
        return "result"

    @node
    async def keeper(state: Log, ctx: NodeContext) -> dict[str, Any]:
        result = await ctx.aonce("result", make)
        if die[0]:
            await snapshots_written.wait()
            raise OSError("down")
        return {"log": [result]}

    @node
    async def after_inner(state: Log, ctx: NodeContext) -> None:
        await ctx.call(inner, id="inner")
        snapshots_written.set()

    fork = node(lambda s: None, name="fork")
    graph = Graph(Log, name="outer", state_store=store).flow(START >> fork >> [keeper, after_inner] >> END)
    with pytest.raises(OSError, match="down"):
        asyncio.run(graph.ainvoke({}, thread_id="t"))
    die[0] = False

    assert asyncio.run(graph.ainvoke(None, thread_id="t")).state.log == ["result"]
    assert made == ["made"]
    stored = store.read("t", "main")
    assert stored is not None
    assert stored.snapshot is not None


@pytest.mark.parametrize("beside", [1, 2])
def test_a_plain_node_inside_is_waited_for_when_a_task_beside_its_graph_fails(run: Run, beside: int) -> None:
    began, may_end = threading.Event(), threading.Event()
    calls: list[str] = []
    broken = [True]

    @node
    def slow(state: Log) -> dict[str, Any]:
        calls.append("slow")
        began.set()
        assert may_end.wait(10)
        return {"log": ["slow"]}

    @node
    def last(state: Log) -> dict[str, Any]:
        calls.append("last")
        return {"log": ["last"]}

    if beside == 1:
        inner = Graph(Log, name="inner").flow(START >> slow >> last >> END)
    else:
        waits = node(lambda s: None, name="waits")
        inner = Graph(Log, name="inner").flow(START >> [slow, waits], [slow, waits] >> last >> END)

    @node
    async def fails(state: Log) -> None:
        await asyncio.to_thread(began.wait, 10)
        if broken[0]:
            asyncio.get_running_loop().call_later(0.05, may_end.set)
            raise OSError("down")

    fork = node(lambda s: None, name="fork")
    sub = subgraph("sub", inner, share=["log"])
    graph = Graph(Log, name="outer", state_store=InMemoryStateStore()).flow(START >> fork >> [sub, fails] >> END)
    with pytest.raises(OSError, match="down"):
        run(graph, {}, thread_id="t")
    assert calls == ["slow"]
    broken[0] = False

    assert run(graph, None, thread_id="t").state.log == ["slow", "last"]
    assert calls == ["slow", "last"]
