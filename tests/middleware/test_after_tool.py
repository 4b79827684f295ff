"""A tool that has returned does not run again, whatever the hooks after it do."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from nodestep import Command, InMemoryStateStore, Middleware, interrupt, tool
from nodestep.middleware import Replacement, ToolDecision
from nodestep.testing import DyingStore, ManualClock
from nodestep.testing.dying import StoreDiedError
from tests.agents.acting import acting, answer, call, start, told


class Asks(Middleware):
    """Asks what the model is told of a result; keeps the values it was shown."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def after_tool(self, ctx):
        self.values.append(ctx.value)
        return Replacement(interrupt("What is the model told?", id="told"))


class Fails(Middleware):
    """Fails at the first call."""

    failed = False

    def after_tool(self, ctx):
        if not self.failed:
            self.failed = True
            raise LookupError("the hook")


class Receipt(BaseModel):
    number: int


@pytest.fixture
def ran() -> list[int]:
    return []


@pytest.fixture
def pay(ran):
    @tool
    def pay(amount: int) -> Receipt:
        """Pay."""
        ran.append(amount)
        return Receipt(number=len(ran))

    return pay


def test_a_tool_does_not_run_again_for_a_hook_that_asks(store, pay, ran):
    asks = Asks()
    start(acting([pay], store, middleware=[asks]), call("pay", amount=5))
    done = answer(acting([pay], store, middleware=[asks]), value="paid")
    assert (ran, told(done)) == ([5], ['{"result":"paid"}'])
    assert asks.values == [Receipt(number=1), Receipt(number=1)]


def test_a_tool_does_not_run_again_for_a_hook_that_fails(store, pay, ran):
    graph = acting([pay], store, middleware=[Fails()])
    with pytest.raises(LookupError):
        start(graph, call("pay", amount=5))
    assert told(graph.invoke(None, thread_id="t")) == ['{"result":{"number":1}}']
    assert ran == [5]


def test_a_command_is_kept_too(store, ran):
    @tool
    def leave() -> Command:
        """Leave."""
        ran.append(1)
        return Command(update={"tool_calls": []})

    graph = acting([leave], store, middleware=[Fails()])
    with pytest.raises(LookupError):
        start(graph, call("leave"))
    assert graph.invoke(None, thread_id="t").status == "completed"
    assert ran == [1]


def test_the_message_keeps_the_arguments_that_the_tool_ran_with(store, ran):
    @tool(needs_approval=True)
    def pay(amount: int) -> None:
        """Pay."""
        ran.append(amount)

    graph = acting([pay], store, middleware=[Asks()])
    start(graph, call("pay", amount=5))
    answer(graph, value=ToolDecision(action="edit", arguments={"amount": 4}))
    (message,) = answer(graph, value="paid").state.messages
    assert (ran, message.arguments) == ([4], {"amount": 4})


def test_it_does_not_run_again_after_a_crash_at_any_write_behind_the_pause(pay, ran):
    for at in range(1, 20):
        del ran[:]
        clock = ManualClock()
        store = InMemoryStateStore(clock=clock)
        start(acting([pay], store, middleware=[Asks()]), call("pay", amount=5))
        dying = DyingStore(store, at=at)
        try:
            answer(acting([pay], dying, middleware=[Asks()]), value="paid")
            break
        except StoreDiedError:
            clock.forward(60_000)
        graph = acting([pay], store, middleware=[Asks()])
        waits = asyncio.run(store.pending("t")).items
        done = answer(graph, value="paid") if waits else graph.invoke(None, thread_id="t")
        assert (ran, told(done)) == ([5], ['{"result":"paid"}'])
    assert at > 2
