"""Several tools, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..flow.options import refuse
from .tool import Tool


class Toolbox:
    """The tools of a node called `what`; those of its graph's middleware come on top."""

    def __init__(self, tools: Iterable[Tool[Any, Any]], what: str) -> None:
        self.own = tuple(tools)
        self._what = what
        self._last: tuple[tuple[Any, ...], Mapping[str, Tool[Any, Any]]] = ((), {tool.name: tool for tool in self.own})

    def with_more(self, more: tuple[Tool[Any, Any], ...]) -> Mapping[str, Tool[Any, Any]]:
        """All of them by name, put together once for a graph. Raises GraphConfigError for what is no tool, and for two of
        one name."""
        last, tools = self._last
        if more is not last:
            every = (*self.own, *more)
            refuse(self._what, tool_problems(every))
            tools = {tool.name: tool for tool in every}
            self._last = more, tools
        return tools


def tool_problems(tools: Iterable[Any]) -> Iterator[str]:
    """What keeps `tools=` from being tools with a name each."""
    if isinstance(tools, Tool):
        yield f"tools= takes a list of tools. Write tools=[{tools.name}]."
        return
    seen: set[str] = set()
    for each in tools:
        if not isinstance(each, Tool):
            yield f"tools= holds a {type(each).__name__}. Make it a tool with @tool."
        elif each.name in seen:
            yield f"two tools are named {each.name!r}. Give one of them another name with @tool(name=...)."
        else:
            seen.add(each.name)
