"""Questions asked by several coroutines of one node at once."""

from __future__ import annotations

import asyncio
import sys

import pytest

from nodestep import (
    END,
    START,
    Graph,
    GraphExecutionError,
    GraphInterrupt,
    Middleware,
    Resume,
    Retry,
    interrupt,
    node,
)
from nodestep.middleware import Replacement
from tests.asking import lone


async def ask(id: str):
    return interrupt(f"{id}?", id=id)


async def fail():
    raise ValueError("no rate for today")


async def in_group(*asking):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(coroutine) for coroutine in asking]
    return [task.result() for task in tasks]


async def gathered(*asking):
    return await asyncio.gather(*asking)


TOGETHER = pytest.mark.parametrize("together", [in_group, gathered])


@TOGETHER
def test_a_question_asked_in_a_group_pauses(store, together):
    async def body(state):
        return {"got": await together(ask("a"), asyncio.sleep(0, "b"))}

    graph = lone(body, store)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:a"]
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).data == {"got": [1, "b"]}


@TOGETHER
def test_questions_asked_in_a_group_at_the_same_time_pause_together(store, together):
    async def body(state):
        return {"got": await together(ask("a"), ask("b"))}

    graph = lone(body, store)
    assert sorted(graph.invoke({}, thread_id="t").interrupts) == ["ask:a", "ask:b"]
    done = graph.invoke(None, thread_id="t", resume=Resume(answers={"ask:a": 1, "ask:b": 2}))
    assert done.data == {"got": [1, 2]}


@pytest.mark.parametrize("around", [lambda asked: asyncio.wait_for(asked, 10), asyncio.shield, asyncio.ensure_future])
def test_a_question_asked_through_another_task_pauses(store, around):
    async def body(state):
        return {"got": await around(ask("a"))}

    graph = lone(body, store)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:a"]
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).data == {"got": 1}


def test_questions_asked_in_groups_inside_groups_pause(store):
    async def body(state):
        return {"got": await in_group(in_group(ask("a")), ask("b"))}

    graph = lone(body, store)
    keys = set(graph.invoke({}, thread_id="t").interrupts)
    assert keys
    assert keys <= {"ask:a", "ask:b"}


@TOGETHER
@pytest.mark.parametrize("error_first", [True, False])
def test_a_real_error_beside_a_question_wins_in_a_group(store, together, error_first):
    async def body(state):
        both = (fail(), ask("a")) if error_first else (ask("a"), fail())
        return {"got": await together(*both)}

    graph = lone(body, store)
    if together is gathered and not error_first:
        # gather() ends with what came first and tells of nothing else.
        assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:a"]
        return
    with pytest.raises((ValueError, ExceptionGroup)) as failed:
        graph.invoke({}, thread_id="t")
    error = failed.value
    if isinstance(error, ExceptionGroup):
        assert [type(inner) for inner in error.exceptions] == [ValueError]
    assert asyncio.run(graph.pending("t")).items == ()


def test_a_real_error_beside_a_question_is_tried_again_and_then_the_question_is_asked(store):
    tries = [1, 2]

    async def flaky():
        if tries.pop() == 2:
            raise ValueError("no rate for today")

    async def body(state):
        return {"got": (await in_group(flaky(), ask("a")))[1]}

    asking = node(body, name="ask", retry=Retry(2, initial_delay_s=0))
    graph = Graph(dict, state_store=store).flow(START >> asking >> END)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:a"]


def test_an_error_hook_sees_a_real_error_beside_a_question(store):
    class Instead(Middleware):
        def on_error(self, ctx, error):
            return Replacement({"got": [type(inner).__name__ for inner in error.exceptions]})

    async def body(state):
        return {"got": await in_group(fail(), ask("a"))}

    assert lone(body, store, middleware=[Instead()]).invoke({}, thread_id="t").data == {"got": ["ValueError"]}


def test_hooks_answer_questions_asked_in_a_group():
    class Yes(Middleware):
        def on_interrupt(self, ctx, payload):
            return payload

    async def body(state):
        return {"got": await in_group(ask("a"), ask("b"))}

    assert lone(body, middleware=[Yes()]).invoke({}).data == {"got": ["a?", "b?"]}


@pytest.mark.parametrize("beside", [[], [fail]], ids=["alone", "beside an error"])
def test_a_group_that_ends_with_a_pause_made_by_hand_fails(store, beside):
    async def by_hand():
        raise GraphInterrupt("ask:a")

    async def body(state):
        await in_group(by_hand(), *(failing() for failing in beside))

    with pytest.raises((GraphExecutionError, ExceptionGroup)):
        lone(body, store).invoke({}, thread_id="t")


@pytest.mark.parametrize("hook", ["before_node", "after_node", "on_error"])
def test_a_question_asked_in_a_group_of_a_hook_pauses(store, hook):
    async def asking(self, ctx, *rest):
        await in_group(ask("a"))

    async def body(state):
        if hook == "on_error":
            raise OSError("no disk")

    gate = type("Gate", (Middleware,), {hook: asking})()
    graph = lone(body, store, middleware=[gate])
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:a"]


def test_what_ends_the_process_in_a_group_passes_through(store):
    async def leave():
        sys.exit(3)

    async def body(state):
        await in_group(leave(), ask("a"))

    with pytest.raises(SystemExit):
        lone(body, store).invoke({}, thread_id="t")
