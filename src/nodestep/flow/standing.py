"""Where a thread stands in its graph: a few words for each node where it does. Whoever draws the graph puts them there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from ..engine.due import due_tasks
from ..model.blueprint import Blueprint
from ..model.ids import END, frame_path
from ..model.position import ROOT, Position
from ..model.status import Status


def standing_by_node(blueprint: Blueprint, position: Position, now_ms: int) -> Mapping[str, str]:
    """Words by the node's name in the graph now, such as `{"review": "asks"}`, in a graph inside a node by
    `"outer/review"`: what its tasks wait for (`due`, `asks`, `inside`, `failed`, `done`), with their numbers where it has
    several, and which share of a join has arrived. A thread that came to its end stands at END. A node that the graph no
    longer has is left out, and so are graphs that a node calls."""
    waits: dict[str, Counter[str]] = defaultdict(Counter)
    nodes = _nodes_by_task(blueprint, position)
    for due in due_tasks(position, now_ms):
        node = nodes.get(frame_path(due.path, due.task.id))
        if node is not None:
            waits[node][due.wait.value] += 1
    words = {node: [_counted(found)] for node, found in waits.items()}
    for join in blueprint.joins:
        arrived = position.root.marks.get(join.target, ())
        if arrived:
            words.setdefault(join.target, []).append(f"{len(arrived)} of {len(join.sources)} arrived")
    if position.status is Status.COMPLETED and position.root.superstep:
        words[END] = [Status.COMPLETED.value]
    return {node: ", ".join(parts) for node, parts in words.items()}


def _nodes_by_task(blueprint: Blueprint, position: Position, path: str = ROOT, outer: str = "") -> dict[str, str]:
    """The nodes of the due tasks of a frame and of those inside its subgraphs, as the drawing names them, by the path of
    the task."""
    nodes: dict[str, str] = {}
    for task in position.frames[path].due if path in position.frames else ():
        name = blueprint.name_now(task.node)
        spec = blueprint.nodes.get(name)
        if spec is not None:
            inner, node = frame_path(path, task.id), frame_path(outer, name)
            nodes[inner] = node
            if spec.inner is not None:
                nodes |= _nodes_by_task(spec.inner.blueprint, position, inner, node)
    return nodes


def _counted(waits: Counter[str]) -> str:
    if waits.total() == 1:
        return next(iter(waits))
    return ", ".join(f"{count} {wait}" for wait, count in waits.items())
