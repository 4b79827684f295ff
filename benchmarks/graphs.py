"""The graphs of the workloads, written as a user writes them. Measures nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import work
from pydantic import Field

from nodestep import END, START, BaseState, Command, Graph, Send, add, add_messages, interrupt, node, subgraph, when
from nodestep import InMemoryStateStore as InMemoryStateStore
from nodestep import Resume as Resume
from nodestep import SQLiteStateStore as SQLiteStateStore

Store = InMemoryStateStore | SQLiteStateStore | None


class Small(BaseState):
    counter: int
    label: str
    total: float


class Asked(Small):
    answer: str


class Chat(BaseState):
    n: int
    messages: Annotated[list[dict[str, str]], add]


class ChatWithIds(BaseState):
    n: int
    messages: Annotated[list[dict[str, str]], add_messages]


class Fan(BaseState):
    n: int = 0
    i: int = 0
    results: Annotated[list[int], add] = Field(default_factory=list)


class Big(BaseState):
    counter: int
    blob: dict[str, Any]


def small_step(state: Small) -> dict[str, Any]:
    return work.small_step(state.counter, state.total)


async def asmall_step(state: Small) -> dict[str, Any]:
    return work.small_step(state.counter, state.total)


async def slow_step(state: Small) -> dict[str, Any]:
    await asyncio.sleep(work.CROWD_SLEEP_S)
    return work.small_step(state.counter, state.total)


def chain(steps: int, store: Store = None, *, is_async: bool = False) -> Graph[Small]:
    """One node that follows itself, so many times."""
    step = node(asmall_step if is_async else small_step, name="work")
    again = when(lambda state: state.counter < steps, step, otherwise=END)
    return Graph(Small, max_steps=steps + 20, state_store=store).flow(START >> step >> again)


def chain_to_a_question(steps: int, store: Store = None) -> Graph[Small]:
    """The same chain with a question at its end."""
    step = node(small_step, name="work")

    @node
    def ask(state: Small) -> dict[str, Any]:
        return {"label": interrupt("go on?", id="go_on")}

    again = when(lambda state: state.counter < steps, step, otherwise=ask)
    return Graph(Small, max_steps=steps + 20, state_store=store).flow(START >> step >> again, ask >> END)


def chat(
    schema: type[Chat] | type[ChatWithIds],
    messages: int,
    store: Store,
    *,
    mark: Callable[[], None] = lambda: None,
    reads: bool = False,
    asks: bool = False,
) -> Graph[Any]:
    """A node that appends a message a step. With `reads` it looks at the messages so far, with `asks` a question ends it."""

    @node
    def say(state: Any) -> dict[str, Any]:
        mark()
        if reads:
            assert len(state.messages) == state.n
        return {"n": state.n + 1, "messages": [work.message(state.n)]}

    @node
    def ask(state: Any) -> dict[str, Any]:
        return {"n": state.n + interrupt("go on?", id="go_on")}

    last = ask if asks else END
    again = when(lambda state: state.n < messages, say, otherwise=last)
    flow = (START >> say >> again, ask >> END) if asks else (START >> say >> again,)
    return Graph(schema, max_steps=messages + 20, state_store=store).flow(*flow)


def fan_out(tasks: int, store: Store, *, is_async: bool) -> Graph[Fan]:
    """A plan that sends tasks, and a join after all of them."""

    def double(state: Fan) -> dict[str, Any]:
        return {"results": [state.i * 2]}

    async def adouble(state: Fan) -> dict[str, Any]:
        return {"results": [state.i * 2]}

    task = node(adouble if is_async else double, name="work")

    def plan(state: Fan) -> Command:
        return Command(update={"n": tasks}, goto=[Send(task, {"i": i}) for i in range(tasks)])

    async def aplan(state: Fan) -> Command:
        return plan(state)

    def join(state: Fan) -> dict[str, Any]:
        return {"n": len(state.results)}

    async def ajoin(state: Fan) -> dict[str, Any]:
        return join(state)

    first = node(aplan if is_async else plan, name="plan", goto=[task])
    last = node(ajoin if is_async else join, name="join")
    return Graph(Fan, max_steps=100, state_store=store).flow(START >> first, task >> last >> END)


def question(store: Store = None) -> Graph[Asked]:
    """`prepare`, `ask`, `finish`: the second asks a person."""
    prepare, finish = node(small_step, name="prepare"), node(small_step, name="finish")

    @node
    def ask(state: Asked) -> dict[str, Any]:
        return {"answer": interrupt({"q": "approve?", "counter": state.counter}, id="approve")}

    return Graph(Asked, state_store=store).flow(START >> prepare >> ask >> finish >> END)


def three_deep(leaf: Graph[Any], store: Store) -> Graph[Any]:
    """A graph inside three others, each with nothing else in it; all fields of the state are shared."""
    inner = leaf
    for store_of_it in (None, None, store):
        inside = subgraph("inside", inner, share=list(leaf.schema.fields))
        inner = Graph(leaf.schema.state_type, state_store=store_of_it).flow(START >> inside >> END)
    return inner


def counting_beside_a_blob(steps: int, store: Store) -> Graph[Big]:
    """A node that counts beside a large field that it never touches."""

    @node
    def count(state: Big) -> dict[str, Any]:
        return {"counter": state.counter + 1}

    again = when(lambda state: state.counter < steps, count, otherwise=END)
    return Graph(Big, max_steps=steps + 20, state_store=store).flow(START >> count >> again)


def row_of_nodes(nodes: int, store: Store) -> Graph[Small]:
    """So many nodes in a row, each of which waits a millisecond."""
    steps = [node(slow_step, name=f"n{number}") for number in range(nodes)]
    chain_of_steps: Any = START
    for step in steps:
        chain_of_steps = chain_of_steps >> step
    return Graph(Small, state_store=store).flow(chain_of_steps >> END)
