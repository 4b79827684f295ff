"""Answers in code: which hook answers, what counts as an answer, and that a hook that fails never approves."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    GraphConfigError,
    GraphInterrupt,
    Middleware,
    Resume,
    Retry,
    StateStoreError,
    interrupt,
    node,
)
from nodestep.middleware import NodeMiddlewareContext
from tests.asking import lone


class Scripted(Middleware):
    """Answers as a function says, and notes what it was asked."""

    def __init__(self, decide):
        self.decide = decide
        self.asked: list[Any] = []

    def on_interrupt(self, ctx, payload):
        self.asked.append(payload)
        return self.decide(payload)


def careless(state):
    """A node that takes any exception for a yes."""
    try:
        return {"approved": interrupt("Approve?", id="approve")}
    except Exception:
        return {"approved": "fallback"}


def raising(payload):
    raise LookupError("the policy service is away")


@pytest.mark.parametrize("falsy", [False, 0, "", [], {}])
def test_a_falsy_answer_of_a_hook_is_an_answer(falsy):
    late = Scripted(lambda payload: "yes")
    done = lone(careless, middleware=[Scripted(lambda payload: falsy), late]).invoke({})
    assert (done.data, late.asked) == ({"approved": falsy}, [])


def test_a_hook_is_told_task_state_and_payload(store):
    seen: list[NodeMiddlewareContext] = []

    class Look(Middleware):
        def on_interrupt(self, ctx: NodeMiddlewareContext, payload: object) -> object:
            seen.append(ctx)
            return "yes" if payload == "Approve?" else None

    graph = lone(careless, store, middleware=[Look()])
    graph.invoke({"amount": 5}, thread_id="t")
    (ctx,) = seen
    assert (ctx.graph_name, ctx.node_name, ctx.task_id, ctx.thread_id) == ("lone", "ask", "ask", "t")
    assert ctx.state == {"amount": 5}


def test_what_a_hook_does_to_the_state_it_is_shown_reaches_nobody():
    class Changing(Middleware):
        def on_interrupt(self, ctx, payload):
            ctx.state["items"].append("from the hook")
            return "yes"

    def body(state):
        interrupt("?", id="a")
        return {"seen": list(state["items"])}

    done = lone(body, middleware=[Changing()]).invoke({"items": ["a"]})
    assert done.data == {"items": ["a"], "seen": ["a"]}


def test_an_answer_of_a_hook_is_json_like_any_other():
    class Pair(Middleware):
        def on_interrupt(self, ctx, payload):
            return ("a", "b")

    assert lone(careless, middleware=[Pair()]).invoke({}).data == {"approved": ["a", "b"]}


@pytest.mark.parametrize("position", ["only", "before one that answers"])
def test_a_hook_that_raises_fails_the_node_and_approves_nothing(store, position):
    yes = Scripted(lambda payload: "yes")
    hooks = [Scripted(raising), *([yes] if position != "only" else [])]
    graph = lone(careless, store, middleware=hooks)
    with pytest.raises(LookupError, match="policy service"):
        graph.invoke({}, thread_id="t")
    assert yes.asked == []
    assert asyncio.run(graph.pending("t")).items == ()
    assert asyncio.run(graph.load("t")) == {}


def test_a_hook_that_raises_fails_also_a_node_that_catches_everything(store):
    def deaf(state):
        try:
            return {"approved": interrupt("Approve?", id="approve")}
        except BaseException:
            return {"approved": "fallback"}

    with pytest.raises(LookupError):
        lone(deaf, store, middleware=[Scripted(raising)]).invoke({}, thread_id="t")


@pytest.mark.parametrize(
    "raised",
    [GraphInterrupt("ask:approve"), KeyboardInterrupt(), asyncio.CancelledError()],
    ids=lambda e: type(e).__name__,
)
def test_a_hook_that_raises_more_than_an_exception_approves_nothing(store, raised):
    def deaf(state):
        try:
            return {"approved": interrupt("Approve?", id="approve")}
        except BaseException:
            return {"approved": "fallback"}

    def stop(payload):
        raise raised

    graph = lone(deaf, store, middleware=[Scripted(stop)])
    with pytest.raises(BaseException):  # noqa: B017, PT011 - which one is the hook's affair
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.load("t")) == {}


def test_a_hook_that_raised_is_asked_again_when_the_run_goes_on(store):
    moods = [raising, lambda payload: "yes"]
    graph = lone(careless, store, middleware=[Scripted(lambda payload: moods.pop(0)(payload))])
    with pytest.raises(LookupError):
        graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t").data == {"approved": "yes"}


def test_a_hook_that_raises_is_not_taken_for_a_failure_to_retry(store):
    deciding = Scripted(raising)
    asking = node(careless, name="ask", retry=Retry(3, initial_delay_s=0))
    graph = Graph(dict, state_store=store, middleware=[deciding]).flow(START >> asking >> END)
    with pytest.raises(LookupError):
        graph.invoke({}, thread_id="t")
    assert deciding.asked == ["Approve?"]


@pytest.mark.parametrize(
    "unfit", [lambda: 1, object(), float("nan"), {1: 1, "1": 2}], ids=["lambda", "object", "nan", "keys"]
)
def test_an_answer_of_a_hook_that_is_no_json_fails_the_node_also_when_it_catches_errors(store, unfit):
    with pytest.raises(StateStoreError, match="on_interrupt answer to 'approve' in node 'ask'"):
        lone(careless, store, middleware=[Scripted(lambda payload: unfit)]).invoke({}, thread_id="t")


def test_a_question_must_be_one_that_can_be_stored_whoever_answers_it(store):
    deciding = Scripted(lambda payload: "yes")
    graph = lone(lambda state: {"got": interrupt({"call": print}, id="a")}, store, middleware=[deciding])
    with pytest.raises(StateStoreError, match="question 'a' in node 'ask'"):
        graph.invoke({}, thread_id="t")
    assert deciding.asked == []


def test_an_answer_of_a_hook_is_kept_over_a_later_pause(store):
    once = [True]

    def decide(payload):
        return "by hook" if payload == "A?" and once and once.pop() else None

    deciding = Scripted(decide)
    graph = lone(
        lambda state: {"got": [interrupt("A?", id="a"), interrupt("B?", id="b")]}, store, middleware=[deciding]
    )
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:b"]
    done = graph.invoke(None, thread_id="t", resume=Resume("by person"))
    assert done.data == {"got": ["by hook", "by person"]}
    assert deciding.asked == ["A?", "B?"]


def test_an_answer_of_a_hook_is_kept_over_a_failure(store):
    broken = [True]
    deciding = Scripted(lambda payload: "yes")

    def ask(state):
        answer = interrupt("A?", id="a")
        if broken and broken.pop():
            raise OSError("no disk")
        return {"got": answer}

    graph = lone(ask, store, middleware=[deciding])
    with pytest.raises(OSError, match="no disk"):
        graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t").data == {"got": "yes"}
    assert deciding.asked == ["A?"]


def test_a_persons_answer_comes_before_a_hook_that_changed_its_mind(store):
    open_minded = [None, "by hook"]
    graph = lone(
        lambda state: {"got": interrupt("A?", id="a")},
        store,
        middleware=[Scripted(lambda payload: open_minded.pop(0))],
    )
    graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume("by person")).data == {"got": "by person"}


def test_a_hook_that_returns_a_coroutine_answers_nothing(store):
    async def later():
        return "yes"

    made = []

    def decide(payload):
        made.append(later())
        return made[-1]

    with pytest.raises(StateStoreError, match="coroutine"):
        lone(lambda state: {"got": interrupt("A?", id="a")}, store, middleware=[Scripted(decide)]).invoke(
            {}, thread_id="t"
        )
    made[0].close()


def test_an_async_hook_is_refused_also_when_a_base_class_brings_it():
    class Mixin:
        async def on_interrupt(self, ctx, payload):
            return "yes"

    with pytest.raises(GraphConfigError, match=r"on_interrupt is async def"):

        class Late(Mixin, Middleware):
            pass
