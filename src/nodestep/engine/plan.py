"""From a position to the tasks of the next superstep that must run."""

from __future__ import annotations

from ..errors import GraphChangedError, did_you_mean
from ..model.blueprint import Blueprint
from ..model.ids import END
from ..model.outcome import Asked, Done
from ..model.position import NO_FRAME, ROOT, Frame, Position, Task


def runnable(position: Position, path: str = ROOT) -> tuple[Task, ...]:
    """The due tasks of a frame that have work to do, in scheduling order: those not finished, save the ones that wait for
    a person, themselves or in a frame inside them."""
    frame = position.frames[path]
    if not frame.work:
        return frame.due
    return tuple(task for task in frame.due if _must_run(position, path, frame, task))


def _must_run(position: Position, path: str, frame: Frame, task: Task) -> bool:
    work = frame.work_of(task.id)
    match work.outcome:
        case Done():
            return False
        case Asked():
            return not work.open_questions() and not position.waits_below(path, task.id)
        case _:
            return True


def check_fits(blueprint: Blueprint, position: Position) -> dict[str, Blueprint]:
    """Refuse a position that the graph no longer fits: nodes that are gone, and recorded payloads and updates that the
    state type refuses now, in every frame whose graph the blueprint tells. Returns those graphs by path. Raises
    GraphChangedError."""
    graphs = graphs_at(blueprint, position)
    for path, graph in graphs.items():
        check_frame(graph, position.frames.get(path, NO_FRAME))
    return graphs


def graphs_at(blueprint: Blueprint, position: Position) -> dict[str, Blueprint]:
    """The graph of each frame, by path: the blueprint's own, and those of its subgraph nodes. Which graph a call from code
    works on is known when the code calls it. Raises GraphChangedError for a frame in a node that holds no graph now."""
    graphs = {ROOT: blueprint}
    for path, frame in position.frames.items():
        outer, _, task_id = path.rpartition("/")
        if path == ROOT or frame.holds_calls or outer not in graphs:
            continue
        node = next((task.node for task in position.frames[outer].due if task.id == task_id), None)
        if node is None or graphs[outer].name_now(node) not in graphs[outer].nodes:
            continue
        inner = graphs[outer].spec(node).inner
        if inner is None:
            raise GraphChangedError(
                f"It waits inside node {node!r}, which is no subgraph any more. Nothing was written and nothing ran. Put the "
                "subgraph back, and remove it when no thread waits in it."
            )
        graphs[path] = inner.blueprint
    return graphs


def check_frame(blueprint: Blueprint, frame: Frame) -> None:
    """The same for one frame and its graph."""
    for name in sorted(_names(frame)):
        if blueprint.name_now(name) not in blueprint.nodes:
            raise GraphChangedError(
                f"It waits at node {name!r}, which graph {blueprint.name!r} does not have. Nothing was written and nothing "
                f"ran. Put the node back, or name it in @node(aliases=[{name!r}]) of the node that took its place."
                f"{did_you_mean(name, tuple(blueprint.nodes))}"
            )
    for task in frame.due:
        if task.payload is not None:
            blueprint.schema.payload_from_json(task.payload)
        outcome = frame.work_of(task.id).outcome
        if isinstance(outcome, Done) and outcome.patch:
            blueprint.schema.update_from_patch(outcome.patch)


def _names(frame: Frame) -> set[str]:
    """Every node that the frame needs to go on."""
    names = {task.node for task in frame.due}.union(frame.marks, *frame.marks.values())
    for work in frame.work.values():
        if isinstance(work.outcome, Done) and work.outcome.goto:
            names.update(target.node for target in work.outcome.goto if target.node != END)
    return names
