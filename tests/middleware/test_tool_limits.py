"""`ToolLimitMiddleware`: one budget from an input to its end, through pauses and failures."""

from __future__ import annotations

import pytest

from nodestep import (
    END,
    START,
    Graph,
    GraphConfigError,
    NodeContext,
    RunLimitExceededError,
    Send,
    ToolContext,
    ToolExecutionError,
    interrupt,
    node,
    subgraph,
    tool,
    tool_runner,
    when,
)
from nodestep.chat import ToolCall
from nodestep.middleware import InterruptRule, ToolInterruptMiddleware, ToolLimitMiddleware
from tests.agents.acting import Shop, Turn, acting, answer, call, start


@pytest.fixture
def shop() -> Shop:
    return Shop()


class Rounds(Turn):
    left: int = 3


def looping(shop: Shop, limit: ToolLimitMiddleware, store=None, rules=(), **options) -> Graph[Rounds]:
    """A graph that makes one call in each of three rounds."""

    @node
    def think(state: Rounds) -> dict:
        return {"left": state.left - 1, "tool_calls": [call("refund", amount=state.left)]}

    act = tool_runner("act", tools=shop.tools, **options)
    every = [limit, ToolInterruptMiddleware(rules=rules)]
    return Graph(Rounds, state_store=store, middleware=every).flow(
        START >> think >> act >> when(lambda state: state.left > 0, think, otherwise=END)
    )


def test_a_turn_that_goes_beyond_the_limit_does_not_run(shop):
    graph = acting(shop.tools, middleware=[ToolLimitMiddleware(max_calls=1)])
    with pytest.raises(RunLimitExceededError, match="The run reached max_calls=1") as caught:
        start(graph, call("look_up", "a", order="1"), call("look_up", "b", order="2"))
    assert (caught.value.limit_name, caught.value.limit_value) == ("max_calls", 1)
    assert shop.ran == []


def test_a_tool_may_have_a_limit_of_its_own(shop):
    graph = acting(shop.tools, middleware=[ToolLimitMiddleware(per_tool={"refund": 1})])
    start(graph, call("look_up", "a", order="1"), call("refund", "b", amount=1), call("look_up", "c", order="2"))
    with pytest.raises(RunLimitExceededError, match=r"per_tool\['refund'\]=1"):
        start(graph, call("refund", "a", amount=1), call("refund", "b", amount=1))


def test_the_rounds_of_a_run_share_the_budget(shop):
    assert looping(shop, ToolLimitMiddleware(max_calls=3)).invoke({}).status == "completed"
    with pytest.raises(RunLimitExceededError):
        looping(shop, ToolLimitMiddleware(max_calls=2)).invoke({})
    assert len(shop.ran) == 3 + 2


def test_a_resume_shares_it_too_and_counts_a_paused_turn_once(store, shop):
    graph = looping(shop, ToolLimitMiddleware(max_calls=3), store, [InterruptRule("refund")])
    graph.invoke({}, thread_id="t")
    for _ in range(3):
        result = answer(graph, value=True)
    assert result.status == "completed"
    strict = looping(shop, ToolLimitMiddleware(max_calls=2), store, [InterruptRule("refund")])
    strict.invoke({"left": 3}, thread_id="u")
    answer(strict, value=True, thread="u")
    with pytest.raises(RunLimitExceededError):
        answer(strict, value=True, thread="u")


def test_a_turn_of_which_some_calls_are_recorded_is_counted_once(store, shop):
    graph = acting(shop.tools, store, rules=[InterruptRule("refund")], middleware=[ToolLimitMiddleware(max_calls=2)])
    start(graph, call("look_up", "a", order="1"), call("refund", "b", amount=1))
    assert answer(graph, value=True).status == "completed"


def test_a_new_input_begins_anew(store, shop):
    graph = acting(shop.tools, store, middleware=[ToolLimitMiddleware(max_calls=1)])
    for number in range(3):
        start(graph, call("look_up", order=str(number)))
    assert len(shop.ran) == 3


def test_the_calls_of_a_graph_inside_count(shop):
    inner = Graph(Turn).flow(START >> tool_runner("act", tools=shop.tools) >> END)
    outer = Graph(Turn, middleware=[ToolLimitMiddleware(max_calls=1)]).flow(
        START >> subgraph("sub", inner, share=["messages", "tool_calls"]) >> END
    )
    with pytest.raises(RunLimitExceededError):
        outer.invoke({"tool_calls": [call("look_up", "a", order="1"), call("look_up", "b", order="2")]})
    assert shop.ran == []


class TestInside:
    """Graphs inside, whose calls pause one after the other."""

    @pytest.fixture
    def inner(self, shop) -> Graph[Rounds]:
        return looping(shop, ToolLimitMiddleware(max_calls=50), None, [InterruptRule("refund")])

    @pytest.fixture(params=["node", "call", "tool"])
    def outer(self, request, inner, shop, store):
        """A graph with the inner one in a node, called from a node, or called from a tool."""

        @node
        async def calling(state: Turn, ctx: NodeContext) -> None:
            await ctx.call(inner, {}, id="x")

        @tool
        async def refunds(ctx: ToolContext) -> str:
            """Make three refunds."""
            await ctx.call(inner, {}, id="agent")
            return "done"

        def made(limit: int) -> Graph[Turn]:
            inside = {
                "node": subgraph("sub", inner, state_in=lambda state: {}, state_out=lambda state: {}),
                "call": calling,
                "tool": tool_runner("act", tools=[refunds]),
            }[request.param]
            last = tool_runner("last", tools=shop.tools)
            every = [ToolLimitMiddleware(max_calls=limit + (request.param == "tool"))]

            @node
            def once_more(state: Turn) -> dict:
                return {"tool_calls": [call("look_up", order="1")]}

            return Graph(Turn, state_store=store, middleware=every).flow(START >> inside >> once_more >> last >> END)

        return made

    def answered(self, graph: Graph[Turn], times: int) -> str:
        start(graph, call("refunds"))
        return [answer(graph, value=True).status for _ in range(times)][-1]

    def test_what_was_counted_before_a_pause_counts(self, outer, shop):
        graph = outer(2)
        with pytest.raises((RunLimitExceededError, ToolExecutionError), match="max_calls"):
            self.answered(graph, 3)
        assert len(shop.ran) == 2

    def test_it_counts_once_and_is_kept_when_they_have_come_to_their_end(self, outer, shop):
        assert self.answered(outer(4), 3) == "completed"
        assert len(shop.ran) == 4

    def test_what_they_made_counts_with_what_follows(self, outer, shop):
        with pytest.raises(RunLimitExceededError):
            self.answered(outer(3), 3)
        assert len(shop.ran) == 3


def test_what_a_tool_s_graph_made_counts_when_it_makes_no_call_after_its_pause(store, shop):
    @node
    def begin(state: Turn) -> dict:
        return {"tool_calls": [call("look_up", "a", order="1"), call("look_up", "b", order="2")]}

    @node
    def ask(state: Turn) -> None:
        interrupt("Go on?", id="go")

    inner = Graph(Turn).flow(START >> begin >> tool_runner("act", tools=shop.tools) >> ask >> END)

    @tool
    async def look(ctx: ToolContext) -> str:
        """Look two orders up."""
        await ctx.call(inner, {}, id="agent")
        return "done"

    graph = Graph(Turn, state_store=store, middleware=[ToolLimitMiddleware(max_calls=4)]).flow(
        START >> tool_runner("outer", tools=[look]) >> begin >> tool_runner("last", tools=shop.tools) >> END
    )
    start(graph, call("look"))
    with pytest.raises(RunLimitExceededError):
        answer(graph, value=True)
    assert len(shop.ran) == 2


def test_turns_side_by_side_are_counted_apart(shop):
    act = tool_runner("act", tools=shop.tools)

    @node(goto=[act])
    def spread(state: Turn) -> list[Send]:
        return [Send(act, {"tool_calls": [ToolCall(id="c", name="look_up", arguments={"order": "1"})]})] * 2

    graph = Graph(Turn, middleware=[ToolLimitMiddleware(max_calls=2)]).flow(START >> spread, act >> END)
    assert len(graph.invoke({}).state.messages) == 2


@pytest.mark.parametrize(
    "wrong", [{"max_calls": -1}, {"max_calls": "5"}, {"max_calls": True}, {"per_tool": {"a": 1.5}}]
)
def test_a_limit_is_a_whole_number(wrong):
    with pytest.raises(GraphConfigError, match="a whole number from 0"):
        ToolLimitMiddleware(**wrong)
