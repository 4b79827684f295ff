"""One tool call of a turn, from what the model wrote to what it is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..chat import ToolCall
from ..chat.reading import whole_text
from ..errors import (
    GraphExecutionError,
    InterruptSwallowedError,
    ToolDeniedError,
    ToolExecutionError,
    did_you_mean,
)
from ..hooks.contexts import Replacement
from ..model.json import Json, JsonObject
from ..model.limits import own_json
from ..model.node import Command
from ..runtime.attempts import tried
from ..runtime.calls import CallScope, ToolHook
from ..runtime.ends import check_not_swallowed
from .approving import Cleared, Ready
from .arguments import ArgumentsError, Checked
from .calling import NOT_OF_TOOLS, check_arguments, error_text, result_text, run_tool
from .commands import command_to_json
from .returning import Result, result_of, returned, returned_before
from .tool import Tool

ToolErrors: TypeAlias = str | Callable[[ToolExecutionError], str]
"""`"raise"`, `"return"`, or a function of the error that returns what the model is told."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that does not run, and why."""

    error: ToolDeniedError | ToolExecutionError


class OneCall:
    """A call while its task runs. `scope` is its own, and the context of its tool; `read_before` are its arguments as an
    earlier attempt read them."""

    def __init__(
        self,
        scope: CallScope,
        call: ToolCall,
        tools: Mapping[str, Tool[Any, Any]],
        tool_errors: ToolErrors,
        read_before: JsonObject | None,
    ) -> None:
        self.scope = scope
        self._call = call
        self._tools = tools
        self._tool_errors = tool_errors
        self._arguments: JsonObject = call.arguments
        self._read_before = read_before

    async def made_ready(self) -> Ready | Refused:
        """The call with its tool, its arguments as `before_tool` hooks leave them. Raises what a hook raises, save what
        denies the call."""
        try:
            tool, arguments = self._read()
            read = arguments.json
            for hook in self.scope.tool_hooks("before_tool"):
                arguments = await self._replaced(hook, tool, arguments)
        except (ToolDeniedError, ToolExecutionError) as error:
            check_not_swallowed(self.scope)
            return Refused(error)
        check_not_swallowed(self.scope)
        return Ready(tool, self._call.id, arguments, read)

    def _read(self) -> tuple[Tool[Any, Any], Checked]:
        name = self._call.name
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            why = f"there is no such tool. Tools: {known}.{did_you_mean(name, tuple(self._tools))}"
            raise ToolExecutionError(name, self._call.arguments, why) from LookupError(why)
        if self._call.arguments_error is not None:
            unread = ArgumentsError(self._call.arguments_error)
            raise ToolExecutionError(name, self._call.arguments, str(unread)) from unread
        return tool, check_arguments(tool, self._call.arguments if self._read_before is None else self._read_before)

    async def _replaced(self, hook: ToolHook, tool: Tool[Any, Any], arguments: Checked) -> Checked:
        self._arguments = arguments.json
        value = await _hook_value(hook, tool.name, own_json(arguments.json))
        return arguments if value is None else check_arguments(tool, value.value)

    async def end(self, verdict: Cleared | Refused) -> Json:
        """Bring the call to its end; returns what is recorded of it."""
        return await (self._run(verdict) if isinstance(verdict, Cleared) else self._refuse(verdict.error))

    async def _run(self, cleared: Cleared) -> Json:
        """A pause passes through, and so does a refusal of what the tool asked."""
        self._arguments = cleared.arguments.json
        hooks = tuple(self.scope.tool_hooks("after_tool"))
        if self.scope.ran_before is not None:
            result, self._arguments = returned_before(cleared.tool, self.scope.ran_before)
            return await self._finished(result, hooks, cleared)
        try:
            result = await tried(self.scope, run_tool(cleared.tool, cleared.arguments, self.scope))
        except (InterruptSwallowedError, *NOT_OF_TOOLS):
            raise
        except Exception as error:
            return await self._refuse(self._own_error(error, cleared))
        check_not_swallowed(self.scope)
        if hooks:
            self.scope.ran = returned(result, self._arguments)
        return await self._finished(result, hooks, cleared)

    async def _finished(self, result: Result, hooks: tuple[ToolHook, ...], cleared: Cleared) -> Json:
        """What is recorded of a call whose tool has returned, after the hooks. One that asks, or that fails, finds what was
        returned again: the tool does not run twice."""
        for hook in hooks:
            replaced = await _hook_value(hook, cleared.tool.name, result.value)
            result = result_of(result.value if replaced is None else replaced.value)
        command = command_to_json(result.value) if isinstance(result.value, Command) else None
        return self._recorded(result_text(result.json), self._arguments if cleared.decided else None, command)

    def _own_error(self, error: Exception, cleared: Cleared) -> ToolExecutionError:
        """The error as one of the tool; raises what is none, but a refusal of what the tool asked. An error beside a
        question of the same group wins."""
        if self.scope.fault is not None:
            raise self.scope.fault
        self.scope.signals = []
        if isinstance(error, ToolExecutionError):
            return error
        failed = ToolExecutionError(cleared.tool.name, cleared.arguments.json, f"{type(error).__name__}: {error}")
        failed.__cause__ = error
        return failed

    async def _refuse(self, error: ToolDeniedError | ToolExecutionError) -> Json:
        """What is recorded of a call that was denied, or that failed. Raises the error of one that failed where
        `tool_errors` says so."""
        if isinstance(error, ToolDeniedError):
            return self._recorded(error_text(error))
        for hook in self.scope.tool_hooks("on_tool_error"):
            await self._shown(hook, error)
        match self._tool_errors:
            case "raise":
                raise error
            case "return":
                return self._recorded(error_text(error))
            case told:
                assert callable(told)
                text = told(error)
                if not isinstance(text, str):
                    raise GraphExecutionError(
                        f"tool_errors= returned {type(text).__name__} for an error of tool {error.tool_name!r}. It returns "
                        "the text that the model is told."
                    )
                return self._recorded(whole_text(text))

    async def _shown(self, hook: ToolHook, error: ToolExecutionError) -> None:
        try:
            await _awaited(hook(error.tool_name, own_json(self._arguments), error))
        except Exception as failed:
            error.add_note(f"on_tool_error failed as well: {type(failed).__name__}: {failed}")

    def _recorded(self, content: str, arguments: JsonObject | None = None, command: Json = None) -> Json:
        message: JsonObject = {
            "role": "tool",
            "content": content,
            "name": self._call.name,
            "tool_call_id": self._call.id,
        }
        if arguments is not None:
            message["arguments"] = arguments
        return {"message": message} if command is None else {"message": message, "command": command}


async def _hook_value(hook: ToolHook, tool_name: str, value: Any) -> Replacement | None:
    answer = await _awaited(hook(tool_name, value))
    if answer is not None and not isinstance(answer, Replacement):
        raise GraphExecutionError(
            f"A hook around tool {tool_name!r} returned {type(answer).__name__}. Return None to leave things as they are, or "
            "Replacement(value) to put another value in their place."
        )
    return answer


async def _awaited(result: Any) -> Any:
    return await result if isinstance(result, Awaitable) else result
