"""A pause that a node turns into an error of its own is swallowed as well: nothing approves in the place of a person."""

from __future__ import annotations

import asyncio

import pytest

from nodestep import END, START, Graph, InterruptSwallowedError, Middleware, NodeContext, Retry, interrupt, node
from nodestep.middleware import Replacement
from tests.asking import lone


def ask():
    return {"approved": interrupt("Approve?", id="approve")}


def turning(state):
    try:
        return ask()
    except BaseException as signal:
        raise ValueError("no answer") from signal


def failing_clean_up(state):
    try:
        return ask()
    finally:
        raise OSError("no disk")


@pytest.mark.parametrize("body", [turning, failing_clean_up])
def test_a_pause_turned_into_an_error_is_swallowed(store, body):
    with pytest.raises(InterruptSwallowedError, match=r"'ask'.*'approve'") as swallowed:
        lone(body, store).invoke({}, thread_id="t")
    assert isinstance(swallowed.value.__cause__, ValueError | OSError)


def test_a_pause_turned_into_an_error_is_not_tried_again(store):
    ran: list[int] = []

    def body(state, ctx: NodeContext):
        ran.append(ctx.attempt)
        return turning(state) if ctx.attempt == 1 else {"approved": True}

    trying = node(body, name="ask", retry=Retry(3, initial_delay_s=0))
    graph = Graph(dict, state_store=store).flow(START >> trying >> END)
    with pytest.raises(InterruptSwallowedError):
        graph.invoke({}, thread_id="t")
    assert ran == [1]


def test_a_pause_turned_into_an_error_is_shown_to_no_error_hook(store):
    class Fallback(Middleware):
        def on_error(self, ctx, error):
            return Replacement({"approved": True})

    with pytest.raises(InterruptSwallowedError):
        lone(turning, store, middleware=[Fallback()]).invoke({}, thread_id="t")


def test_an_error_beside_a_question_is_no_pause_turned_into_an_error(store):
    class Fallback(Middleware):
        def on_error(self, ctx, error):
            return Replacement({"fallback": type(error).__name__})

    async def fail():
        raise ValueError("no rate for today")

    async def asking():
        return ask()

    async def body(state):
        await asyncio.gather(fail(), asking())

    assert lone(body, store, middleware=[Fallback()]).invoke({}, thread_id="t").data == {"fallback": "ValueError"}
