"""The calls of a turn, counted against the limits of its graph and of those around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..middleware.limits import ToolLimitMiddleware
from ..runtime.context import TaskScope


def count_calls(scope: TaskScope, tools: Iterable[str]) -> None:
    """Count calls of these tools, once for each turn however often its task runs. Raises RunLimitExceededError."""
    turn = Counter(tools)
    own = True
    at: TaskScope | None = scope
    while at is not None and turn:
        for owner, limits in _limits(at).items():
            memory = at.memory.of(owner)
            before = (at.at.frame.memory.get(owner, {}) if own else memory).get(at.task.id, {})
            memory[at.task.id] = {**before, **{name: before.get(name, 0) + count for name, count in turn.items()}}
            for limit in limits:
                limit.check(memory.values())
        at, own = at.at.parent, False


def _limits(scope: TaskScope) -> dict[str, list[ToolLimitMiddleware]]:
    """The limits of a graph by the name of their class, under which they share what they count."""
    limits: dict[str, list[ToolLimitMiddleware]] = {}
    for item in scope.at.hooks.middleware:
        if isinstance(item, ToolLimitMiddleware):
            limits.setdefault(type(item).__name__, []).append(item)
    return limits
