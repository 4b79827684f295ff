"""The page's table "Rules and defaults", its rows about questions and pauses; each test names its row."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    GraphConfigError,
    GraphExecutionError,
    GraphInterrupt,
    Middleware,
    NodeContext,
    Resume,
    ResumeError,
    add,
    interrupt,
    node,
)
from tests.asking import kept, lone, refusal


class Review(BaseState):
    approved: bool = False
    log: Annotated[list[str], add] = Field(default_factory=list)


def approve(state):
    return {"approved": interrupt("Approve?", id="approve")}


# State store: "Interrupts need a state store, and so a thread_id"


def test_row_state_store_a_question_needs_one():
    with pytest.raises(GraphConfigError, match="store"):
        lone(approve).invoke({})


@pytest.mark.parametrize("thread_id", [None, ""])
def test_row_state_store_with_one_a_thread_id_is_required_before_anything_runs(store, thread_id):
    ran: list[str] = []
    graph = lone(lambda state: ran.append("ask"), store)
    with pytest.raises(GraphConfigError, match="thread_id"):
        graph.invoke({}, thread_id=thread_id)
    assert ran == []
    assert kept(store, thread_id or "") is None


def test_row_state_store_a_call_may_bring_it(store):
    graph = lone(approve)
    assert graph.invoke({}, thread_id="t", state_store=store).status == "interrupted"
    done = graph.invoke(None, thread_id="t", state_store=store, resume=Resume("yes"))
    assert done.data == {"approved": "yes"}


# Interrupt `id`: "Required. Unique within one run of its node, and made of letters, digits, `_`, `.` and `-`"


def test_row_interrupt_id_is_required(store):
    graph = lone(lambda state: interrupt("Approve?"), store)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="id"):
        graph.invoke({}, thread_id="t")


def test_row_interrupt_id_is_unique_within_one_run_of_its_node(store):
    def twice(state):
        interrupt("First?", id="same")
        interrupt("Second?", id="same")

    graph = lone(twice, store)
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    with pytest.raises(GraphExecutionError, match=r"'ask'.*'same'.*twice"):
        graph.invoke(None, thread_id="t", resume=Resume("yes"))


@pytest.mark.parametrize("id", ["a", "Z", "7", "sign_off", "v1.2", "a-b", "_", ".", "-", "..", "x" * 256])
def test_row_interrupt_id_takes_letters_digits_and_three_signs(store, id):
    paused = lone(lambda state: interrupt("Approve?", id=id), store).invoke({}, thread_id="t")
    assert list(paused.interrupts) == [f"ask:{id}"]


# Interrupt key: `"<task_id>:<id>"`, for example `"review:approve"`


def test_row_interrupt_key_is_task_id_and_id(store):
    review = node(approve, name="review")
    graph = Graph(Review, state_store=store).flow(START >> review >> END)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["review:approve"]


# Pending `Interrupt`: "Has `key`, `id`, `node`, `task_id` and `payload`"


def test_row_pending_interrupt_has_key_id_node_task_id_and_payload(store):
    payload = {"amount": 80, "to": ["a", "b"]}
    graph = lone(lambda state: interrupt(payload, id="approve"), store)
    returned = graph.invoke({}, thread_id="t").interrupts["ask:approve"]
    (listed,) = asyncio.run(graph.pending("t")).items
    for pending in (returned, listed):
        assert (pending.key, pending.id, pending.node, pending.task_id) == ("ask:approve", "approve", "ask", "ask")
        assert pending.payload == payload


# Resumed node: "It runs again from the top, so code before `interrupt()` runs twice. [...] or keep expensive results in
# `ctx.cache`"


def test_row_resumed_node_runs_again_from_the_top_and_ctx_cache_survives(store):
    ran: list[str] = []

    def offer(state: dict, ctx: NodeContext) -> dict[str, Any]:
        ran.append("before")
        if "price" not in ctx.cache:
            ran.append("pricing")
            ctx.cache["price"] = 42.0
        interrupt("Accept?", id="accept")
        ran.append("after")
        return {"price": ctx.cache["price"]}

    graph = lone(offer, store)
    graph.invoke({}, thread_id="t")
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert ran == ["before", "pricing", "before", "after"]
    assert done.data == {"price": 42.0}


# `GraphInterrupt`: "`interrupt()` raises `GraphInterrupt`, which derives from `BaseException`, so `except Exception` in
# the node does not catch it"


def test_row_graph_interrupt_passes_except_exception(store):
    seen: list[BaseException] = []

    def ask(state):
        try:
            return {"answer": interrupt("Approve?", id="approve")}
        except Exception:
            return {"answer": "fallback"}
        except BaseException as signal:
            seen.append(signal)
            raise

    graph = lone(ask, store)
    paused = graph.invoke({}, thread_id="t")
    assert (paused.status, paused.data) == ("interrupted", {})
    assert [type(signal) for signal in seen] == [GraphInterrupt]
    assert not issubclass(GraphInterrupt, Exception)
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).data == {"answer": "yes"}


# Result of a paused run: "It shows the state before the paused superstep. Writes of tasks that finished in that superstep
# are applied on resume"


def test_row_result_of_a_paused_run_shows_the_state_before_the_superstep(store):
    @node
    def first(state: Review) -> dict:
        return {"log": ["first"]}

    @node
    def fast(state: Review) -> dict:
        return {"log": ["fast"]}

    @node
    def slow(state: Review) -> dict:
        return {"approved": interrupt("Approve?", id="approve") == "yes", "log": ["slow"]}

    graph = Graph(Review, state_store=store).flow(START >> first >> [fast, slow], fast >> END, slow >> END)
    paused = graph.invoke({}, thread_id="t")
    assert paused.state == Review(log=["first"])
    done = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state == Review(approved=True, log=["first", "fast", "slow"])


# `on_interrupt` hooks, `on_interrupt` signature, No hook answers


def test_row_on_interrupt_hooks_are_asked_in_order_and_the_first_answer_wins():
    asked: list[str] = []

    def answering(name: str, answer: Any) -> Middleware:
        class Hook(Middleware):
            def on_interrupt(self, ctx, payload):
                asked.append(name)
                return answer

        return Hook()

    hooks = [answering("silent", None), answering("first", "yes"), answering("late", "no")]
    done = lone(approve, middleware=hooks).invoke({})
    assert (done.data, asked) == ({"approved": "yes"}, ["silent", "first"])


def test_row_on_interrupt_signature_must_be_synchronous():
    with pytest.raises(GraphConfigError, match=r"Late\.on_interrupt is async def"):

        class Late(Middleware):
            async def on_interrupt(self, ctx, payload):
                return "yes"


def test_row_no_hook_answers_the_run_pauses(store):
    class Silent(Middleware):
        def on_interrupt(self, ctx, payload):
            return None

    assert lone(approve, store, middleware=[Silent()]).invoke({}, thread_id="t").status == "interrupted"


def test_row_no_hook_answers_pausing_needs_a_store():
    class Silent(Middleware):
        def on_interrupt(self, ctx, payload):
            return None

    with pytest.raises(GraphConfigError, match=r"'ask'.*'approve'.*store"):
        lone(approve, middleware=[Silent()]).invoke({})


# Input on a paused thread: "New input raises `ResumeError`. Answer the interrupts, or fork the thread at an earlier event"


@pytest.mark.parametrize("given", [{}, {"approved": "yes"}])
def test_row_input_on_a_paused_thread_is_refused(store, given):
    ran: list[str] = []

    def ask(state):
        ran.append("ask")
        return approve(state)

    graph = lone(ask, store)
    graph.invoke({}, thread_id="t")
    with refusal(store, ResumeError, "'t'", "'ask:approve'", "Answer", "fork", ran=ran):
        graph.invoke(given, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).data == {"approved": "yes"}
