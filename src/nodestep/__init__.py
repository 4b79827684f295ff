"""nodestep: graphs of typed functions that pause for a person and go on exactly once, in any process.

Names are loaded on first use, so that `import nodestep` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents import AgentState as AgentState
    from .agents import Tool as Tool
    from .agents import ToolCallResult as ToolCallResult
    from .agents import ToolContext as ToolContext
    from .agents import agent_tool as agent_tool
    from .agents import build_react_agent as build_react_agent
    from .agents import call_tool as call_tool
    from .agents import model_node as model_node
    from .agents import run_agent as run_agent
    from .agents import tool as tool
    from .agents import tool_runner as tool_runner
    from .chat import ScriptedChat as ScriptedChat
    from .errors import ChatHistoryError as ChatHistoryError
    from .errors import ContextNotProvidedError as ContextNotProvidedError
    from .errors import GraphChangedError as GraphChangedError
    from .errors import GraphConfigError as GraphConfigError
    from .errors import GraphExecutionError as GraphExecutionError
    from .errors import GraphInterrupt as GraphInterrupt
    from .errors import GraphTimeoutError as GraphTimeoutError
    from .errors import InterruptExpiredError as InterruptExpiredError
    from .errors import InterruptSwallowedError as InterruptSwallowedError
    from .errors import InvalidUpdateError as InvalidUpdateError
    from .errors import LeaseLostError as LeaseLostError
    from .errors import LimitExceededError as LimitExceededError
    from .errors import ModelProviderError as ModelProviderError
    from .errors import NodestepError as NodestepError
    from .errors import NodeTimeoutError as NodeTimeoutError
    from .errors import ResumeError as ResumeError
    from .errors import RunInterruptedError as RunInterruptedError
    from .errors import RunLimitExceededError as RunLimitExceededError
    from .errors import StateStoreError as StateStoreError
    from .errors import StateUpdateError as StateUpdateError
    from .errors import StoreBusyError as StoreBusyError
    from .errors import StoreCorruptedError as StoreCorruptedError
    from .errors import StoreFormatError as StoreFormatError
    from .errors import StoreFullError as StoreFullError
    from .errors import StructuredOutputError as StructuredOutputError
    from .errors import ThreadBusyError as ThreadBusyError
    from .errors import ThreadCancelledError as ThreadCancelledError
    from .errors import ToolDeniedError as ToolDeniedError
    from .errors import ToolExecutionError as ToolExecutionError
    from .errors import ToolGroupExecutionError as ToolGroupExecutionError
    from .errors import UnknownEventError as UnknownEventError
    from .errors import UnknownThreadError as UnknownThreadError
    from .flow import END as END
    from .flow import START as START
    from .flow import Node as Node
    from .flow import branch as branch
    from .flow import node as node
    from .flow import when as when
    from .graph import Graph as Graph
    from .hooks import Middleware as Middleware
    from .hooks import RunOutcome as RunOutcome
    from .model.event import History as History
    from .model.event import HistoryEvent as HistoryEvent
    from .model.interrupt import Interrupt as Interrupt
    from .model.interrupt import Question as Question
    from .model.interrupt import Resume as Resume
    from .model.node import Command as Command
    from .model.node import NodeContext as NodeContext
    from .model.node import Retry as Retry
    from .model.node import Send as Send
    from .model.page import Page as Page
    from .model.records import AnswerRecord as AnswerRecord
    from .model.records import BranchRecord as BranchRecord
    from .model.records import ThreadRecord as ThreadRecord
    from .model.reducers import RemoveMessage as RemoveMessage
    from .model.reducers import Replace as Replace
    from .model.reducers import add as add
    from .model.reducers import add_messages as add_messages
    from .model.reducers import merge_dict as merge_dict
    from .model.reducers import replace as replace
    from .model.state import BaseState as BaseState
    from .model.status import Status as Status
    from .nodes import interrupt_node as interrupt_node
    from .nodes import subgraph as subgraph
    from .runtime.interrupts import interrupt as interrupt
    from .runtime.interrupts import interrupt_many as interrupt_many
    from .runtime.result import GraphResult as GraphResult
    from .runtime.result import StateSnapshot as StateSnapshot
    from .runtime.stream import FinalEventData as FinalEventData
    from .runtime.stream import InterruptEventData as InterruptEventData
    from .runtime.stream import StreamEvent as StreamEvent
    from .sqlite_store import SQLiteStateStore as SQLiteStateStore
    from .store import InMemoryStateStore as InMemoryStateStore


_HOME = {
    "agents": (
        "AgentState Tool ToolCallResult ToolContext agent_tool build_react_agent call_tool model_node run_agent tool "
        "tool_runner"
    ),
    "chat": "ScriptedChat",
    "errors": (
        "ChatHistoryError ModelProviderError StructuredOutputError "
        "ContextNotProvidedError GraphChangedError GraphConfigError GraphExecutionError GraphInterrupt GraphTimeoutError "
        "InterruptExpiredError InterruptSwallowedError InvalidUpdateError LeaseLostError LimitExceededError NodestepError "
        "NodeTimeoutError ResumeError RunInterruptedError RunLimitExceededError StateStoreError StateUpdateError "
        "StoreBusyError StoreCorruptedError StoreFormatError StoreFullError ThreadBusyError ThreadCancelledError "
        "ToolDeniedError ToolExecutionError ToolGroupExecutionError UnknownEventError UnknownThreadError"
    ),
    "flow": "END START Node branch node when",
    "graph": "Graph",
    "hooks": "Middleware RunOutcome",
    "model.event": "History HistoryEvent",
    "model.interrupt": "Interrupt Question Resume",
    "model.node": "Command NodeContext Retry Send",
    "model.page": "Page",
    "model.records": "AnswerRecord BranchRecord ThreadRecord",
    "model.status": "Status",
    "model.reducers": "RemoveMessage Replace add add_messages merge_dict replace",
    "model.state": "BaseState",
    "nodes": "interrupt_node subgraph",
    "runtime.interrupts": "interrupt interrupt_many",
    "runtime.result": "GraphResult StateSnapshot",
    "runtime.stream": "FinalEventData InterruptEventData StreamEvent",
    "store": "InMemoryStateStore",
    "sqlite_store": "SQLiteStateStore",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__version__ = "0.1.0"
__all__ = [*sorted(_MODULE_OF), "__version__"]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'nodestep' has no attribute {name!r}")
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
