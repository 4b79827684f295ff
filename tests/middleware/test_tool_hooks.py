"""The hooks around tool calls: their order, what they see, what they change, and what their errors do."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import END, START, Graph, GraphExecutionError, Middleware, ToolExecutionError, subgraph, tool, tool_runner
from nodestep.hooks import ToolMiddlewareContext
from nodestep.middleware import InterruptRule, Replacement, ToolInterruptMiddleware
from tests.agents.acting import Shop, Turn, acting, call, start, told


class Notes(Middleware):
    def __init__(self, name: str, lines: list[Any]) -> None:
        self.name = name
        self.lines = lines

    def before_tool(self, ctx: ToolMiddlewareContext) -> None:
        self.lines.append((self.name, "before", ctx.value))

    async def after_tool(self, ctx: ToolMiddlewareContext) -> None:
        self.lines.append((self.name, "after", ctx.value))

    def on_tool_error(self, ctx: ToolMiddlewareContext, error: Exception) -> None:
        self.lines.append((self.name, "error", ctx.value))


@pytest.fixture
def shop() -> Shop:
    return Shop()


def test_before_hooks_are_asked_in_order_and_the_others_in_the_reverse(shop):
    lines: list[Any] = []
    start(acting(shop.tools, middleware=[Notes("a", lines), Notes("b", lines)]), call("look_up", order="1"))
    assert lines == [
        ("a", "before", {"order": "1"}),
        ("b", "before", {"order": "1"}),
        ("b", "after", "order 1"),
        ("a", "after", "order 1"),
    ]


def test_hooks_see_arguments_as_they_will_run(shop):
    lines: list[Any] = []
    start(acting(shop.tools, middleware=[Notes("a", lines)]), call("refund", amount="5"))
    assert lines[0] == ("a", "before", {"amount": 5.0, "note": ""})


def test_a_hook_sees_which_call_it_is(shop):
    seen: list[Any] = []

    class Looks(Middleware):
        def before_tool(self, ctx):
            seen.append((ctx.tool_name, ctx.tool_call_id, ctx.node_name, ctx.graph_name, ctx.task_id, ctx.step))
            seen.append(len(ctx.state.tool_calls))

    start(acting(shop.tools, middleware=[Looks()]), call("look_up", "call 1", order="1"))
    assert seen == [("look_up", "call 1", "act", "acting", "call.201", 0), 1]


def test_a_hook_changes_only_its_own_copy_of_the_arguments(shop):
    class Changes(Middleware):
        def before_tool(self, ctx):
            ctx.value["amount"] = 9000

    start(acting(shop.tools, middleware=[Changes()]), call("refund", amount=5))
    assert shop.ran == [("refund", 5.0, "")]


def test_arguments_and_result_can_be_replaced(shop):
    class Replaces(Middleware):
        def before_tool(self, ctx):
            return Replacement({"order": f"#{ctx.value['order']}"})

        def after_tool(self, ctx):
            return Replacement([ctx.value])

    graph = acting(shop.tools, middleware=[Replaces()])
    assert told(start(graph, call("look_up", order="1"))) == ['{"result":["order #1"]}']


def test_replaced_arguments_are_checked(shop):
    class Replaces(Middleware):
        def before_tool(self, ctx):
            return Replacement({"amount": "lots"})

    graph = acting(shop.tools, middleware=[Replaces()], tool_errors="return")
    assert told(start(graph, call("refund", amount=5)))[0].startswith("Tool error: ArgumentsError: amount")
    assert shop.ran == []


@pytest.mark.parametrize("hook", ["before_tool", "after_tool"])
def test_a_hook_that_returns_something_else_fails_the_node(shop, hook):
    odd = type("Odd", (Middleware,), {hook: lambda self, ctx: {"amount": 1}})
    with pytest.raises(GraphExecutionError, match=r"Replacement\(value\)"):
        start(acting(shop.tools, middleware=[odd()], tool_errors="return"), call("refund", amount=5))


def test_an_error_is_shown_and_an_error_of_the_hook_becomes_a_note():
    lines: list[Any] = []

    class Breaks(Middleware):
        def on_tool_error(self, ctx, error):
            raise RuntimeError("broken")

    @tool
    def fail(why: str) -> None:
        """Fail."""
        raise ValueError(why)

    with pytest.raises(ToolExecutionError) as caught:
        start(acting([fail], middleware=[Notes("a", lines), Breaks()]), call("fail", why="x"))
    assert lines == [("a", "before", {"why": "x"}), ("a", "error", {"why": "x"})]
    assert caught.value.__notes__ == ["on_tool_error failed as well: RuntimeError: broken"]


def test_hooks_of_the_graphs_around_cover_the_calls_and_come_last(shop):
    lines: list[Any] = []
    act = tool_runner("act", tools=shop.tools)
    inner = Graph(Turn, middleware=[Notes("inner", lines)]).flow(START >> act >> END)
    outer = Graph(Turn, middleware=[Notes("outer", lines)]).flow(
        START >> subgraph("sub", inner, share=["messages", "tool_calls"]) >> END
    )
    outer.invoke({"tool_calls": [call("look_up", order="1")]})
    assert [(name, when) for name, when, _ in lines] == [
        ("inner", "before"),
        ("outer", "before"),
        ("inner", "after"),
        ("outer", "after"),
    ]


def test_ag_03_rules_of_the_graphs_around_cover_the_calls(store, shop):
    inner = Graph(Turn).flow(START >> tool_runner("act", tools=shop.tools) >> END)
    outer = Graph(Turn, state_store=store, middleware=[ToolInterruptMiddleware(rules=[InterruptRule("refund")])]).flow(
        START >> subgraph("sub", inner, share=["messages", "tool_calls"]) >> END
    )
    paused = outer.invoke({"tool_calls": [call("refund", amount=5)]}, thread_id="t")
    assert list(paused.interrupts) == ["sub/act:approve_call_1"]
    assert shop.ran == []
