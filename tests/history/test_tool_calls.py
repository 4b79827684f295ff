"""Threads that wait in tool calls, pruned, forked and read from snapshots: the calls are there as they were."""

from __future__ import annotations

import asyncio

import pytest

from nodestep import Resume, ToolContext, interrupt, tool
from nodestep.people import history
from tests.agents.acting import OVER_100, Shop, acting, answer, call, start, told


@pytest.fixture
def shop() -> Shop:
    return Shop()


def waiting(store, shop):
    """A call that ended with a long result, one that asks with a cache, and one that waits for approval."""

    @tool
    def choose(ctx: ToolContext) -> str:
        """Choose."""
        ctx.cache["seen"] = ctx.cache.get("seen", 0) + 1
        return f"{interrupt('Which?', id='which')} {ctx.cache['seen']}"

    @tool
    def long(n: int) -> str:
        """Say much."""
        shop.ran.append("long")
        return "x" * n

    graph = acting([choose, long, *shop.tools], store, rules=OVER_100)
    start(graph, call("long", "a", n=40_000), call("choose", "b"), call("refund", "c", amount=500))
    return graph


ANSWERS = {"act/b:which": "red", "act:approve_c": True}


def finishes(graph, shop, branch_id="main"):
    done = graph.invoke(None, thread_id="t", branch_id=branch_id, resume=Resume(answers=ANSWERS))
    assert [content[:20] for content in told(done)] == [
        '{"result":"xxxxxxxxx',
        '{"result":"red 2"}',
        '{"result":"refunded ',
    ]
    assert shop.ran == ["long", ("refund", 500.0, "")]


def test_a_pruned_thread_goes_on(store, reopened, shop):
    graph = waiting(store, shop)
    asyncio.run(graph.prune("t", keep=1))
    finishes(graph, shop)


def test_a_fork_goes_on_with_what_was_recorded(store, shop):
    graph = waiting(store, shop)
    last = history.history(store, "t").events[-1].id
    asyncio.run(graph.fork("t", from_=last, name="other"))
    finishes(graph, shop, "other")


def test_a_superstep_of_tool_calls_is_told_once(store, shop):
    graph = waiting(store, shop)
    answer(graph, ANSWERS)
    told_ = [(event.type, event.node) for event in history.history(store, "t").events]
    assert told_.count(("superstep_started", None)) == 1
    assert told_.count(("node_completed", "act")) == 1


def test_each_decision_is_in_the_audit(store, shop):
    graph = waiting(store, shop)
    answer(graph, ANSWERS)
    records = asyncio.run(store.audit("t")).items
    assert {(record.key, record.value) for record in records} == {("act/b:which", "red"), ("act:approve_c", True)}
