"""Chat models: the messages that they read and write, and `Chat`, the two methods that a provider writes."""

from .gathering import gathered
from .messages import (
    AIMessage,
    HumanMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
)
from .openai import OpenAIChat
from .protocol import (
    Chat,
    ChatRequest,
    ChatResponse,
    ChatStreamChunk,
    ToolCallDelta,
    ToolDefinition,
)
from .reading import tool_call
from .scripted import ScriptedChat

__all__ = [
    "SystemMessage",
    "HumanMessage",
    "AIMessage",
    "ToolMessage",
    "Message",
    "ToolCall",
    "Usage",
    "Chat",
    "ChatRequest",
    "ChatResponse",
    "ChatStreamChunk",
    "ToolCallDelta",
    "ToolDefinition",
    "ScriptedChat",
    "OpenAIChat",
    "gathered",
    "tool_call",
]
