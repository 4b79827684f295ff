"""What the tasks of the open superstep wait for, from a position alone: for whoever shows where a thread stands."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from ..model.ids import frame_path, interrupt_key
from ..model.outcome import Done, Failed
from ..model.position import ROOT, Frame, Position, Task
from .answer import open_and_expired


class Wait(StrEnum):
    """`DUE` runs next, `ASKS` waits for an answer, `INSIDE` for an answer to the graph inside it, `FAILED` runs again when
    the thread goes on, `DONE` waits for the others of its superstep."""

    DUE = "due"
    ASKS = "asks"
    INSIDE = "inside"
    FAILED = "failed"
    DONE = "done"


class DueTask(Struct, frozen=True):
    """A task of an open superstep, with the keys of the questions that it waits for. `path` is that of its frame."""

    task: Task
    wait: Wait
    keys: tuple[str, ...] = ()
    path: str = ROOT


def due_tasks(position: Position, now_ms: int) -> tuple[DueTask, ...]:
    """The tasks of every frame in scheduling order. A question whose deadline has passed is waited for no longer."""
    waits_for, _ = open_and_expired(position, now_ms)
    frames = sorted(position.frames.items(), key=lambda item: item[0].split("/"))
    return tuple(due for path, frame in frames for due in _due_in(path, frame, frozenset(waits_for)))


def _due_in(path: str, frame: Frame, waits_for: frozenset[str]) -> Iterator[DueTask]:
    for task in frame.due:
        work = frame.work_of(task.id)
        asked = [interrupt_key(path, task.id, question.id) for question in work.open_questions()]
        keys = tuple(key for key in asked if key in waits_for)
        match work.outcome:
            case Done():
                wait = Wait.DONE
            case Failed():
                wait = Wait.FAILED
            case _ if keys:
                wait = Wait.ASKS
            case _:
                inner = f"{frame_path(path, task.id)}/"
                wait = Wait.INSIDE if any(key.startswith(inner) for key in waits_for) else Wait.DUE
        yield DueTask(task, wait, keys, path)
