"""The calls of a turn, counted against the limits of its graph and of those around it.

What is counted stands in the memory of each graph, by the task that made the calls: under its id what its own turn made, and
under the path of a graph inside it what was made there. A task that pauses loses what it noted, and the graphs inside keep
theirs; so their counts are taken from there when the task runs again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ..middleware.limits import ToolLimitMiddleware
from ..model.ids import frame_path, is_within
from ..model.json import Json
from ..runtime.context import TaskScope

Counts: TypeAlias = Mapping[str, int]
"""How many calls, by the name of their tool."""


def count_calls(scope: TaskScope, tools: Iterable[str]) -> None:
    """Count calls of these tools, once for each turn however often its task runs. Raises RunLimitExceededError."""
    turn, around = Counter(tools), _tasks_around(scope)
    if not turn:
        return
    limits = [(place, owner, limit) for place, at in enumerate(around) for owner, limit in _limits(at)]
    for owner, outermost in {owner: place for place, owner, _ in limits}.items():
        _count(around[: outermost + 1], owner, turn)
    for place, owner, limit in limits:
        limit.check(around[place].memory.of(owner).values())


def _tasks_around(scope: TaskScope) -> list[TaskScope]:
    """The task, and those of the graphs around it, the innermost first."""
    around = []
    at: TaskScope | None = scope
    while at is not None:
        if not at.at.frame.holds_calls:
            around.append(at)
        at = at.at.parent
    return around


def _limits(scope: TaskScope) -> list[tuple[str, ToolLimitMiddleware]]:
    """The limits of a graph with the name of their class, under which they share what they count."""
    return [(type(item).__name__, item) for item in scope.at.hooks.middleware if isinstance(item, ToolLimitMiddleware)]


def _count(around: list[TaskScope], owner: str, turn: Counts) -> None:
    """Note a turn of the first of these tasks, and with each task around it what is made inside."""
    key, made = around[0].task.id, [turn]
    for place, at in enumerate(around):
        memory, before = at.memory.of(owner), at.at.frame.memory.get(owner, {})
        if memory == before:  # as it is when the task begins to run
            for path, counts in _made_inside(at, owner).items():
                memory[path] = _sum([before.get(path, {}), *counts])
        if place:
            key = _within(at, around[place - 1].at.path)
        memory[key] = _sum([before.get(key, {}), *made])
        made = list(memory.values())


def _made_inside(scope: TaskScope, owner: str) -> dict[str, list[Counts]]:
    """What is recorded as made in each graph inside a task, with those inside that one."""
    if not scope.run.holds_inner_frames:
        return {}
    frames, outer = scope.run.position.frames, frame_path(scope.at.path, scope.task.id)
    made: dict[str, list[Counts]] = {}
    for path in sorted(frames, key=len):
        if is_within(path, outer) and not frames[path].holds_calls:
            own = _within(scope, path)
            key = next((known for known in made if is_within(own, known)), own)
            made.setdefault(key, []).extend(frames[path].memory.get(owner, {}).values())
    return made


def _within(scope: TaskScope, path: str) -> str:
    """The path of a frame inside a task, from that task's graph on."""
    return path[len(scope.at.path) :].lstrip("/")


def _sum(counts: Iterable[Counts]) -> Json:
    total: dict[str, int] = {}
    for each in counts:
        for name, count in each.items():
            total[name] = total.get(name, 0) + count
    return total
