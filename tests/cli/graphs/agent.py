"""One tool call that needs approval; the input names its arguments."""

from typing import Annotated, Any

from nodestep import END, START, BaseState, Graph, add_messages, node, tool, tool_runner
from nodestep.chat import Message, ToolCall


class Desk(BaseState):
    amount: float = 120.0
    messages: Annotated[list[Message], add_messages] = []
    tool_calls: list[ToolCall] = []


@tool(needs_approval=True)
def refund(amount: float, note: str = "") -> str:
    """Refund an amount."""
    return f"refunded {amount} {note}".strip()


@node
def think(state: Desk) -> dict[str, Any]:
    return {"tool_calls": [ToolCall(id="call_1", name="refund", arguments={"amount": state.amount})]}


graph = Graph(Desk, name="desk").flow(START >> think >> tool_runner("act", tools=[refund]) >> END)
