"""A pause that a node catches: caught by accident it goes on pausing, caught by force the node fails; never an approval."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from nodestep import (
    END,
    START,
    Graph,
    InterruptSwallowedError,
    Middleware,
    Resume,
    Retry,
    interrupt,
    interrupt_many,
    node,
)
from nodestep.middleware import Replacement
from tests.asking import lone


def ask():
    return {"approved": interrupt("Approve?", id="approve")}


def by_except_exception(state):
    try:
        return ask()
    except Exception:
        return {"approved": "fallback"}


def by_suppress_exception(state):
    with contextlib.suppress(Exception):
        return ask()
    return {"approved": "fallback"}


async def by_except_exception_async(state):
    return by_except_exception(state)


async def by_suppress_exception_async(state):
    return by_suppress_exception(state)


@pytest.mark.parametrize(
    "body",
    [by_except_exception, by_suppress_exception, by_except_exception_async, by_suppress_exception_async],
)
def test_what_catches_exceptions_does_not_catch_the_pause(store, body):
    graph = lone(body, store)
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    assert graph.invoke(None, thread_id="t", resume=Resume("no")).data == {"approved": "no"}


def by_bare_except(state):
    try:
        return ask()
    except:  # noqa: E722
        return {"approved": True}


def by_base_exception(state):
    try:
        return ask()
    except BaseException:
        return {"approved": True}


def by_suppress(state):
    with contextlib.suppress(BaseException):
        ask()
    return {"approved": True}


def by_return_in_finally(state):
    try:
        ask()
    finally:
        return {"approved": True}  # noqa: B012


def by_the_many(state):
    try:
        return interrupt_many({"approve": "Approve?", "pay": "Pay?"})
    except BaseException:
        return {"approved": True}


async def by_gather(state):
    async def asking():
        return ask()

    await asyncio.gather(asking(), return_exceptions=True)
    return {"approved": True}


async def by_a_task_never_awaited(state):
    async def asking():
        return ask()

    await asyncio.wait([asyncio.create_task(asking())])
    return {"approved": True}


SWALLOWING = [
    by_bare_except,
    by_base_exception,
    by_suppress,
    by_return_in_finally,
    by_the_many,
    by_gather,
    by_a_task_never_awaited,
]


@pytest.mark.filterwarnings("ignore:'return' in a 'finally' block:SyntaxWarning")
@pytest.mark.parametrize("body", SWALLOWING)
def test_a_swallowed_pause_fails_the_node(store, body):
    graph = lone(body, store)
    with pytest.raises(InterruptSwallowedError, match=r"'ask'.*'approve'"):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.load("t")) == {}
    assert asyncio.run(graph.pending("t")).items == ()


@pytest.mark.parametrize("body", [by_base_exception, by_gather])
def test_a_swallowed_pause_is_not_tried_again(store, body):
    ran: list[int] = []

    async def counted(state):
        ran.append(1)
        result = body(state)
        return await result if asyncio.iscoroutine(result) else result

    asking = node(counted, name="ask", retry=Retry(3, initial_delay_s=0))
    graph = Graph(dict, state_store=store).flow(START >> asking >> END)
    with pytest.raises(InterruptSwallowedError):
        graph.invoke({}, thread_id="t")
    assert ran == [1]


def test_no_error_hook_replaces_a_swallowed_pause(store):
    class Fallback(Middleware):
        def on_error(self, ctx, error):
            return Replacement({"approved": True})

    with pytest.raises(InterruptSwallowedError):
        lone(by_base_exception, store, middleware=[Fallback()]).invoke({}, thread_id="t")


def test_a_second_question_does_not_make_up_for_a_swallowed_one(store):
    def body(state):
        with contextlib.suppress(BaseException):
            interrupt("Approve?", id="approve")
        return {"name": interrupt("Your name?", id="name")}

    graph = lone(body, store)
    paused = graph.invoke({}, thread_id="t")
    assert sorted(paused.interrupts) == ["ask:approve", "ask:name"]


def test_a_swallowed_pause_of_one_task_leaves_what_its_sibling_did_recorded(store):
    ran: list[str] = []
    deaf = [True]

    def sibling(state):
        ran.append("sibling")
        return {"sibling": True}

    asking = node(lambda state: by_base_exception(state) if deaf[0] else ask(), name="ask")
    beside = node(sibling, name="sibling")
    graph = Graph(dict, name="two", state_store=store).flow(
        START >> node(lambda state: None, name="start") >> [asking, beside], asking >> END, beside >> END
    )
    with pytest.raises(InterruptSwallowedError):
        graph.invoke({}, thread_id="t")
    deaf[0] = False
    assert graph.invoke(None, thread_id="t").status == "interrupted"
    assert graph.invoke(None, thread_id="t", resume=Resume("no")).data == {"approved": "no", "sibling": True}
    assert ran == ["sibling"]


@pytest.mark.parametrize("hook", ["before_node", "after_node"])
@pytest.mark.parametrize("retry", [None, Retry(2, initial_delay_s=0)], ids=["once", "retrying"])
def test_a_pause_that_a_hook_swallows_fails_the_node(store, hook, retry):
    def careless(self, ctx):
        with contextlib.suppress(BaseException):
            interrupt("Let it?", id="gate")

    gate = type("Gate", (Middleware,), {hook: careless})()
    asking = node(lambda state: {"done": True}, name="ask", retry=retry)
    graph = Graph(dict, state_store=store, middleware=[gate]).flow(START >> asking >> END)
    with pytest.raises(InterruptSwallowedError, match="'gate'"):
        graph.invoke({}, thread_id="t")


def test_what_the_node_cleans_up_before_it_lets_the_pause_pass_is_done(store):
    cleaned: list[str] = []

    def body(state):
        try:
            return ask()
        except BaseException:
            cleaned.append("caught")
            raise
        finally:
            cleaned.append("finally")

    assert lone(body, store).invoke({}, thread_id="t").status == "interrupted"
    assert cleaned == ["caught", "finally"]


def test_a_pause_that_an_error_hook_swallows_fails_the_node(store):
    class Gate(Middleware):
        def on_error(self, ctx, error):
            with contextlib.suppress(BaseException):
                interrupt("Go on anyway?", id="gate")
            return Replacement({"approved": True})

    def broken(state):
        raise OSError("no disk")

    with pytest.raises(InterruptSwallowedError, match="'gate'"):
        lone(broken, store, middleware=[Gate()]).invoke({}, thread_id="t")
