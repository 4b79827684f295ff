"""The state of an agent."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from ..chat import Message, ToolCall
from ..model.reducers import add_messages
from ..model.state import BaseState


class AgentState(BaseState):
    """A conversation with a model that calls tools. Derive from it to add fields of your own.

    `tool_calls` are those of the model's last turn that have not run yet; `final_text` is what the model said last without
    calling a tool, and `final_output` the same as the output schema has it, in JSON. Both are empty while it works.
    """

    messages: Annotated[list[Message], add_messages] = Field(default_factory=list)
    tool_calls: list[ToolCall] = Field(default_factory=list)
    final_text: str = ""
    final_output: Any = None
