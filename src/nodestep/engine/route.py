"""From finished tasks to the tasks that are due next.

A router is user code, so it is asked through `choose`; everything else here is a function of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from ..errors import GraphExecutionError
from ..model.blueprint import Blueprint, Branch
from ..model.ids import END, START
from ..model.outcome import Done, Target
from ..model.position import NO_MARKS, Frame, Task, tasks_of

Choose: TypeAlias = Callable[[Branch, str], tuple[str, ...]]
"""Asks the router of a branch that leaves a node (or START); returns the names of its targets."""


def first_tasks(blueprint: Blueprint, choose: Choose) -> tuple[Task, ...]:
    """The tasks that an input makes due."""
    return plain_tasks(_follow(blueprint, START, choose))


def route(blueprint: Blueprint, frame: Frame, done: Mapping[str, Done], choose: Choose) -> Frame:
    """The frame of the next superstep: what every finished task leads to, in scheduling order, and the joins' marks. Raises
    GraphExecutionError when nothing would be due while a join still waits for some of its sources."""
    if not blueprint.joins and len(frame.due) == 1:
        task = frame.due[0]
        if done[task.id].goto is None:
            return frame.advanced(plain_tasks(_follow(blueprint, blueprint.name_now(task.node), choose)), NO_MARKS)
    followed: dict[str, tuple[str, ...]] = {}
    targets: list[Target] = []
    now = blueprint.name_now
    marks = {now(join): set(map(now, sources)) for join, sources in frame.marks.items()}
    for task in frame.due:
        goto = done[task.id].goto
        if goto is not None:
            targets.extend(Target(now(target.node), target.payload) for target in goto if target.node != END)
            continue
        node = now(task.node)
        if node not in followed:
            followed[node] = _follow(blueprint, node, choose)
        targets.extend(Target(name) for name in followed[node] if name != END)
        for join in blueprint.joins_from(node) if blueprint.joins else ():
            marks.setdefault(join.target, set()).add(node)
    targets.extend(_full_joins(blueprint, marks))
    due = tasks_of(targets)
    if marks and not due:
        raise GraphExecutionError(_half_marked(blueprint, marks))
    if not marks:
        return frame.advanced(due, NO_MARKS)
    return frame.advanced(due, {join: tuple(sorted(sources)) for join, sources in sorted(marks.items())})


def _follow(blueprint: Blueprint, source: str, choose: Choose) -> tuple[str, ...]:
    edges = blueprint.edges.get(source, ())
    if len(edges) == 1:
        edge = edges[0]
        return (edge,) if isinstance(edge, str) else choose(edge, source)
    return tuple(name for edge in edges for name in ((edge,) if isinstance(edge, str) else choose(edge, source)))


@lru_cache(maxsize=4096)
def plain_tasks(names: tuple[str, ...]) -> tuple[Task, ...]:
    """The tasks of these targets, in order; tasks are values, so the same targets are the same tasks."""
    return tasks_of(Target(name) for name in names if name != END)


def _full_joins(blueprint: Blueprint, marks: dict[str, set[str]]) -> Iterator[Target]:
    """The joins that all sources have reached, whose marks are cleared. Arrivals of one superstep are gathered first, so
    that several from one source count once."""
    for join in blueprint.joins if marks else ():
        if marks.get(join.target, set()).issuperset(join.sources):
            del marks[join.target]
            yield Target(join.target)


def _half_marked(blueprint: Blueprint, marks: Mapping[str, set[str]]) -> str:
    waits = []
    for join in blueprint.joins:
        if join.target in marks:
            missing = [name for name in join.sources if name not in marks[join.target]]
            waits.append(f"{join.target!r} still waits for {', '.join(map(repr, missing))}")
    return (
        f"The run would end while a join is half full: {'; '.join(waits)}. Let every source of the join follow its edge, "
        "or send to the join with goto."
    )
