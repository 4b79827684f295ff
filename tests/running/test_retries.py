"""Attempts after a failure, and the hook that answers for the last one."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import END, START, Middleware, NodeContext, Retry, interrupt
from nodestep.middleware import Replacement

from .making import Log, both, does, of, says


def flaky(times: int, error: Exception | None = None, tries: list[int] | None = None):
    """A node that fails so many times, counted by the context, and then writes which attempt it is."""

    def body(state: Log, ctx: NodeContext):
        if tries is not None:
            tries.append(ctx.attempt)
        if ctx.attempt <= times:
            raise error or ConnectionError("no route")
        return {"n": ctx.attempt}

    return body


def asynchronous(body):
    async def body_too(state: Log, ctx: NodeContext):
        return body(state, ctx)

    return body_too


def now(max_attempts: int = 3, **options: Any) -> Retry:
    return Retry(max_attempts, initial_delay_s=0, **options)


@pytest.mark.parametrize("form", [lambda body: body, asynchronous], ids=["plain", "async"])
def test_a_failing_node_is_tried_again(form):
    assert both(of(START >> does("a", form(flaky(2)), retry=now(3)) >> END), {}).state.n == 3


@pytest.mark.parametrize("form", [lambda body: body, asynchronous], ids=["plain", "async"])
def test_the_last_failure_is_raised_as_it_was(form):
    error = ConnectionError("no route")
    graph = of(START >> does("a", form(flaky(9, error)), retry=now(3)) >> END)

    with pytest.raises(ConnectionError) as caught:
        graph.invoke({})
    assert caught.value is error


def test_a_node_without_retry_is_tried_once():
    tries: list[int] = []
    with pytest.raises(ConnectionError):
        of(START >> does("a", flaky(9, tries=tries)) >> END).invoke({})

    assert tries == [1]


@pytest.mark.parametrize("on", [LookupError, (ValueError, LookupError)])
def test_only_the_named_errors_are_tried_again(on):
    tries: list[int] = []
    graph = of(START >> does("a", flaky(9, KeyError("k"), tries), retry=now(3, on=on)) >> END)
    with pytest.raises(KeyError):
        graph.invoke({})
    assert tries == [1, 2, 3]

    tries.clear()
    graph = of(START >> does("a", flaky(9, OSError(), tries), retry=now(3, on=on)) >> END)
    with pytest.raises(OSError):  # noqa: PT011 - it has no text
        graph.invoke({})
    assert tries == [1]


def test_parallel_tasks_are_tried_again_each_on_its_own():
    graph = of(
        START
        >> [does("a", flaky(1), retry=now()), does("b", asynchronous(lambda s, c: {"log": ["b"]}))]
        >> says("c")
        >> END
    )

    assert both(graph, {}).state == Log(n=2, log=["b", "c"])


def test_every_attempt_sees_the_state_unchanged():
    seen = []

    def body(state: Log, ctx: NodeContext):
        seen.append(list(state.log))
        state.log.append("dirt")
        if ctx.attempt < 3:
            raise ValueError
        return state

    assert of(START >> does("a", body, retry=now()) >> END).invoke({"log": ["x"]}).state.log == ["x", "dirt"]
    assert seen == [["x"], ["x"], ["x"]]


def test_what_once_recorded_is_not_computed_again_on_the_next_attempt(store):
    paid: list[int] = []

    def body(state: Log, ctx: NodeContext):
        ctx.once("pay", lambda: paid.append(1))
        if ctx.attempt < 3:
            raise ValueError
        return {"n": ctx.attempt}

    graph = of(START >> does("a", body, retry=now()) >> END)
    assert graph.invoke({}).state.n == 3
    assert graph.invoke({}, thread_id="t", state_store=store).state.n == 3
    assert paid == [1, 1]


def test_the_idempotency_key_is_the_same_on_every_attempt():
    keys = []

    def body(state: Log, ctx: NodeContext):
        keys.append(ctx.idempotency_key)
        if ctx.attempt < 3:
            raise ValueError

    of(START >> does("a", body, retry=now()) >> END).invoke({})
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_a_pause_is_not_tried_again(store):
    tries: list[int] = []

    def ask(state: Log, ctx: NodeContext):
        tries.append(ctx.attempt)
        return {"n": interrupt("?", id="n")}

    graph = of(START >> does("a", ask, retry=now(3, on=Exception)) >> END, state_store=store)

    assert graph.invoke({}, thread_id="t").status == "interrupted"
    assert tries == [1]


class Rescue(Middleware):
    """Answers for errors."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.errors: list[Exception] = []

    def on_error(self, ctx, error):
        self.errors.append(error)
        return self.answer


def test_on_error_is_asked_after_the_last_attempt_and_its_result_is_used():
    rescue = Rescue(Replacement({"n": 99}))
    graph = of(START >> does("a", flaky(9), retry=now(3)) >> says("b") >> END, middleware=[rescue])

    assert both(graph, {}).state == Log(n=99, log=["b"])
    assert [str(error) for error in rescue.errors] == ["no route", "no route"]


def test_an_on_error_that_answers_nothing_leaves_the_error():
    rescue = Rescue()
    with pytest.raises(ConnectionError):
        of(START >> does("a", flaky(9)) >> END, middleware=[rescue]).invoke({})

    assert len(rescue.errors) == 1


def test_on_error_is_not_asked_for_a_pause(store):
    rescue = Rescue(Replacement({"n": 99}))
    graph = of(START >> does("a", lambda state: {"n": interrupt("?", id="n")}) >> END, middleware=[rescue])

    assert graph.invoke({}, thread_id="t", state_store=store).status == "interrupted"
    assert rescue.errors == []
