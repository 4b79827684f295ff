"""Where a question can be asked, and the clear refusal everywhere else."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    Middleware,
    NodeTimeoutError,
    Resume,
    branch,
    interrupt,
    interrupt_many,
    node,
    when,
)
from nodestep.middleware import Replacement
from tests.asking import lone

OUTSIDE = "outside a running node"


def quiet(state) -> None:
    return None


@pytest.mark.parametrize("ask", [lambda: interrupt("?", id="a"), lambda: interrupt_many({"a": "?"})])
def test_outside_a_node_it_is_an_error(ask):
    with pytest.raises(RuntimeError, match=OUTSIDE):
        ask()


@pytest.mark.parametrize("kind", ["branch", "when"])
def test_in_a_router_it_is_an_error(store, kind):
    def choose(state):
        return interrupt("Where?", id="a")

    target = node(quiet, name="target")
    way = branch(choose, {"x": target}) if kind == "branch" else when(choose, target, otherwise=END)
    graph = Graph(dict, name="routed", state_store=store).flow(START >> node(quiet, name="first") >> way, target >> END)
    with pytest.raises(RuntimeError, match=OUTSIDE):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.pending("t")).items == ()


def test_in_a_router_after_start_it_is_an_error():
    def choose(state):
        return interrupt("Where?", id="a")

    target = node(quiet, name="target")
    graph = Graph(dict, name="routed").flow(START >> when(choose, target, otherwise=END), target >> END)
    with pytest.raises(RuntimeError, match=OUTSIDE):
        graph.invoke({})


def test_in_a_reducer_it_is_an_error(store):
    def asking(current: int | None, update: int) -> int:
        return interrupt("Sum?", id="a")

    class Sum(BaseState):
        total: Annotated[int, asking] = 0

    graph = Graph(Sum, state_store=store).flow(START >> node(lambda state: {"total": 1}, name="n") >> END)
    with pytest.raises(RuntimeError, match=OUTSIDE):
        graph.invoke({}, thread_id="t")


@pytest.mark.parametrize("hook", [None, "after_node"])
def test_in_a_validator_of_the_state_it_is_an_error(store, hook):
    """A validator is asked for the update and again for its stored form, so it could never find its answer."""

    def asking(value: int) -> int:
        if value:
            interrupt("Sure?", id="a")
        return value

    class Sum(BaseState):
        total: Annotated[int, AfterValidator(asking)] = 0

    def replaces(self, ctx):
        return Replacement({"total": 1})

    middleware = [] if hook is None else [type("Replacing", (Middleware,), {hook: replaces})()]
    writes = node(lambda state: {"total": 0 if hook else 1}, name="n")
    graph = Graph(Sum, state_store=store, middleware=middleware).flow(START >> writes >> END)
    with pytest.raises(RuntimeError, match=OUTSIDE):
        graph.invoke({}, thread_id="t")


@pytest.mark.parametrize("hook", ["before_graph", "after_graph", "on_run_end"])
def test_in_a_graph_hook_it_is_an_error(store, hook):
    def asks(self, ctx, *rest):
        interrupt("?", id="a")

    asking = type("Asking", (Middleware,), {hook: asks})()
    with pytest.raises(RuntimeError, match=OUTSIDE):
        lone(quiet, store, middleware=[asking]).invoke({}, thread_id="t")


def test_in_a_router_of_a_graph_that_a_node_runs_it_is_an_error(store):
    def choose(state):
        return interrupt("Where?", id="a")

    target = node(quiet, name="target")
    inner = Graph(dict, name="inner").flow(START >> when(choose, target, otherwise=END), target >> END)

    def outer(state):
        inner.invoke({})

    with pytest.raises(RuntimeError, match=OUTSIDE):
        lone(outer, store).invoke({}, thread_id="t")


def test_a_thread_pool_of_the_nodes_own_does_not_carry_the_question(store):
    def ask(state):
        with ThreadPoolExecutor(1) as pool:
            return {"got": pool.submit(interrupt, "?", id="a").result(timeout=10)}

    with pytest.raises(RuntimeError, match=r"asyncio\.to_thread"):
        lone(ask, store).invoke({}, thread_id="t")


def test_a_thread_with_a_copy_of_the_nodes_context_asks_for_the_node(store):
    def ask(state):
        context = contextvars.copy_context()
        with ThreadPoolExecutor(1) as pool:
            return {"got": pool.submit(lambda: context.run(interrupt, "?", id="a")).result(timeout=10)}

    graph = lone(ask, store)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:a"]
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).data == {"got": 1}


def test_asyncio_to_thread_asks_for_the_node(store):
    async def ask(state):
        return {"got": await asyncio.to_thread(interrupt, "?", id="a")}

    graph = lone(ask, store)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:a"]
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).data == {"got": 1}


@pytest.mark.parametrize("hook", ["before_node", "after_node"])
def test_a_node_hook_asks_for_its_task(store, hook):
    got: list[Any] = []

    def asks(self, ctx):
        got.append(interrupt("Let it?", id="gate"))

    asking = type("Asking", (Middleware,), {hook: asks})()
    ran: list[str] = []
    graph = lone(lambda state: ran.append("ask"), store, middleware=[asking])
    paused = graph.invoke({}, thread_id="t")
    assert list(paused.interrupts) == ["ask:gate"]
    assert ran == ([] if hook == "before_node" else ["ask"])
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).status == "completed"
    assert got == ["yes"]


def test_an_error_hook_asks_for_its_task(store):
    class Ask(Middleware):
        def on_error(self, ctx, error):
            return Replacement({"got": interrupt(f"Instead of {error}?", id="instead")})

    def broken(state):
        raise OSError("no disk")

    graph = lone(broken, store, middleware=[Ask()])
    paused = graph.invoke({}, thread_id="t")
    assert paused.interrupts["ask:instead"].payload == "Instead of no disk?"
    assert graph.invoke(None, thread_id="t", resume=Resume(7)).data == {"got": 7}


@pytest.mark.parametrize("is_async", [True, False])
def test_an_error_hook_asks_also_after_a_timeout(store, is_async):
    release = threading.Event()

    class Ask(Middleware):
        def on_error(self, ctx, error):
            return Replacement({"got": interrupt(type(error).__name__, id="instead")})

    def body(state):
        release.wait(10)

    async def abody(state):
        await asyncio.Event().wait()

    slow = node(abody if is_async else body, name="ask", timeout=0.02)
    graph = Graph(dict, state_store=store, middleware=[Ask()]).flow(START >> slow >> END)
    try:
        assert graph.invoke({}, thread_id="t").interrupts["ask:instead"].payload == "NodeTimeoutError"
    finally:
        release.set()


def test_a_plain_node_left_behind_by_its_timeout_cannot_ask(store):
    release, told = threading.Event(), threading.Event()
    late: list[BaseException] = []

    def body(state):
        release.wait(10)
        try:
            interrupt("?", id="a")
        except BaseException as error:
            late.append(error)
        told.set()

    graph = Graph(dict, state_store=store).flow(START >> node(body, name="ask", timeout=0.02) >> END)
    with pytest.raises(NodeTimeoutError):
        graph.invoke({}, thread_id="t")
    release.set()
    assert told.wait(10)
    assert [type(error) for error in late] == [RuntimeError]
    assert "'ask'" in str(late[0])
    assert asyncio.run(graph.pending("t")).items == ()


@pytest.mark.parametrize("is_async", [False, True])
def test_after_a_node_has_run_another_graph_its_questions_are_its_own_again(store, is_async):
    inner = Graph(dict, name="inner").flow(START >> node(lambda state: {"inner": True}, name="inside") >> END)

    def body(state):
        inner.invoke({})
        return {"got": interrupt("?", id="a")}

    async def abody(state):
        await inner.ainvoke({})
        return {"got": interrupt("?", id="a")}

    graph = lone(abody if is_async else body, store)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:a"]
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).data == {"got": 1}


def test_a_task_left_running_after_its_node_has_ended_cannot_ask(store):
    late: list[BaseException | None] = []

    async def run():
        go_on = asyncio.Event()

        async def ask_late():
            await go_on.wait()
            interrupt("?", id="a")

        async def ask(state):
            spawned.append(asyncio.create_task(ask_late()))

        spawned: list[asyncio.Task] = []
        done = await lone(ask, store).ainvoke({}, thread_id="t")
        go_on.set()
        await asyncio.wait(spawned)
        late.append(spawned[0].exception())
        return done

    assert asyncio.run(run()).status == "completed"
    assert isinstance(late[0], RuntimeError)
    assert "'ask'" in str(late[0])
