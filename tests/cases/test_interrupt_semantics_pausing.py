"""Cases of kind interrupt-semantics about pausing; each test bears its case's id."""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    GraphConfigError,
    InterruptSwallowedError,
    Middleware,
    NodeContext,
    Resume,
    Retry,
    StateStoreError,
    interrupt,
    node,
    when,
)
from nodestep.middleware import Replacement
from tests.asking import lone


def test_is_01_code_before_the_question_runs_twice_and_code_after_it_once(store):
    ran: list[str] = []

    def body(state: dict, ctx: NodeContext) -> None:
        ran.append("before")
        if "priced" not in ctx.cache:
            ran.append("pricing")
            ctx.cache["priced"] = True
        interrupt("Ok?", id="ok")
        ran.append("after")

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert {entry: ran.count(entry) for entry in ran} == {"before": 2, "pricing": 1, "after": 1}


@pytest.mark.parametrize("how", ["try", "suppress"])
@pytest.mark.parametrize("is_async", [False, True])
def test_is_07_except_exception_does_not_swallow_the_pause(store, how, is_async):
    def guarded(state):
        answer = "fallback"
        if how == "try":
            try:
                answer = interrupt("Approve?", id="approve")
            except Exception:
                answer = "fallback"
        else:
            with contextlib.suppress(Exception):
                answer = interrupt("Approve?", id="approve")
        return {"answer": answer}

    async def aguarded(state):
        return guarded(state)

    graph = lone(aguarded if is_async else guarded, store)
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).data == {"answer": "yes"}


@pytest.mark.parametrize("how", ["except BaseException", "gather"])
def test_is_08_a_pause_caught_by_force_never_ends_as_completed(store, how):
    """The semantics decide: it fails with InterruptSwallowedError."""

    async def body(state):
        async def ask():
            return interrupt("Approve?", id="approve")

        if how == "gather":
            await asyncio.gather(ask(), return_exceptions=True)
            return {"approved": True}
        try:
            return {"approved": await ask()}
        except BaseException:
            return {"approved": True}

    graph = lone(body, store)
    with pytest.raises(InterruptSwallowedError):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.load("t")) == {}


def test_is_09_a_pause_is_no_failure_and_a_real_one_after_the_answer_is_retried_with_it(store):
    ran: list[int] = []
    failed: list[Exception] = []

    class Fallback(Middleware):
        def on_error(self, ctx, error):
            failed.append(error)
            return Replacement({"got": "fallback"})

    def body(state: dict, ctx: NodeContext) -> dict[str, Any]:
        ran.append(ctx.attempt)
        answer = interrupt("Approve?", id="approve")
        if len(ran) == 2:
            raise OSError("a moment's trouble")
        return {"got": answer}

    asking = node(body, name="ask", retry=Retry(3, initial_delay_s=0))
    graph = Graph(dict, state_store=store, middleware=[Fallback()]).flow(START >> asking >> END)
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    assert (ran, failed) == ([1], [])
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).data == {"got": "yes"}
    assert (ran, failed) == ([1, 1, 2], [])


def test_is_10_the_time_a_person_takes_is_no_time_of_the_node_or_the_graph(store, clock):
    async def body(state):
        return {"got": interrupt("Approve?", id="approve")}

    asking = node(body, name="ask", timeout=5)
    graph = Graph(dict, state_store=store, timeout=5).flow(START >> asking >> END)
    graph.invoke({}, thread_id="t")
    clock.forward(3 * 24 * 3600 * 1000)
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).data == {"got": "yes"}


@pytest.mark.parametrize("has_store", [False, True], ids=["no store", "no thread_id"])
@pytest.mark.parametrize("form", ["invoke", "ainvoke", "worker"])
def test_is_15_what_is_missing_for_a_pause_is_told_by_an_ordinary_exception(store, has_store, form):
    graph = lone(lambda state: {"got": interrupt("Approve?", id="approve")}, store if has_store else None)

    async def worker() -> Exception | None:
        try:
            await graph.ainvoke({})
        except Exception as error:
            return error
        return None

    match form:
        case "worker":
            error = asyncio.run(worker())
        case "ainvoke":
            with pytest.raises(GraphConfigError) as told:
                asyncio.run(graph.ainvoke({}))
            error = told.value
        case _:
            with pytest.raises(GraphConfigError) as told:
                graph.invoke({})
            error = told.value
    assert isinstance(error, GraphConfigError)
    assert ("thread_id" if has_store else "store") in str(error)


def test_is_18_a_payload_that_cannot_be_stored_fails_the_pause_and_names_node_and_id(store, tmp_path):
    (tmp_path / "form.txt").write_text("text")
    with (tmp_path / "form.txt").open() as file:
        for payload in ({"cb": lambda: 1}, file):
            graph = lone(lambda state, payload=payload: interrupt(payload, id="x"), store)
            with pytest.raises(StateStoreError, match=r"'x'.*'ask'"):
                graph.invoke({}, thread_id="t")
            assert asyncio.run(graph.pending("t")).items == ()
        assert file.read() == "text"


def test_is_19_the_cache_survives_the_tasks_pauses_and_is_empty_on_a_later_visit(store, reopened):
    """A later visit is another task, so it starts with an empty cache."""
    seen: list[dict[str, Any]] = []

    @node
    def offer(state: dict, ctx: NodeContext) -> dict[str, Any]:
        seen.append(dict(ctx.cache))
        ctx.cache.setdefault("price", 42)
        first = interrupt("First?", id="a")
        interrupt("Second?", id="b")
        return {"again": first}

    def graph(store) -> Graph:
        return Graph(dict, name="offers", state_store=store).flow(
            START >> offer >> when(lambda state: state["again"], offer, otherwise=END)
        )

    graph(store).invoke({}, thread_id="t")
    graph(reopened()).invoke(None, thread_id="t", resume=Resume(True))
    later = graph(reopened()).invoke(None, thread_id="t", resume=Resume("ok"))
    assert later.status == "interrupted"
    assert seen == [{}, {"price": 42}, {"price": 42}, {}]


def test_is_20_a_question_no_longer_reached_leaves_the_thread_completed_and_the_answer_in_history(store):
    needed = [True, False]

    def body(state):
        return {"got": interrupt("Ok?", id="ok") if needed.pop(0) else "not needed"}

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert (done.status, done.data) == ("completed", {"got": "not needed"})
    events = asyncio.run(graph.history("t")).events
    assert [event.data["answers"] for event in events if event.type == "answered"] == [{"ask:ok": "yes"}]


class Total(BaseState):
    total: int = 0


@pytest.mark.parametrize("place", ["router", "pool"])
def test_is_22_asking_where_it_cannot_work_is_a_clear_error(store, place):
    def body(state):
        if place == "pool":
            with ThreadPoolExecutor(1) as pool:
                pool.submit(interrupt, "?", id="a").result(timeout=10)

    def choose(state):
        return bool(interrupt("?", id="a"))

    asking = node(body, name="ask")
    graph = Graph(Total, state_store=store).flow(START >> asking >> when(choose, asking, otherwise=END))
    with pytest.raises(RuntimeError, match="outside a running node"):
        graph.invoke({}, thread_id="t")


def test_is_22_asking_through_to_thread_asks_for_the_right_task(store):
    def asking(name: str):
        async def ask(state):
            return {name: await asyncio.to_thread(interrupt, name, id="a")}

        return node(ask, name=name)

    left, right = asking("left"), asking("right")
    graph = Graph(dict, state_store=store).flow(
        START >> node(lambda state: None, name="start") >> [left, right], left >> END, right >> END
    )
    paused = graph.invoke({}, thread_id="t")
    assert {key: asked.payload for key, asked in paused.interrupts.items()} == {"left:a": "left", "right:a": "right"}


@pytest.mark.parametrize("id", ["", "a:b", "a b", "a/b", 5, None, "ä", "x" * 10_240])
def test_is_23_a_bad_id_is_refused_at_the_call_and_the_thread_is_not_paused(store, id):
    """Letters outside ASCII are refused."""
    graph = lone(lambda state: interrupt("?", id=id), store)
    with pytest.raises(ValueError, match=r"ASCII letters, digits, '_', '\.' and '-'"):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.pending("t")).items == ()


def test_is_23_a_missing_id_is_refused_at_the_call(store):
    graph = lone(lambda state: interrupt("?"), store)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="id"):
        graph.invoke({}, thread_id="t")
