"""`ctx.once` and `ctx.aonce`: a result is recorded before it is returned, and not computed again."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    GraphExecutionError,
    NodeContext,
    Resume,
    Retry,
    StateStoreError,
    interrupt,
    node,
)
from tests.asking import lone
from tests.interrupts.charging import ask_then_return
from tests.watching import Watched


def test_it_is_not_computed_again_after_a_pause(store, reopened, counter, charging):
    body = charging(ask_then_return)
    lone(body, store).invoke({}, thread_id="t")
    done = lone(body, reopened()).invoke(None, thread_id="t", resume=Resume(1))
    assert done.data == {"got": ["receipt", 1]}
    assert counter.calls == [(5, ("currency", "EUR"))]


def test_it_is_not_computed_again_after_a_failure(store, reopened, counter, charging):
    broken = [True]

    def fail_once(receipt: Any, ctx: NodeContext) -> Any:
        if broken and broken.pop():
            raise OSError("no disk")
        return {"got": receipt}

    with pytest.raises(OSError, match="no disk"):
        lone(charging(fail_once), store).invoke({}, thread_id="t")
    assert lone(charging(fail_once), reopened()).invoke(None, thread_id="t").data == {"got": "receipt"}
    assert len(counter.calls) == 1


@pytest.mark.parametrize("has_store", [True, False])
def test_it_is_not_computed_again_by_a_retry(store, counter, charging, has_store):
    def fail_twice(receipt: Any, ctx: NodeContext) -> Any:
        if ctx.attempt < 3:
            raise OSError("no disk")
        return {"got": receipt}

    trying = node(charging(fail_twice), name="ask", retry=Retry(3, initial_delay_s=0))
    graph = Graph(dict, state_store=store if has_store else None).flow(START >> trying >> END)
    assert graph.invoke({}, thread_id="t").data == {"got": "receipt"}
    assert len(counter.calls) == 1


def test_it_is_recorded_before_it_is_returned(store, counter, charging):
    watched = Watched(store)
    recorded: list[Any] = []

    def look(receipt: Any, ctx: NodeContext) -> None:
        recorded.append([kind for kinds in watched.kinds() for kind in kinds][-1])

    lone(charging(look), watched).invoke({}, thread_id="t")
    assert recorded == ["OnceRecorded"]


def test_it_is_not_computed_again_after_a_crash(store, clock, counter, charging):
    """The process dies after the record: nothing that it writes later arrives."""

    def dead(facts):
        if not any(type(fact).__name__ in ("Started", "OnceRecorded") for fact in facts):
            raise StateStoreError("the process is gone")

    body = charging(lambda receipt, ctx: {"got": receipt})
    with pytest.raises(StateStoreError, match="gone"):
        lone(body, Watched(store, dead)).invoke({}, thread_id="t")
    clock.forward(60_000)
    assert lone(body, store).invoke(None, thread_id="t").data == {"got": "receipt"}
    assert len(counter.calls) == 1


@pytest.mark.parametrize("second", ["once", "aonce"])
def test_an_id_twice_in_one_run_of_a_task_is_an_error(store, counter, second):
    async def body(state: dict, ctx: NodeContext) -> None:
        ctx.once("charge", counter.charge)
        if second == "once":
            ctx.once("charge", counter.charge)
        else:
            await ctx.aonce("charge", counter.acharge)

    with pytest.raises(GraphExecutionError, match=r"'ask' calls ctx\.once with the id 'charge' twice"):
        lone(body, store).invoke({}, thread_id="t")
    assert len(counter.calls) == 1


@pytest.mark.parametrize("id", ["", "a b", "a:b", None, 5, "é"])
def test_its_id_is_like_a_questions(store, counter, id):
    def body(state: dict, ctx: NodeContext) -> None:
        ctx.once(id, counter.charge)

    with pytest.raises(ValueError, match="once"):
        lone(body, store).invoke({}, thread_id="t")
    assert counter.calls == []


def test_a_question_and_a_once_may_share_an_id(store, counter):
    def body(state: dict, ctx: NodeContext) -> Any:
        return {"got": [ctx.once("a", counter.charge), interrupt("?", id="a")]}

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).data == {"got": ["receipt", 1]}


def test_a_pause_inside_records_nothing(store, counter):
    def ask_and_charge():
        answer = interrupt("Charge?", id="a")
        counter.charge()
        return answer

    def body(state: dict, ctx: NodeContext) -> Any:
        return {"got": ctx.once("charge", ask_and_charge)}

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    assert counter.calls == []
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).data == {"got": "yes"}
    assert len(counter.calls) == 1


@pytest.mark.parametrize("kind", ["once", "aonce"])
def test_a_failure_inside_records_nothing(store, counter, kind):
    broken = [True]

    def flaky():
        counter.charge()
        if broken and broken.pop():
            raise OSError("no disk")
        return "done"

    async def aflaky():
        return flaky()

    async def body(state: dict, ctx: NodeContext) -> Any:
        return {"got": ctx.once("charge", flaky) if kind == "once" else await ctx.aonce("charge", aflaky)}

    graph = lone(body, store)
    with pytest.raises(OSError, match="no disk"):
        graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t").data == {"got": "done"}
    assert len(counter.calls) == 2


def test_its_result_is_json_the_first_time_already(store, charging, counter):
    counter.result = ("a", {1: "x"})
    seen: list[Any] = []

    def look(receipt: Any, ctx: NodeContext) -> None:
        seen.append(receipt)
        interrupt("?", id="a")

    graph = lone(charging(look), store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(1))
    assert seen == [["a", {"1": "x"}]] * 2


def test_a_result_that_is_no_json_is_refused_and_named(store, counter, charging):
    counter.result = print
    with pytest.raises(StateStoreError, match=r"once\('charge'\) in node 'ask'"):
        lone(charging(lambda receipt, ctx: None), store).invoke({}, thread_id="t")


def test_what_the_node_does_to_the_result_is_not_recorded(store, counter, charging):
    counter.result = {"list": [1]}
    seen: list[Any] = []

    def change(receipt: Any, ctx: NodeContext) -> None:
        seen.append([*receipt["list"]])
        receipt["list"].append(2)
        interrupt("?", id="a")

    graph = lone(charging(change), store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(1))
    assert seen == [[1], [1]]
    assert counter.result == {"list": [1]}


def test_none_is_a_result(store, counter, charging):
    counter.result = None
    graph = lone(charging(ask_then_return), store)
    graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).data == {"got": [None, 1]}
    assert len(counter.calls) == 1
