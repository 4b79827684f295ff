"""Cases of kind docs-DX; each test bears its case's id."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    GraphChangedError,
    GraphConfigError,
    Middleware,
    Resume,
    interrupt,
    node,
)
from tests.asking import lone, refusal


@pytest.fixture
def ran() -> list[str]:
    return []


def asking(store, ran: list[str], id: str = "approve") -> Graph:
    def body(state):
        ran.append(id)
        return {"got": interrupt("Approve?", id=id)}

    return lone(body, store)


def test_dx_01_an_answer_given_as_input_is_told_the_right_call(store, ran):
    graph = asking(store, ran)
    graph.invoke({}, thread_id="t")
    with refusal(store, TypeError, "invoke(None, thread_id=..., resume=Resume(...))", ran=ran):
        graph.invoke(Resume("yes"), thread_id="t")


@pytest.mark.parametrize("habit", ["yes", Command(goto=[]), {"ask:approve": "yes"}])
def test_dx_01_what_is_no_resume_is_told_the_right_call(store, ran, habit):
    graph = asking(store, ran)
    graph.invoke({}, thread_id="t")
    words = ("resume=Resume(value)", "resume=Resume(answers={key: value, ...})", type(habit).__name__)
    with refusal(store, TypeError, *words, ran=ran):
        graph.invoke(None, thread_id="t", resume=habit)


class Before(BaseState):
    amount: int = 0
    note: str = "x"
    got: Any = None


class Without(BaseState):
    amount: int = 0
    got: Any = None


class WithDefault(Before):
    day: str = "monday"


class WithRequired(Before):
    day: str


class OtherType(BaseState):
    amount: int = 0
    note: int = 0
    got: Any = None


def over(state: type[BaseState], store, ran: list[str]) -> Graph:
    def body(state):
        ran.append("ask")
        return {"got": interrupt("Approve?", id="approve")}

    return Graph(state, name="order", state_store=store).flow(START >> node(body, name="ask") >> END)


def test_dx_03_a_removed_field_is_left_out_and_kept_in_history(store, ran):
    over(Before, store, ran).invoke({"amount": 5}, thread_id="t")
    graph = over(Without, store, ran)
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state == Without(amount=5, got="yes")
    assert asyncio.run(graph.load("t"))["note"] == "x"


def test_dx_03_a_new_field_gets_its_default(store, ran):
    over(Before, store, ran).invoke({"amount": 5}, thread_id="t")
    done = over(WithDefault, store, ran).invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state == WithDefault(amount=5, got="yes", day="monday")


@pytest.mark.parametrize(("changed", "field"), [(WithRequired, "'day'"), (OtherType, "'note'")])
def test_dx_03_a_new_required_field_or_another_type_is_told_and_nothing_is_written(store, ran, changed, field):
    over(Before, store, ran).invoke({"amount": 5}, thread_id="t")
    with refusal(store, GraphChangedError, field, ran=ran):
        over(changed, store, ran).invoke(None, thread_id="t", resume=Resume("yes"))
    assert over(Before, store, ran).invoke(None, thread_id="t", resume=Resume("yes")).state.got == "yes"


@pytest.mark.parametrize("changed", [WithRequired, OtherType])
def test_dx_03_the_thread_is_named(store, ran, changed):
    over(Before, store, ran).invoke({"amount": 5}, thread_id="order-17")
    with pytest.raises(GraphChangedError, match="'order-17'"):
        over(changed, store, ran).invoke(None, thread_id="order-17", resume=Resume("yes"))


def test_dx_04_an_answer_to_a_question_that_new_code_asks_otherwise_is_not_given_to_the_new_one(store, ran):
    asking(store, ran).invoke({}, thread_id="t")
    changed = asking(store, ran, "approve_v2")
    paused = changed.invoke(None, thread_id="t", resume=Resume(answers={"ask:approve": "yes"}))
    assert list(paused.interrupts) == ["ask:approve_v2"]
    events = asyncio.run(changed.history("t")).events
    assert [event.data["answers"] for event in events if event.type == "answered"] == [{"ask:approve": "yes"}]
    assert changed.invoke(None, thread_id="t", resume=Resume("no")).data == {"got": "no"}


def test_dx_05_a_pause_looks_the_same_wherever_it_is_read(store, reopened, ran):
    graph = asking(store, ran)
    paused = graph.invoke({}, thread_id="t")
    assert paused.status == "interrupted"
    asked = dict(paused.interrupts)
    assert {key: one.payload for key, one in asked.items()} == {"ask:approve": "Approve?"}
    later = reopened()
    by_graph = asyncio.run(asking(later, ran).pending("t")).items
    by_store = asyncio.run(later.pending("t")).items
    assert {one.key: one for one in by_graph} == {one.key: one for one in by_store} == asked
    (*_, streamed) = lone(lambda state: interrupt("Approve?", id="approve"), store).stream(
        {}, thread_id="s", stream_mode=[]
    )
    assert streamed.mode == "interrupt"
    assert streamed.data.interrupts == asked


@pytest.mark.parametrize("pausing", ["invoke", "ainvoke"])
@pytest.mark.parametrize("answering", ["invoke", "ainvoke"])
def test_dx_06_a_run_may_pause_in_one_style_and_go_on_in_the_other(store, ran, pausing, answering):
    def call(form: str, graph: Graph, *args: Any, **options: Any) -> Any:
        return graph.invoke(*args, **options) if form == "invoke" else asyncio.run(graph.ainvoke(*args, **options))

    def plain(state):
        return {"plain": interrupt("Plain?", id="a")}

    async def awaited(state):
        await asyncio.sleep(0)
        return {"awaited": interrupt("Awaited?", id="a")}

    graph = Graph(dict, name="mixed", state_store=store).flow(
        START >> node(plain, name="plain") >> node(awaited, name="awaited") >> END
    )
    assert list(call(pausing, graph, {}, thread_id="t").interrupts) == ["plain:a"]
    assert list(call(answering, graph, None, thread_id="t", resume=Resume(1)).interrupts) == ["awaited:a"]
    assert call(pausing, graph, None, thread_id="t", resume=Resume(2)).data == {"plain": 1, "awaited": 2}


def test_dx_06_an_async_hook_works_for_a_blocking_call(store):
    called: list[str] = []

    class Waiting(Middleware):
        async def before_node(self, ctx):
            await asyncio.sleep(0)
            called.append(ctx.node_name)

    lone(lambda state: None, store, middleware=[Waiting()]).invoke({}, thread_id="t")
    assert called == ["ask"]


def test_dx_06_a_blocking_call_inside_an_event_loop_is_told_the_async_one(store, ran):
    async def run():
        asking(store, ran).invoke({}, thread_id="t")

    with pytest.raises(GraphConfigError, match=r"inside a running event loop.*await graph\.ainvoke"):
        asyncio.run(run())
    assert ran == []
