"""Several tools, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..flow.options import refuse
from .tool import Tool


def tools_by_name(tools: Iterable[Tool[Any, Any]], what: str) -> dict[str, Tool[Any, Any]]:
    """The tools by name. Raises GraphConfigError for what is no tool, and for two of one name."""
    refuse(what, tool_problems(tools := list(tools)))
    return {tool.name: tool for tool in tools}


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
