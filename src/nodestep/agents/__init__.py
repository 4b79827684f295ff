"""Models that call tools: tools, the nodes that run them, and the ready-made agent."""

from .calling import ToolCallResult, call_tool
from .context import ToolContext
from .model_node import model_node
from .runner import tool_runner
from .state import AgentState
from .tool import Tool, tool

__all__ = ["AgentState", "model_node", "Tool", "ToolCallResult", "ToolContext", "call_tool", "tool", "tool_runner"]
