"""Nothing can pause without a store: an ordinary exception says so, whatever the node catches."""

from __future__ import annotations

import asyncio

import pytest

from nodestep import END, START, Graph, GraphConfigError, GraphInterrupt, Retry, interrupt, interrupt_many, node
from tests.asking import lone

WORDS = r"'ask'.*'approve'.*state_store="


def plain(state):
    return {"approved": interrupt("Approve?", id="approve")}


def many(state):
    return interrupt_many({"approve": "Approve?", "pay": "Pay?"})


def careless(state):
    try:
        return plain(state)
    except Exception:
        return {"approved": True}


def deaf(state):
    try:
        return plain(state)
    except BaseException:
        return {"approved": True}


async def gathering(state):
    async def ask():
        return interrupt("Approve?", id="approve")

    await asyncio.gather(ask(), return_exceptions=True)
    return {"approved": True}


BODIES = pytest.mark.parametrize("body", [plain, many, careless, deaf, gathering])


@BODIES
def test_invoke_says_what_is_missing(body):
    with pytest.raises(GraphConfigError, match=WORDS):
        lone(body).invoke({})


@BODIES
def test_ainvoke_says_what_is_missing(body):
    with pytest.raises(GraphConfigError, match=WORDS):
        asyncio.run(lone(body).ainvoke({}))


@BODIES
def test_a_worker_that_catches_exceptions_survives(body):
    async def worker():
        try:
            await lone(body).ainvoke({})
        except Exception as error:
            return type(error)

    assert asyncio.run(worker()) is GraphConfigError


def test_the_signal_never_leaves_the_call():
    with pytest.raises(BaseException) as told:  # noqa: PT011 - whatever comes out
        lone(plain).invoke({})
    assert not isinstance(told.value, GraphInterrupt)


def test_it_is_not_tried_again():
    ran: list[int] = []

    def body(state):
        ran.append(1)
        return plain(state)

    graph = Graph(dict).flow(START >> node(body, name="ask", retry=Retry(3, initial_delay_s=0)) >> END)
    with pytest.raises(GraphConfigError):
        graph.invoke({})
    assert ran == [1]


def test_with_a_thread_id_alone_it_is_still_missing():
    with pytest.raises(GraphConfigError, match=WORDS):
        lone(plain).invoke({}, thread_id="t")


def test_in_a_superstep_of_several_tasks_it_says_so_too():
    asking, beside = node(plain, name="ask"), node(lambda state: None, name="beside")
    graph = Graph(dict).flow(
        START >> node(lambda state: None, name="start") >> [asking, beside], asking >> END, beside >> END
    )
    with pytest.raises(GraphConfigError, match=WORDS):
        graph.invoke({})
