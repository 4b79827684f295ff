"""Models that call tools: tools, the nodes that run them, and the ready-made agent."""

from .calling import ToolCallResult, call_tool
from .context import ToolContext
from .tool import Tool, tool

__all__ = ["Tool", "ToolCallResult", "ToolContext", "call_tool", "tool"]
