"""Which tools an agent can come to call, and rules and limits that name none of them: a gate that would never close."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import did_you_mean
from ..hooks import Middleware
from ..middleware.approvals import ToolInterruptMiddleware
from ..middleware.limits import ToolLimitMiddleware
from ..middleware.rules import EVERY_TOOL
from ..model.blueprint import Blueprint
from .agent_tool import AgentTool
from .runner import ToolRunner
from .tool import Tool


def rule_problems(tools: Iterable[Tool[Any, Any]], middleware: Iterable[Middleware]) -> Iterator[str]:
    """Tells rules and limits for tools that neither the agent nor an agent inside it has."""
    known = sorted(_names(tools))
    for item in middleware:
        for name, told in _named(item):
            if name not in known:
                yield f"{told} Tools: {', '.join(known) or 'none'}.{did_you_mean(name, known)}"


def _named(item: Middleware) -> Iterator[tuple[str, str]]:
    """The tools that a middleware names, each with what to say if there is none of that name."""
    if isinstance(item, ToolInterruptMiddleware):
        for rule in item.rules:
            if rule.tool_name != EVERY_TOOL:
                yield rule.tool_name, f"InterruptRule({rule.tool_name!r}) names no tool of it, so it would never ask."
    if isinstance(item, ToolLimitMiddleware):
        for name in item.per_tool:
            yield (
                name,
                f"ToolLimitMiddleware(per_tool={{{name!r}: ...}}) names no tool of it, so it would limit nothing.",
            )


def _names(tools: Iterable[Tool[Any, Any]]) -> Iterator[str]:
    for tool in tools:
        yield tool.name
        if isinstance(tool, AgentTool) and tool.graph is not None:
            yield from _names(tool.graph.hooks.tools)
            yield from _names_in(tool.graph.blueprint)


def _names_in(blueprint: Blueprint) -> Iterator[str]:
    for spec in blueprint.nodes.values():
        runner = getattr(spec.function, "__self__", None)
        if isinstance(runner, ToolRunner):
            yield from _names(runner.tools)
        if spec.inner is not None:
            yield from _names(spec.inner.hooks.tools)
            yield from _names_in(spec.inner.blueprint)
