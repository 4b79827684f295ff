"""Asking: one question after another, several at once, in loops, and questions that new code asks otherwise."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Command,
    Graph,
    GraphExecutionError,
    Middleware,
    Question,
    Resume,
    Send,
    interrupt,
    interrupt_many,
    node,
    when,
)
from tests.asking import lone


def resumed(graph: Graph, value: Any, thread: str = "t"):
    return graph.invoke(None, thread_id=thread, resume=Resume(value))


@pytest.mark.parametrize("is_async", [False, True], ids=["def", "async def"])
def test_questions_in_a_row_pause_one_after_another(store, is_async):
    def both(state):
        return {"got": [interrupt("First?", id="a"), interrupt("Second?", id="b")]}

    async def aboth(state):
        return both(state)

    graph = lone(aboth if is_async else both, store)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:a"]
    assert list(resumed(graph, 1).interrupts) == ["ask:b"]
    assert resumed(graph, 2).data == {"got": [1, 2]}


def test_a_question_can_be_asked_under_an_event_loop(store):
    async def ask(state):
        await asyncio.sleep(0)
        return {"got": interrupt("What?", id="a")}

    async def run():
        graph = lone(ask, store)
        paused = await graph.ainvoke({}, thread_id="t")
        done = await graph.ainvoke(None, thread_id="t", resume=Resume("x"))
        return paused.status, done.data

    assert asyncio.run(run()) == ("interrupted", {"got": "x"})


def test_none_is_an_answer(store):
    graph = lone(lambda state: {"got": interrupt("What?", id="a")}, store)
    graph.invoke({}, thread_id="t")
    assert resumed(graph, None).data == {"got": None}


@pytest.mark.parametrize("falsy", [False, 0, "", [], {}, 0.0])
def test_a_falsy_answer_is_an_answer(store, falsy):
    graph = lone(lambda state: {"got": interrupt("What?", id="a")}, store)
    graph.invoke({}, thread_id="t")
    done = resumed(graph, falsy)
    assert done.status == "completed"
    assert (type(done.data["got"]), done.data["got"]) == (type(falsy), falsy)


def test_interrupt_many_asks_all_in_one_pause_and_returns_the_answers_by_id(store):
    questions = {"legal": "Legal?", "tax": Question({"form": 7})}
    graph = lone(lambda state: {"got": interrupt_many(questions)}, store)
    paused = graph.invoke({}, thread_id="t")
    assert {key: asked.payload for key, asked in paused.interrupts.items()} == {
        "ask:legal": "Legal?",
        "ask:tax": {"form": 7},
    }
    assert len({asked.pause for asked in paused.interrupts.values()}) == 1
    done = graph.invoke(None, thread_id="t", resume=Resume(answers={"ask:tax": 2, "ask:legal": 1}))
    assert done.data == {"got": {"legal": 1, "tax": 2}}
    assert list(done.data["got"]) == ["legal", "tax"]


def test_interrupt_many_asks_only_what_no_hook_answers(store):
    class Legal(Middleware):
        def on_interrupt(self, ctx, payload):
            return False if payload == "Legal?" else None

    graph = lone(lambda state: {"got": interrupt_many({"legal": "Legal?", "tax": "Tax?"})}, store, middleware=[Legal()])
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:tax"]
    assert resumed(graph, True).data == {"got": {"legal": False, "tax": True}}


def test_interrupt_many_answered_by_hooks_alone_needs_no_store():
    class Yes(Middleware):
        def on_interrupt(self, ctx, payload):
            return "yes"

    graph = lone(lambda state: {"got": interrupt_many({"a": 1, "b": 2})}, middleware=[Yes()])
    assert graph.invoke({}).data == {"got": {"a": "yes", "b": "yes"}}


@pytest.mark.parametrize("given", [{}, None, "Approve?", ["a", "b"]])
def test_interrupt_many_takes_a_mapping_with_something_in_it(store, given):
    graph = lone(lambda state: interrupt_many(given), store)
    with pytest.raises(TypeError, match="interrupt_many takes a non-empty mapping from id to payload"):
        graph.invoke({}, thread_id="t")


def test_an_id_of_interrupt_many_cannot_be_asked_again(store):
    class Yes(Middleware):
        def on_interrupt(self, ctx, payload):
            return "yes"

    def ask(state):
        interrupt_many({"a": 1, "b": 2})
        interrupt("Again?", id="b")

    with pytest.raises(GraphExecutionError, match=r"'ask'.*'b' twice"):
        lone(ask, store, middleware=[Yes()]).invoke({}, thread_id="t")


def test_every_send_asks_under_a_key_of_its_own(store):
    @node
    def judge(state):
        return {f"{state['item']}": interrupt(state["item"], id="ok")}

    @node(goto=[judge])
    def split(state):
        return [Send(judge, {"item": item}) for item in ("a", "b", "c")]

    graph = Graph(dict, name="items", state_store=store).flow(START >> split, judge >> END)
    paused = graph.invoke({}, thread_id="t")
    assert {key: asked.payload for key, asked in paused.interrupts.items()} == {
        "judge:ok": "a",
        "judge[1]:ok": "b",
        "judge[2]:ok": "c",
    }
    assert [asked.task_id for asked in paused.interrupts.values()] == ["judge", "judge[1]", "judge[2]"]
    answers = {"judge[2]:ok": "C", "judge:ok": "A", "judge[1]:ok": "B"}
    done = graph.invoke(None, thread_id="t", resume=Resume(answers=answers))
    assert done.data == {"a": "A", "b": "B", "c": "C"}


def test_a_loop_that_comes_round_asks_again(store):
    def again(state):
        return state["got"] != "stop"

    @node
    def ask(state):
        return {"got": interrupt("Go on?", id="go"), "rounds": state.get("rounds", 0) + 1}

    graph = Graph(dict, name="loop", state_store=store).flow(START >> ask >> when(again, ask, otherwise=END))
    pauses = [graph.invoke({}, thread_id="t").interrupts["ask:go"].pause]
    for _ in range(2):
        pauses.append(resumed(graph, "on").interrupts["ask:go"].pause)
    assert resumed(graph, "stop").data == {"got": "stop", "rounds": 3}
    assert len(set(pauses)) == 3


def test_a_new_turn_asks_again(store):
    graph = lone(lambda state: {"got": interrupt("What?", id="a")}, store)
    graph.invoke({}, thread_id="t")
    resumed(graph, 1)
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    assert resumed(graph, 2).data == {"got": 2}


def test_a_question_that_is_no_longer_reached_leaves_nothing_open(store):
    needed = [True]

    def ask(state):
        return {"got": interrupt("What?", id="a") if needed[0] else "not asked"}

    graph = lone(ask, store)
    graph.invoke({}, thread_id="t")
    needed[0] = False
    done = resumed(graph, "late")
    assert (done.status, done.data) == ("completed", {"got": "not asked"})
    assert asyncio.run(graph.pending("t")).items == ()


def test_another_question_reached_on_the_second_run_does_not_get_the_first_ones_answer(store):
    order = ["a", "b"]

    def ask(state):
        return {id: interrupt(id, id=id) for id in order}

    graph = lone(ask, store)
    graph.invoke({}, thread_id="t")
    order.reverse()
    assert list(resumed(graph, "A").interrupts) == ["ask:b"]
    assert resumed(graph, "B").data == {"a": "A", "b": "B"}


def test_what_a_node_changed_in_place_before_it_asked_counts_once(store):
    def ask(state):
        state["count"] = state.get("count", 0) + 1
        interrupt("?", id="a")
        return state

    graph = lone(ask, store)
    assert graph.invoke({}, thread_id="t").data == {}
    assert resumed(graph, 1).data == {"count": 1}


def test_a_task_that_asks_in_a_superstep_of_several_sends_on_after_its_answer(store):
    @node
    def target(state):
        return {"reached": True}

    @node(goto=[target])
    def ask(state):
        return Command(update={"got": interrupt("Where?", id="a")}, goto=target)

    @node
    def fast(state):
        return None

    graph = Graph(dict, name="sends", state_store=store).flow(
        START >> node(lambda state: None, name="start") >> [ask, fast], fast >> END, target >> END
    )
    assert graph.invoke({}, thread_id="t").data == {}
    assert resumed(graph, "there").data == {"got": "there", "reached": True}
