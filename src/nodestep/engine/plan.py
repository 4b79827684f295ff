"""From a position to the tasks of the next superstep that must run."""

from __future__ import annotations

from ..errors import GraphChangedError, did_you_mean
from ..model.blueprint import Blueprint
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


def check_fits(blueprint: Blueprint, position: Position, thread_id: str) -> None:
    """Refuse a position that names nodes the graph no longer has."""
    known = tuple(blueprint.nodes)
    frame = position.root
    waiting = {task.node for task in frame.due} | set(frame.marks)
    for name in sorted(waiting):
        if name not in blueprint.nodes:
            raise GraphChangedError(
                f"Thread {thread_id!r} waits at node {name!r}, which graph {blueprint.name!r} no longer has. Nothing was "
                f"written and nothing ran. Put the node back, or name it in @node(aliases=[{name!r}]) of the node that "
                f"took its place.{did_you_mean(name, known)}"
            )
