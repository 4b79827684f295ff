"""In which order hooks are called, plain and async, under each way of running."""

from __future__ import annotations

import asyncio

import pytest

from nodestep import END, START, Graph, Middleware, Resume, Retry, interrupt, node
from nodestep.middleware import Replacement
from tests.middleware.noting import Awaiting, Noting, chain


@pytest.fixture
def log() -> list[str]:
    return []


def run(form: str, graph: Graph, *args, **options):
    return graph.invoke(*args, **options) if form == "invoke" else asyncio.run(graph.ainvoke(*args, **options))


FORM = pytest.mark.parametrize("form", ["invoke", "ainvoke"])
KIND = pytest.mark.parametrize("kind", [Noting, Awaiting])


@FORM
@KIND
def test_before_hooks_are_called_in_order_and_the_others_reversed(log, form, kind):
    def body(state):
        log.append("node")

    run(form, chain(body, middleware=[kind("A", log), kind("B", log)]), {})
    assert log == [
        "A.before_graph",
        "B.before_graph",
        "A.before_node",
        "B.before_node",
        "node",
        "B.after_node",
        "A.after_node",
        "B.after_graph",
        "A.after_graph",
        "B.on_run_end",
        "A.on_run_end",
    ]


@FORM
@KIND
def test_the_first_error_hook_from_the_inside_that_has_a_result_ends_the_matter(log, form, kind):
    def body(state):
        raise OSError("no disk")

    hooks = [kind("A", log), kind("B", log, on_error=Replacement({"mended": True})), kind("C", log)]
    done = run(form, chain(body, middleware=hooks), {})
    assert [entry for entry in log if "on_error" in entry] == ["C.on_error", "B.on_error"]
    assert done.data == {"mended": True}
    assert "A.after_node" in log


@FORM
@KIND
def test_a_run_that_pauses_has_no_after_hooks_and_ends_all_the_same(store, log, form, kind):
    def ask(state):
        interrupt("?", id="a")

    graph = chain(lambda state: None, ask, middleware=[kind("A", log)], store=store)
    run(form, graph, {}, thread_id="t")
    per_node = ["A.before_node", "A.after_node", "A.before_node"]
    assert log == ["A.before_graph", *per_node, "A.on_run_end"]
    log.clear()
    run(form, graph, None, thread_id="t", resume=Resume(1))
    assert log == ["A.before_graph", "A.before_node", "A.after_node", "A.after_graph", "A.on_run_end"]


@KIND
def test_hooks_wrap_every_task_of_a_superstep(log, kind):
    left, right = (node(lambda state: None, name=name) for name in ("left", "right"))
    graph = Graph(dict, middleware=[kind("A", log)]).flow(
        START >> node(lambda state: None, name="start") >> [left, right], left >> END, right >> END
    )
    graph.invoke({})
    assert log.count("A.before_node") == log.count("A.after_node") == 3


def test_node_hooks_are_called_once_around_all_tries(log):
    tries: list[int] = []

    def body(state):
        tries.append(1)
        if len(tries) < 3:
            raise OSError("no disk")

    chain(body, middleware=[Noting("A", log)], retry=Retry(3, initial_delay_s=0)).invoke({})
    assert len(tries) == 3
    assert [entry for entry in log if "node" in entry or "error" in entry] == ["A.before_node", "A.after_node"]


def test_a_middleware_listed_twice_is_called_twice(log):
    twice = Noting("A", log)
    chain(lambda state: None, middleware=[twice, twice]).invoke({})
    assert log.count("A.before_node") == 2


@FORM
def test_async_hooks_may_wait(form):
    class Waiting(Middleware):
        async def before_graph(self, ctx):
            await asyncio.sleep(0)

        async def before_node(self, ctx):
            await asyncio.sleep(0)
            return Replacement({"waited": True})

        async def on_run_end(self, ctx, outcome):
            await asyncio.sleep(0)

    graph = chain(lambda state: {"got": state["waited"]}, middleware=[Waiting()])
    assert run(form, graph, {}).data == {"got": True}


@FORM
def test_a_plain_hook_may_return_something_to_wait_for(form):
    async def later():
        await asyncio.sleep(0)
        return Replacement({"waited": True})

    class Handing(Middleware):
        def before_node(self, ctx):
            return later()

    graph = chain(lambda state: {"got": state["waited"]}, middleware=[Handing()])
    assert run(form, graph, {}).data == {"got": True}
