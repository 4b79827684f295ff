"""Which nodes a run can come to from START, over edges, branches, `goto` and joins, and what must have been decided on the
way there.

A misspelt name counts as the one it was meant for, so that one slip is not told as several.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from ..model import ids
from .branches import Choice
from .draft import Draft, WrittenJoin, names_in


class Way(Struct, frozen=True):
    """One way from a node to the next: by an edge, by `key` of a condition, by `goto`, or as one source of a join."""

    source: str
    target: str
    choice: Choice | None = None
    key: object = None
    join: WrittenJoin | None = None


Decisions: TypeAlias = Mapping[tuple[str, Choice], object]
"""The key that each condition, at each node, must have chosen."""


def reached(draft: Draft, *, with_whole_joins: bool = True) -> frozenset[str]:
    """The nodes a run can come to. Without `with_whole_joins` a join lets through as soon as one of its sources arrives,
    which shows what only the join keeps away."""
    onward: dict[str, list[Way]] = {}
    awaited: dict[WrittenJoin, set[str]] = {}
    for way in ways(draft):
        onward.setdefault(way.source, []).append(way)
        if way.join is not None and with_whole_joins:
            awaited.setdefault(way.join, set()).add(way.source)
    found = {ids.START}
    due = deque(found)
    while due:
        for way in onward.get(due.popleft(), ()):
            missing = awaited.get(way.join, set()) if way.join is not None else set()
            missing.discard(way.source)
            if not missing and way.target not in found:
                found.add(way.target)
                due.append(way.target)
    return frozenset(found)


def decided(draft: Draft) -> Mapping[str, Decisions]:
    """What must have been decided for a node to run, for each node that runs at most once and has only one way to it."""
    into: dict[str, list[Way]] = {}
    onward: dict[str, list[str]] = {}
    for way in ways(draft):
        into.setdefault(way.target, []).append(way)
        onward.setdefault(way.source, []).append(way.target)
    found: dict[str, Decisions] = {ids.START: {}}
    due = deque([ids.START])
    while due:
        for target in onward.get(due.popleft(), ()):
            arriving = into[target]
            is_one_way = len({way.join or id(way) for way in arriving}) == 1
            if is_one_way and target not in found and all(way.source in found for way in arriving):
                found[target] = {key: value for way in arriving for key, value in _after(way, found).items()}
                due.append(target)
    return found


def _after(way: Way, found: Mapping[str, Decisions]) -> Decisions:
    before = found[way.source]
    return before if way.choice is None else {**before, (way.source, way.choice): way.key}


def ways(draft: Draft) -> Iterator[Way]:
    """Every way from one node to another, in the order written."""
    for source, target, choice, key in _steps(draft):
        yield Way(draft.meant(source), draft.meant(target), choice, key)
    for join in draft.joins:
        yield from (Way(draft.meant(source), draft.meant(join.target), join=join) for source in join.sources)


def _steps(draft: Draft) -> Iterator[tuple[str, str, Choice | None, object]]:
    for statement in draft.statements:
        for target in statement.targets:
            if isinstance(target, Choice):
                for key, stage in target.targets.items():
                    yield from ((statement.source, name, target, key) for name in names_in(stage.members))
            else:
                yield statement.source, target, None, None
    for node in draft.nodes.values():
        yield from ((node.name, name, None, None) for name in node.spec.goto)
