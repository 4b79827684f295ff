"""Where a thread stands in its graph: a few words for each node where it does. Whoever draws the graph puts them there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from ..engine.due import due_tasks
from ..model.blueprint import Blueprint
from ..model.ids import END
from ..model.position import ROOT, Position
from ..model.status import Status


def standing_by_node(blueprint: Blueprint, position: Position, now_ms: int) -> Mapping[str, str]:
    """Words by the node's name in the graph now, such as `{"review": "asks"}`: what its tasks wait for (`due`, `asks`,
    `failed`, `done`), with their numbers where it has several, and which share of a join has arrived. A thread that came
    to its end stands at END. A node that the graph no longer has is left out."""
    waits: dict[str, Counter[str]] = defaultdict(Counter)
    for due in due_tasks(position, now_ms):
        if due.path == ROOT:
            waits[blueprint.name_now(due.task.node)][due.wait.value] += 1
    words = {node: [_counted(found)] for node, found in waits.items()}
    for join in blueprint.joins:
        arrived = position.root.marks.get(join.target, ())
        if arrived:
            words.setdefault(join.target, []).append(f"{len(arrived)} of {len(join.sources)} arrived")
    if position.status is Status.COMPLETED and position.root.superstep:
        words[END] = [Status.COMPLETED.value]
    return {node: ", ".join(parts) for node, parts in words.items() if node in blueprint.nodes or node == END}


def _counted(waits: Counter[str]) -> str:
    if waits.total() == 1:
        return next(iter(waits))
    return ", ".join(f"{count} {wait}" for wait, count in waits.items())
