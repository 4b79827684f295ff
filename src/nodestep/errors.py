"""Every exception of nodestep, drawn as a tree.

An error says what happened with the values, why, and what to do instead. Its arguments stay readable as attributes, and
it survives copying and pickling. This module knows nothing of the rest of the package.

    NodestepError
    ├── GraphConfigError            the graph, or the call, is written wrongly; nothing ran
    ├── GraphExecutionError         a run cannot go on
    │   ├── NodeTimeoutError   GraphTimeoutError   InterruptSwallowedError   InterruptExpiredError
    │   ├── ThreadBusyError    LeaseLostError      ThreadCancelledError      GraphChangedError
    │   └── ResumeError
    ├── RunLimitExceededError       a run took more supersteps, or tool calls, than it may
    ├── RunInterruptedError         a run paused, told as an exception (also a GraphInterrupt)
    ├── StateUpdateError            a value does not fit the state
    │   └── InvalidUpdateError      parallel writes that cannot be merged
    ├── StateStoreError             what is stored, or the store itself
    │   ├── UnknownThreadError (also a ResumeError)   UnknownEventError   LimitExceededError
    │   └── StoreBusyError   StoreFullError   StoreCorruptedError   StoreFormatError
    ├── ContextNotProvidedError
    ├── ModelProviderError          a chat model, or the way to it, failed
    │   └── ChatHistoryError        the messages are none that a model can go on from
    ├── StructuredOutputError       what a model answered does not fit the output schema
    ├── ToolExecutionError          a tool call failed, or does not fit its tool
    ├── ToolGroupExecutionError     several calls of one turn did
    └── ToolDeniedError             a tool call that may not run
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """A sentence to append to a message: " Did you mean 'x'?", or nothing where no known name is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def a(noun: str) -> str:
    """A noun with its article: "a list", "an int"."""
    return f"an {noun}" if noun[:1] in "aeioAEIO" else f"a {noun}"


def _restore(cls: type[NodestepError], args: tuple[Any, ...], attributes: dict[str, Any]) -> NodestepError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(attributes)
    return error


class NodestepError(Exception):
    """The base of every exception that nodestep raises to its callers."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__)


class GraphConfigError(NodestepError):
    """The graph or the call is written wrongly. Nothing was written and nothing ran."""


class GraphExecutionError(NodestepError):
    """A run cannot go on."""


class NodeTimeoutError(GraphExecutionError):
    """A node took longer than its `timeout` (seconds)."""

    def __init__(self, node_name: str, timeout: float) -> None:
        super().__init__(
            f"Node {node_name!r} took longer than its timeout of {timeout:g} s and was stopped. Its result was not "
            "recorded; with a store, invoke(None) on the same thread runs it again."
        )
        self.node_name = node_name
        self.timeout = timeout


class GraphTimeoutError(GraphExecutionError):
    """The supersteps of one call took longer than the graph's `timeout` (seconds)."""

    def __init__(self, graph_name: str, timeout: float) -> None:
        super().__init__(
            f"Graph {graph_name!r} spent more than its timeout of {timeout:g} s inside supersteps. What finished is "
            "recorded; with a store, invoke(None) on the same thread goes on."
        )
        self.graph_name = graph_name
        self.timeout = timeout


class InterruptSwallowedError(GraphExecutionError):
    """A node caught the pause that interrupt() raised, so its return value was not used."""


class InterruptExpiredError(GraphExecutionError):
    """A question was answered after its deadline, or expired without a default."""


class ThreadBusyError(GraphExecutionError):
    """Another run works on this branch right now."""


class LeaseLostError(GraphExecutionError):
    """Another process took this branch over; this run wrote nothing more."""


class ThreadCancelledError(GraphExecutionError):
    """The thread was cancelled while this run worked on it."""


class GraphChangedError(GraphExecutionError):
    """A waiting thread no longer fits the graph. Nothing was written and nothing ran."""


class ResumeError(GraphExecutionError):
    """An answer, or a way of going on, that does not fit where the thread stands. Nothing was written, nothing ran."""


class RunLimitExceededError(NodestepError):
    """A call took more supersteps than `max_steps` allows, or a turn more tool calls than a ToolLimitMiddleware does."""

    def __init__(self, limit_name: str, limit_value: int, advice: str | None = None) -> None:
        super().__init__(
            f"The run reached {limit_name}={limit_value}. {advice}"
            if advice
            else f"The run reached {limit_name}={limit_value}. With a store, what finished is recorded, and invoke(None) on "
            f"the same thread goes on with a new budget, and Graph(..., {limit_name}=...) raises it."
        )
        self.limit_name = limit_name
        self.limit_value = limit_value


class GraphInterrupt(BaseException):
    """The signal that pauses a node.

    It derives from BaseException, so that `except Exception` in a node does not catch it. The engine knows the signals
    that it raised itself: one made by hand pauses nothing.
    """

    def __init__(
        self, key: str, prompt: str = "", node_id: str | None = None, checkpoint_id: str | None = None
    ) -> None:
        super().__init__(f"workflow paused for input: {prompt or key}")
        self.key = key
        self.prompt = prompt
        self.node_id = node_id
        self.checkpoint_id = checkpoint_id
        self.nested_checkpoint_id: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__)


class RunInterruptedError(NodestepError, GraphInterrupt):
    """A run paused, told as an exception to a caller that asked for one: by `Graph.run`.

    `interrupts` maps each open key to its `Interrupt`; `key`, `prompt` and `node_id` are those of the first by key. `key` is
    the field of a declared node, else the question's full key, and `prompt` the payload as text, or as JSON text.
    `checkpoint_id` is the thread's id, `nested_checkpoint_id` names the state of the inner graph that asks.
    """

    def __init__(self, thread_id: str, interrupts: Mapping[str, Any]) -> None:
        first = interrupts[min(interrupts)] if interrupts else None
        payload = first.payload if first is not None else ""
        GraphInterrupt.__init__(
            self,
            first.key if first is not None else "",
            payload if isinstance(payload, str) else _as_text(payload),
            first.node if first is not None else None,
            thread_id,
        )
        self.thread_id = thread_id
        self.interrupts = dict(interrupts)


def _as_text(payload: Any) -> str:
    from pydantic_core import to_json

    return to_json(payload, fallback=str, inf_nan_mode="strings").decode()


class StateUpdateError(NodestepError):
    """A value that does not fit the state. The message names the field and the writer, never the value."""


class InvalidUpdateError(StateUpdateError):
    """Several tasks of one superstep wrote a field whose reducer cannot merge them."""

    def __init__(self, field: str, nodes: Sequence[str], superstep: int) -> None:
        names = ", ".join(repr(name) for name in nodes)
        super().__init__(
            f"Field {field!r} was written by {names} in one superstep ({superstep}), and its reducer keeps one value. "
            "Nothing was merged. Give the field a merging reducer, e.g. Annotated[list[str], add]."
        )
        self.field = field
        self.nodes = tuple(nodes)
        self.superstep = superstep

    @classmethod
    def finished(cls, field: str, node: str, writer: str, superstep: int) -> InvalidUpdateError:
        """The same for an edit of a field that a finished task of the open superstep has written."""
        error = cls(field, (node, writer), superstep)
        error.args = (
            f"Field {field!r} was written by {node!r} in the superstep that is under way ({superstep}), and its reducer keeps "
            f"one value, so {writer} cannot write it now. Nothing was written. Let the superstep come to its end first, or "
            "fork the thread at an event before it.",
        )
        return error

    @classmethod
    def shared(cls, field: str, node: str, writer: str, superstep: int) -> InvalidUpdateError:
        """The same for a write to a field that the graph inside a node works on."""
        error = cls(field, (node, writer), superstep)
        error.args = (
            f"Field {field!r} is shared with the graph inside {node!r}, which is at work on it, so {writer} cannot write it "
            "now. Nothing was written. Let the graph come to its end first, or fork the thread at an event before it.",
        )
        return error


class StateStoreError(NodestepError):
    """The store, or a value that cannot be stored."""


class UnknownThreadError(StateStoreError, ResumeError):
    """The store has no such thread or branch."""

    def __init__(self, thread_id: str, branch_id: str = "main") -> None:
        branch = "" if branch_id == "main" else f"branch {branch_id!r} of a "
        super().__init__(
            f"The store has no {branch}thread {thread_id!r}. Check the id and the store; a new thread starts with an input, "
            "as in invoke({...}, thread_id=...)."
        )
        self.thread_id = thread_id
        self.branch_id = branch_id


class UnknownEventError(StateStoreError):
    """The branch has no such event, or it was pruned."""


class StoreBusyError(StateStoreError):
    """Another program holds the store's lock for longer than the store waits."""


class StoreFullError(StateStoreError):
    """The disk, or the quota, is full. What was stored before is intact."""


class StoreCorruptedError(StateStoreError):
    """What is stored is damaged: a checksum or the file's structure does not hold."""


class StoreFormatError(StateStoreError):
    """The file is not a nodestep store, or a newer nodestep wrote it."""


class LimitExceededError(StateStoreError):
    """A value is larger, deeper or odder than nodestep stores; see the limits page."""


class ContextNotProvidedError(NodestepError):
    """A node read `ctx.context`, and the call passed no `context=`."""


class ModelProviderError(NodestepError):
    """A chat model, or the way to it, failed. `status_code` is the HTTP status where the provider answered with one. Nothing
    of the turn was recorded; a node with a `Retry` tries again, and so does invoke(None)."""

    def __init__(self, message: str, *, status_code: int | None = None) -> None:
        super().__init__(message)
        self.status_code = status_code


class ChatHistoryError(ModelProviderError):
    """The messages are none that a model can go on from: a call without a result, or a result without its call."""


class StructuredOutputError(NodestepError):
    """What a model answered does not fit the output schema. `raw_content` is what it answered, as text, and is left out of the
    message."""

    def __init__(self, schema_name: str, raw_content: str, reason: str = "") -> None:
        super().__init__(
            f"The model's answer does not fit the output schema {schema_name!r}{f': {reason}' if reason else ''}. Its text is "
            "in raw_content. Say in the prompt what to answer, or have on_invalid deal with it."
        )
        self.schema_name = schema_name
        self.raw_content = raw_content


class ToolExecutionError(NodestepError):
    """A tool call failed: its tool is unknown, its arguments or its result do not fit, or the tool raised. `input_data` are
    the arguments as they were given; the error behind it is its `__cause__`."""

    def __init__(self, tool_name: str, input_data: Any, reason: str = "") -> None:
        super().__init__(f"A call of tool {tool_name!r} failed{f': {reason}' if reason else '.'}")
        self.tool_name = tool_name
        self.input_data = input_data


class ToolGroupExecutionError(NodestepError):
    """Several tool calls of one turn failed; `errors` holds theirs, in the order of the calls."""

    def __init__(self, errors: Sequence[ToolExecutionError]) -> None:
        super().__init__("\n".join([f"{len(errors)} tool calls of one turn failed.", *map(str, errors)]))
        self.errors = tuple(errors)


class ToolDeniedError(NodestepError):
    """A tool call may not run. A `before_tool` hook raises it to deny a call: the model is told the reason, and the run goes
    on."""

    def __init__(self, tool_name: str, reason: str) -> None:
        super().__init__(f"Tool {tool_name!r} was not run. {reason}")
        self.tool_name = tool_name
        self.reason = reason
