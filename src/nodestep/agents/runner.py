"""`tool_runner`: the node that runs the tool calls of a model's turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import TypeAdapter

from ..chat import ToolCall, ToolMessage
from ..errors import did_you_mean
from ..flow.edges import End
from ..flow.node import Node
from ..flow.options import goto_problems, name_problems, refuse, target_name
from ..model.node import NodeSpec
from ..model.schema import StateSchema
from ..runtime.context import TaskScope
from .commands import joined_command
from .one_call import ToolErrors
from .reading import ListField
from .tool import Tool
from .toolbox import Toolbox, tool_problems
from .turn import run_turn

_CALLS = TypeAdapter(list[ToolCall])


class ToolRunner(Node):
    """A node that runs tool calls, made by `tool_runner`."""

    def __init__(
        self,
        name: str,
        tools: tuple[Tool[Any, Any], ...],
        tool_errors: ToolErrors,
        messages_field: str,
        tool_calls_field: str,
        goto: Sequence[Node | End | str] | None,
    ) -> None:
        targets = tuple(map(target_name, goto or ()))
        spec = NodeSpec(name, self._run, self._run, is_async=True, goto=targets)
        super().__init__(spec, (target for target in goto or () if isinstance(target, Node)))
        what = f"Tool runner {name!r}"
        wrong = f"{what} found no list of ToolCall in field {tool_calls_field!r}. A model_node writes one there."
        object.__setattr__(self, "tools", tools)
        object.__setattr__(self, "_toolbox", Toolbox(tools, what))
        object.__setattr__(self, "_tool_errors", tool_errors)
        object.__setattr__(self, "_messages_field", messages_field)
        object.__setattr__(self, "_calls", ListField(tool_calls_field, frozenset({ToolCall}), _CALLS, wrong))

    tools: tuple[Tool[Any, Any], ...]
    """What it runs, beside the tools of the graph's middleware."""
    _toolbox: Toolbox
    _tool_errors: ToolErrors
    _messages_field: str
    _calls: ListField[ToolCall]

    def problems(self, schema: StateSchema[Any]) -> Iterable[str]:
        """Tells fields that the state does not have."""
        for option, field in (("messages_field", self._messages_field), ("tool_calls_field", self._calls.name)):
            if not schema.has_field(field):
                yield (
                    f"Tool runner {self.name!r} has {option}={field!r}, which {schema.name} does not have."
                    f"{did_you_mean(field, list(schema.fields))}"
                )

    async def _run(self, state: Any, scope: TaskScope) -> Any:
        calls = self._calls.read(scope.values.get(self._calls.name))
        tools = self._toolbox.with_more(scope.at.hooks.tools)
        recorded = await run_turn(scope, calls, tools, self._tool_errors)
        messages = [ToolMessage.model_validate(one["message"]) for one in recorded]
        update = {self._messages_field: messages, self._calls.name: []}
        commands = [one["command"] for one in recorded if "command" in one]
        return joined_command(commands, update, self._messages_field) if commands else update


def tool_runner(
    name: str,
    *,
    tools: Sequence[Tool[Any, Any]],
    tool_errors: ToolErrors = "raise",
    messages_field: str = "messages",
    tool_calls_field: str = "tool_calls",
    goto: Sequence[Node | End | str] | None = None,
) -> Node:
    """A node that runs the tool calls of a model's turn, several at once, and writes a `ToolMessage` for each.

    The calls are a list of `ToolCall` in the field `tool_calls_field`, which is empty afterwards; messages go to
    `messages_field`, in the order of the calls. Each call's result is recorded as it ends, and never runs again. Calls that
    need a person's approval wait, and the thread pauses; the others run.

    - `tools`: what the model may call; those of the graph's middleware (`tools()`) come on top.
    - `tool_errors`: `"raise"` fails the node with a ToolExecutionError (several: a ToolGroupExecutionError) when every
      call has ended; `"return"` tells the model `"Tool error: <Type>: <message>"`; a function of the error returns what
      the model is told.
    - `goto`: the targets that tools may go to with `Command(goto=...)`: nodes, END, or names of nodes defined later.

    Raises GraphConfigError for everything that is wrong with it.
    """
    problems = [*name_problems(name, "The name"), *tool_problems(tools), *goto_problems(goto)]
    if not callable(tool_errors) and tool_errors not in ("raise", "return"):
        problems.append(f"tool_errors={tool_errors!r} is unknown. Write 'raise', 'return' or a function of the error.")
    refuse(f"Tool runner {name!r}", problems)
    return ToolRunner(name, tuple(tools), tool_errors, messages_field, tool_calls_field, goto)
