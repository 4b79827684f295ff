"""One call of one tool: arguments read, function called, result read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import ValidationError

from ..chat.reading import whole_text
from ..errors import (
    GraphChangedError,
    LeaseLostError,
    StateStoreError,
    ThreadCancelledError,
    ToolDeniedError,
    ToolExecutionError,
)
from ..model.canonical import encode
from ..model.json import Json, JsonObject
from ..model.misfits import explain
from ..model.node import Command
from ..runtime.pool import NODES
from .arguments import ArgumentsError, Checked
from .context import ToolContext
from .returning import Result, result_of
from .tool import Tool

NOT_OF_TOOLS = (GraphChangedError, LeaseLostError, StateStoreError, ThreadCancelledError)
"""Errors of the run and its store, which come out of a tool and are none of its own: they are never told to a model."""


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """What a call returned, and the arguments it ran with: checked, as JSON, with every default filled in."""

    value: Any
    arguments: JsonObject


async def call_tool(
    tool: Tool[Any, Any], arguments: Mapping[str, Any], ctx: ToolContext | None = None
) -> ToolCallResult:
    """Call a tool from code, without a model. A plain function runs in a thread of its own.

    Raises ToolExecutionError for arguments or a result that do not fit, and for an error of the tool, its `__cause__`;
    ToolDeniedError where the tool needs a person's approval, for which `tool_runner` and the agents ask; TypeError where it
    takes a ToolContext and `ctx` is `None`.
    """
    checked = check_arguments(tool, arguments)
    if tool.asks_for(checked.json):
        raise ToolDeniedError(
            tool.name, "It needs a person's approval, and call_tool asks nobody. Run it with tool_runner or an agent."
        )
    result = await run_tool(tool, checked, ctx)
    return ToolCallResult(result.value, checked.json)


def check_arguments(tool: Tool[Any, Any], arguments: Mapping[str, Any]) -> Checked:
    """The arguments as the tool takes them. Raises ToolExecutionError."""
    try:
        return tool.takes.check(arguments)
    except ArgumentsError as error:
        raise ToolExecutionError(tool.name, arguments, f"its arguments do not fit: {error}") from error


def read_back(tool: Tool[Any, Any], checked: Checked) -> Checked:
    """The arguments that a person who is shown `checked` decides about: its JSON, read again. Raises ToolExecutionError
    where that is another call, so that nobody approves what does not run."""
    try:
        again = tool.takes.check(checked.json)
    except ArgumentsError as error:
        raise _not_shown(tool, checked, str(error)) from None
    if not again.is_same(checked):
        raise _not_shown(tool, checked, "they become others.")
    return Checked(checked.json, again.keywords)


def _not_shown(tool: Tool[Any, Any], checked: Checked, why: str) -> ToolExecutionError:
    return ToolExecutionError(
        tool.name,
        checked.json,
        f"nobody can approve it, since its arguments do not read back from the JSON that a rule or a person is shown: "
        f"{why} Give its parameters types that read what they write.",
    )


async def run_tool(tool: Tool[Any, Any], checked: Checked, ctx: ToolContext | None) -> Result:
    """Call the function, and check what it returns. Pauses pass through. Raises ToolExecutionError."""
    keywords = checked.keywords
    if tool.takes.context is not None:
        if ctx is None:
            raise TypeError(f"Tool {tool.name!r} takes a ToolContext. Pass one, as in call_tool(tool, arguments, ctx).")
        keywords = {**keywords, tool.takes.context: ctx}
    try:
        if tool.is_async:
            value = await tool.function(**keywords)
        else:
            value = await NODES.run(partial(tool.function, **keywords))
    except NOT_OF_TOOLS:
        raise
    except Exception as error:
        raise ToolExecutionError(tool.name, checked.json, f"{type(error).__name__}: {error}") from error
    return checked_result(tool, value, checked)


def checked_result(tool: Tool[Any, Any], value: Any, checked: Checked) -> Result:
    """The result as its return annotation has it. Raises ToolExecutionError where it does not fit, or has no JSON form."""
    try:
        if tool.takes.result is not None and not isinstance(value, Command):
            value = tool.takes.result.validate_python(value)
        return result_of(value)
    except ValidationError as error:
        reason = f"its result does not fit its annotation: {explain(error, frozenset())}"
        raise ToolExecutionError(tool.name, checked.json, reason) from error
    except StateStoreError as error:
        raise ToolExecutionError(tool.name, checked.json, str(error)) from error


def result_text(result: Json) -> str:
    """A result as the model is told it: compact JSON, `{"result": ...}`."""
    return encode({"result": result}).decode()


def error_text(error: BaseException) -> str:
    """An error as the model is told it: `"Tool error: <Type>: <message>"`, of the error behind it where there is one."""
    cause = error.__cause__ if isinstance(error, ToolExecutionError) and error.__cause__ is not None else error
    return whole_text(f"Tool error: {type(cause).__name__}: {cause}")
