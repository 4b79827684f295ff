"""Models that call tools: tools, the nodes that run them, and the ready-made agent."""

from .agent_tool import agent_tool
from .calling import ToolCallResult, call_tool
from .context import ToolContext
from .model_node import model_node
from .react import build_react_agent, run_agent
from .runner import tool_runner
from .state import AgentState
from .tool import Tool, tool

__all__ = [
    "AgentState",
    "Tool",
    "ToolCallResult",
    "ToolContext",
    "agent_tool",
    "build_react_agent",
    "call_tool",
    "model_node",
    "run_agent",
    "tool",
    "tool_runner",
]
