"""Question ids: which are refused, and that a refused one never lets the node go on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    GraphExecutionError,
    Middleware,
    Resume,
    Retry,
    interrupt,
    interrupt_many,
)
from nodestep import node as make_node
from tests.asking import lone

BAD = [
    "",
    " ",
    "a:b",
    "a b",
    "a/b",
    "a\n",
    "é",
    "ａ",
    "٣",
    "x" * 257,
    "x" * 10_000,
    "a[1]",
    5,
    None,
    b"a",
    True,
    ("a",),
]


@pytest.mark.parametrize("id", BAD, ids=lambda id: repr(id)[:12])
@pytest.mark.parametrize("ask", [lambda id: interrupt("?", id=id), lambda id: interrupt_many({id: "?"})])
def test_a_bad_id_is_refused_with_what_is_allowed(store, ask, id: Any):
    graph = lone(lambda state: ask(id), store)
    with pytest.raises(ValueError, match=r"256 ASCII letters, digits, '_', '\.' and '-'") as refused:
        graph.invoke({}, thread_id="t")
    assert len(str(refused.value)) < 600
    assert asyncio.run(graph.pending("t")).items == ()


def test_an_id_of_another_type_is_told_by_its_type(store):
    with pytest.raises(ValueError, match="not an int"):
        lone(lambda state: interrupt("?", id=5), store).invoke({}, thread_id="t")  # type: ignore[call-overload]


@pytest.mark.parametrize("caught", [Exception, BaseException])
def test_a_bad_id_fails_the_node_also_when_it_catches_the_error(store, caught):
    def ask(state):
        try:
            return {"approved": interrupt("Approve?", id="a b")}
        except caught:
            return {"approved": True}

    with pytest.raises(ValueError, match="'a b'"):
        lone(ask, store).invoke({}, thread_id="t")


def test_an_id_used_twice_fails_the_node_also_when_it_catches_the_error(store):
    def ask(state):
        interrupt("First?", id="same")
        try:
            interrupt("Second?", id="same")
        except Exception:
            return {"approved": True}

    graph = lone(ask, store)
    graph.invoke({}, thread_id="t")
    with pytest.raises(GraphExecutionError, match=r"'ask' asks the id 'same' twice"):
        graph.invoke(None, thread_id="t", resume=Resume("yes"))


def test_a_bad_id_is_not_tried_again(store):
    ran: list[int] = []

    def ask(state):
        ran.append(1)
        interrupt("?", id="a b")

    asking = make_node(ask, name="ask", retry=Retry(3, initial_delay_s=0))
    graph = Graph(dict, state_store=store).flow(START >> asking >> END)
    with pytest.raises(ValueError, match="'a b'"):
        graph.invoke({}, thread_id="t")
    assert ran == [1]


def test_the_same_id_in_two_tasks_is_two_questions(store):
    def ask(state):
        interrupt("?", id="ok")

    left, right = make_node(ask, name="l"), make_node(ask, name="r")
    graph = Graph(dict, state_store=store).flow(
        START >> make_node(lambda state: None, name="start") >> [left, right], left >> END, right >> END
    )
    assert sorted(graph.invoke({}, thread_id="t").interrupts) == ["l:ok", "r:ok"]


@pytest.mark.parametrize(
    "retry",
    [None, Retry(2, initial_delay_s=0)],
    ids=["once", "retrying"],
)
def test_an_id_used_by_a_hook_and_the_node_is_used_twice(retry):
    class Gate(Middleware):
        def before_node(self, ctx):
            interrupt("Let it?", id="same")

        def on_interrupt(self, ctx, payload):
            return "yes"

    asking = make_node(lambda state: interrupt("Approve?", id="same"), name="ask", retry=retry)
    graph = Graph(dict, middleware=[Gate()]).flow(START >> asking >> END)
    with pytest.raises(GraphExecutionError, match="'same' twice"):
        graph.invoke({})
