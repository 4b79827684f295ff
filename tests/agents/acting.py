"""What the tests of tools share: a graph whose only node, `act`, runs the tool calls that its input holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import Field

from nodestep import END, START, BaseState, Graph, Resume, Tool, add_messages, tool, tool_runner
from nodestep.chat import Message, ToolCall, ToolMessage
from nodestep.middleware import InterruptRule, Middleware, ToolInterruptMiddleware, gt
from nodestep.stores.base import StateStore

OVER_100 = [InterruptRule("refund", match=gt("amount", 100))]


class Turn(BaseState):
    messages: Annotated[list[Message], add_messages] = Field(default_factory=list)
    tool_calls: list[ToolCall] = Field(default_factory=list)


def call(name: str, id: str = "call_1", **arguments: Any) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments)


def acting(
    tools: Sequence[Tool[Any, Any]],
    store: StateStore | None = None,
    *,
    rules: Iterable[InterruptRule] = (),
    hold_turn: bool = False,
    middleware: Sequence[Middleware] = (),
    **options: Any,
) -> Graph[Turn]:
    """A graph that runs the calls of its input, with these rules."""
    every = [ToolInterruptMiddleware(rules=rules, hold_turn=hold_turn), *middleware]
    act = tool_runner("act", tools=tools, **options)
    return Graph(Turn, name="acting", state_store=store, middleware=every).flow(START >> act >> END)


class Shop:
    """Tools that note what they did."""

    def __init__(self) -> None:
        self.ran: list[Any] = []
        self.refund: Tool[Any, Any] = tool(self._refund, name="refund")
        self.look_up: Tool[Any, Any] = tool(self._look_up, name="look_up")
        self.tools: list[Tool[Any, Any]] = [self.refund, self.look_up]

    def _refund(self, amount: float, note: str = "") -> str:
        """Refund an amount."""
        self.ran.append(("refund", amount, note))
        return f"refunded {amount}"

    def _look_up(self, order: str) -> str:
        """Look an order up."""
        self.ran.append(("look_up", order))
        return f"order {order}"


def told(result: Any) -> list[str]:
    """What the model is told, call by call."""
    return [message.content for message in result.state.messages if isinstance(message, ToolMessage)]


def start(graph: Graph[Any], *calls: ToolCall, thread: str = "t") -> Any:
    return graph.invoke({"tool_calls": list(calls)}, thread_id=thread)


def answer(graph: Graph[Any], answers: dict[str, Any] | None = None, *, thread: str = "t", value: Any = None) -> Any:
    """Answer by key, or the only question with a value."""
    resume = Resume(value) if answers is None else Resume(answers=answers)
    return graph.invoke(None, thread_id=thread, resume=resume)
