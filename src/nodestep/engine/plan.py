"""From a position to the tasks of the next superstep that must run."""

from __future__ import annotations

from ..errors import GraphChangedError, did_you_mean
from ..model.blueprint import Blueprint
from ..model.ids import END
from ..model.outcome import Asked, Done
from ..model.position import Frame, Position, Task


def runnable(frame: Frame) -> tuple[Task, ...]:
    """The due tasks that have work to do, in scheduling order: those not finished, save the ones that wait for a person."""
    if not frame.work:
        return frame.due
    return tuple(task for task in frame.due if _must_run(frame, task))


def _must_run(frame: Frame, task: Task) -> bool:
    work = frame.work_of(task.id)
    match work.outcome:
        case Done():
            return False
        case Asked():
            return not work.open_questions()
        case _:
            return True


def check_fits(blueprint: Blueprint, position: Position) -> None:
    """Refuse a position that the graph no longer fits: nodes that are gone, and recorded payloads and updates that the
    state type refuses now. Raises GraphChangedError."""
    frame = position.root
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
