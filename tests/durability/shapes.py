"""Eight shapes of graphs. Every node notes what it does where a killed process cannot take it back.

A task that runs notes `run:<idempotency key>`, which names it for good, and what it does once notes `once:<idempotency key>`;
`returned:<idempotency key>` says that `ctx.once` came back with it.
Tasks beside one another finish one after the other, so that each is recorded by a commit of its own and every run of a shape
makes the same commits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    NodeContext,
    Send,
    Tool,
    ToolContext,
    add,
    add_messages,
    interrupt,
    model_node,
    node,
    subgraph,
    tool,
    tool_runner,
    when,
)
from nodestep.chat import ChatRequest, ChatResponse, ChatStreamChunk, HumanMessage, Message, ToolCall, ToolMessage
from nodestep.engine.replay import record_from_bytes
from nodestep.model.event import TaskRecorded
from nodestep.model.outcome import Done, Failed
from nodestep.runtime.context import CURRENT
from nodestep.stores.base import StateStore
from tests.persistence.programs.effects import Effects

THREAD = "t"


class Work(BaseState):
    """`log` tells who wrote; `n` counts rounds, or numbers the task of a `Send`."""

    log: Annotated[list[str], add] = Field(default_factory=list)
    n: int = 0


class FlakyError(Exception):
    """What a node raises once in its life, and then no more."""


Shape: TypeAlias = Callable[[StateStore, Effects], Graph[Work]]


def ran(effects: Effects, ctx: NodeContext | ToolContext) -> None:
    effects.do(f"run:{ctx.idempotency_key}")


async def after(task: str, store: StateStore, *, ended: bool = False) -> None:
    """Until the outcome of a task of this superstep is recorded; with `ended`, until it is its end, or its failure."""
    while True:
        facts = [fact for record in store.records(THREAD, "main") for fact in record_from_bytes(record.body)]
        outcomes = [fact.outcome for fact in facts if isinstance(fact, TaskRecorded) and fact.task == task]
        if any(isinstance(outcome, Done | Failed) or not ended for outcome in outcomes):
            return
        await asyncio.sleep(0)


def says(name: str, effects: Effects) -> Any:
    def body(state: Work, ctx: NodeContext) -> dict[str, Any]:
        ran(effects, ctx)
        return {"log": [name]}

    return node(body, name=name)


def chain(store: StateStore, effects: Effects) -> Graph[Work]:
    """take -> pay (once) -> ship."""

    @node
    def pay(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)

        def charge() -> int:
            effects.do(f"once:{ctx.idempotency_key}")
            return 42

        paid = ctx.once("charge", charge)
        effects.do(f"returned:{ctx.idempotency_key}")
        return {"log": [f"paid {paid}"]}

    return Graph(Work, name="chain", state_store=store).flow(
        START >> says("take", effects) >> pay >> says("ship", effects) >> END
    )


def loop(store: StateStore, effects: Effects) -> Graph[Work]:
    """Three rounds of a node that asks the same question in each."""

    @node
    def turn(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        answer = interrupt(f"Round {state.n}?", id="go")
        return {"log": [f"{state.n} {answer}"], "n": state.n + 1}

    return Graph(Work, name="loop", state_store=store).flow(
        START >> turn >> when(lambda state: state.n < 3, turn, otherwise=END)
    )


def sends(store: StateStore, effects: Effects) -> Graph[Work]:
    """plan -> work, four times at once -> gather."""

    @node
    async def work(state: Work, ctx: NodeContext) -> Any:
        if state.n:
            await after("work" if state.n == 1 else f"work[{state.n - 1}]", store)
        ran(effects, ctx)
        return {"log": [f"work {state.n}"]}

    @node(goto=[work])
    def plan(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        return [Send(work, {"n": number}) for number in range(4)]

    return Graph(Work, name="sends", state_store=store).flow(START >> plan, work >> says("gather", effects) >> END)


def join(store: StateStore, effects: Effects) -> Graph[Work]:
    """split -> [short, long], long -> longer, [short, longer] -> both: the join waits with a mark for a superstep."""

    @node
    async def long(state: Work, ctx: NodeContext) -> Any:
        await after("short", store)
        ran(effects, ctx)
        return {"log": ["long"]}

    short, longer = says("short", effects), says("longer", effects)
    return Graph(Work, name="join", state_store=store).flow(
        START >> says("split", effects) >> [short, long],
        long >> longer,
        [short, longer] >> says("both", effects) >> END,
    )


def two_pauses(store: StateStore, effects: Effects) -> Graph[Work]:
    """A node that asks, works with the answer, keeps what it found in its cache, and asks again."""

    @node
    def ask(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        first = interrupt("First?", id="first")
        if "found" not in ctx.cache:
            effects.do("found")
            ctx.cache["found"] = f"found with {first}"
        second = interrupt(ctx.cache["found"], id="second")
        return {"log": [first, ctx.cache["found"], second]}

    return Graph(Work, name="two_pauses", state_store=store).flow(START >> ask >> says("end", effects) >> END)


def beside_a_failure(store: StateStore, effects: Effects) -> Graph[Work]:
    """[ask, flaky] -> end: one asks, and then the other fails; the next time it does not."""

    @node
    async def ask(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        return {"log": [interrupt("Really?", id="ok")]}

    @node
    async def flaky(state: Work, ctx: NodeContext) -> Any:
        await after("ask", store)
        ran(effects, ctx)
        if "failed" not in effects.done():
            effects.do("failed")
            raise FlakyError
        return {"log": ["flaky"]}

    return Graph(Work, name="beside_a_failure", state_store=store).flow(
        START >> [ask, flaky] >> says("end", effects) >> END
    )


def nested(store: StateStore, effects: Effects) -> Graph[Work]:
    """take -> [sub, beside] -> end. In sub: plan -> calls -> close; and calls calls a graph that works once, and then asks."""

    @node
    def work(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)

        def charge() -> int:
            effects.do(f"once:{ctx.idempotency_key}")
            return 42

        paid = ctx.once("charge", charge)
        effects.do(f"returned:{ctx.idempotency_key}")
        return {"log": [f"paid {paid}"]}

    @node
    def ask(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        return {"log": [interrupt("Inside?", id="ok")]}

    leaf = Graph(Work, name="leaf").flow(START >> work >> ask >> END)

    @node
    async def calls(state: Work, ctx: NodeContext) -> Any:
        ran(effects, ctx)
        return {"log": (await ctx.call(leaf, id="leaf")).log}

    @node
    async def beside(state: Work, ctx: NodeContext) -> Any:
        await after("sub", store)
        ran(effects, ctx)
        return {"log": ["beside"]}

    middle = Graph(Work, name="middle").flow(START >> says("plan", effects) >> calls >> says("close", effects) >> END)
    sub = subgraph("sub", middle, share=["log"])
    return Graph(Work, name="nested", state_store=store).flow(
        START >> says("take", effects) >> [sub, beside] >> says("end", effects) >> END
    )


def asked_to_pay() -> list[Message]:
    return [HumanMessage(content="Pay.")]


class Desk(Work):
    """The same with a conversation."""

    messages: Annotated[list[Message], add_messages] = Field(default_factory=asked_to_pay)
    tool_calls: list[ToolCall] = Field(default_factory=list)


class NotingChat:
    """A model that calls three tools and then answers. Its turn is noted as a run of its task."""

    model = "noting"

    def __init__(self, effects: Effects) -> None:
        self._effects = effects

    async def complete(self, request: ChatRequest) -> ChatResponse:
        task = CURRENT.get()
        assert task is not None
        ran(self._effects, task)
        if any(isinstance(message, ToolMessage) for message in request.messages):
            return ChatResponse(content="All done.")
        names = {"a": "look", "b": "choose", "c": "pay"}
        return ChatResponse(tool_calls=[ToolCall(id=id, name=name) for id, name in names.items()])

    def stream(self, request: ChatRequest) -> AsyncIterator[ChatStreamChunk]:
        raise NotImplementedError


def agent(store: StateStore, effects: Effects) -> Graph[Any]:
    """think -> act -> think -> tell. In one turn a call runs, one asks by itself, and one needs approval."""

    @tool
    async def look(ctx: ToolContext) -> str:
        """Look."""
        ran(effects, ctx)
        return "seen"

    @tool
    async def choose(ctx: ToolContext) -> str:
        """Choose."""
        await after("a", store)
        ran(effects, ctx)
        answer: str = interrupt("Which?", id="which")
        return answer

    @tool(needs_approval=True)
    async def pay(ctx: ToolContext) -> int:
        """Pay."""
        await after("b", store, ended=True)
        ran(effects, ctx)

        async def charge() -> int:
            effects.do(f"once:{ctx.idempotency_key}")
            return 42

        paid = await ctx.aonce("charge", charge)
        effects.do(f"returned:{ctx.idempotency_key}")
        return paid

    @node
    def tell(state: Desk, ctx: NodeContext) -> dict[str, Any]:
        ran(effects, ctx)
        return {"log": [message.content for message in state.messages if not isinstance(message, HumanMessage)]}

    tools: list[Tool[Any, Any]] = [look, choose, pay]
    think = model_node("think", chat=NotingChat(effects), tools=tools, final_text_field=None)
    act = tool_runner("act", tools=tools)
    return Graph(Desk, name="agent", state_store=store).flow(
        START >> think,
        think >> when(lambda state: bool(state.tool_calls), act, otherwise=tell),
        act >> think,
        tell >> END,
    )


SHAPES: dict[str, Shape] = {
    "chain": chain,
    "loop": loop,
    "sends": sends,
    "join": join,
    "two_pauses": two_pauses,
    "beside_a_failure": beside_a_failure,
    "nested": nested,
    "agent": agent,
}

LOGS = {
    "agent": ["", '{"result":"seen"}', '{"result":"yes to Which?"}', '{"result":42}', "All done."],
    "chain": ["take", "paid 42", "ship"],
    "loop": [f"{n} yes to Round {n}?" for n in range(3)],
    "sends": [*(f"work {n}" for n in range(4)), "gather"],
    "join": ["split", "long", "short", "longer", "both"],
    "two_pauses": ["yes to First?", "found with yes to First?", "yes to found with yes to First?", "end"],
    "beside_a_failure": ["yes to Really?", "flaky", "end"],
    "nested": ["take", "beside", "plan", "paid 42", "yes to Inside?", "close", "end"],
}
"""What each has written at its end, however often it was cut off."""
