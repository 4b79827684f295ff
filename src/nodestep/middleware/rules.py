"""Which tool calls a person must approve: rules over a tool's name and the arguments of a call.

A rule that cannot say is a rule that matches.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import GraphConfigError
from .predicates import Predicate

EVERY_TOOL = "*"


class NamedTool(Protocol):
    """What a rule knows of a tool."""

    @property
    def name(self) -> str:
        """The name by which the model calls the tool."""


@dataclass(frozen=True, slots=True)
class InterruptRule:
    """Asks a person before calls of `tool`: a name, a tool, or `"*"` for every tool.

    `match` takes the arguments of a call by name and says whether to ask; `None` asks for every call. Only the exact
    answer `False` lets a call pass unasked: any other answer, and an error, asks. Raises GraphConfigError for anything
    else in the place of a tool or a predicate.
    """

    tool: str | NamedTool
    match: Predicate | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tool_name, str) or not self.tool_name:
            raise GraphConfigError(
                f"InterruptRule(tool=...) takes a tool, its name, or '*' for every tool, not {self.tool!r}."
            )
        if self.match is not None and not callable(self.match):
            raise GraphConfigError(
                f"InterruptRule({self.tool_name!r}, match=...) takes a function of the arguments, as in "
                f"match=gt('amount', 100), not a {type(self.match).__name__}."
            )

    @property
    def tool_name(self) -> str:
        """The name of the tool, or `"*"`."""
        return self.tool if isinstance(self.tool, str) else getattr(self.tool, "name", "")

    def names(self, tool: str) -> bool:
        """Whether the rule is about this tool."""
        return self.tool_name in (EVERY_TOOL, tool)

    def asks_for(self, tool: str, arguments: Any) -> bool:
        """Whether a call must be asked for, as far as this rule is concerned."""
        return self.names(tool) and must_ask(self.match, arguments)


def must_ask(match: Predicate | None, arguments: Any) -> bool:
    """Whether a predicate wants a call asked for: all but the exact answer `False` does."""
    if match is None:
        return True
    try:
        answer: Any = match(deepcopy(dict(arguments)))
    except Exception:  # whatever went wrong, the predicate has not said that the call may pass
        return True
    if inspect.iscoroutine(answer):
        answer.close()  # an `async def` predicate has not answered
    return answer is not False


def should_interrupt(
    rules: Iterable[InterruptRule], tool: str | NamedTool, raw_input: Mapping[str, Any] | None = None
) -> bool:
    """Whether any rule wants a call of `tool` asked for; `raw_input` are its arguments, `None` stands for none.

    A predicate that raises, or does not answer with a `bool`, counts as a match.
    """
    name = tool if isinstance(tool, str) else tool.name
    return any(rule.asks_for(name, {} if raw_input is None else raw_input) for rule in rules)
