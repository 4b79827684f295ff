"""What the tests of the engine share: small graphs, frames and outcomes, each said in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

from nodestep import add, merge_dict
from nodestep.engine.replay import Checkpoint
from nodestep.engine.route import route
from nodestep.flow import Node, build, node
from nodestep.model.blueprint import Blueprint, Branch
from nodestep.model.event import Fact
from nodestep.model.outcome import Asked, Done, Failed, Outcome, StoredQuestion, Target
from nodestep.model.position import Frame, Listing, Position, Task, Work, tasks_of
from nodestep.model.schema import StateSchema, Update


class Order(BaseModel):
    """A state with a field of each kind."""

    total: int = 0
    log: Annotated[list[str], add] = Field(default_factory=list)
    notes: Annotated[dict[str, str], merge_dict] = Field(default_factory=dict)


SCHEMA = StateSchema(Order)


def step(name: str, **options: Any) -> Node:
    """A node that does nothing."""
    return node(lambda state: None, name=name, **options)


def steps(names: str, **options: Any) -> list[Node]:
    """A node for each of the names, which stand with a space between."""
    return [step(name, **options) for name in names.split()]


def graph(*items: object, **options: Any) -> Blueprint:
    return build(items, schema=SCHEMA, **options)


def tasks(*names: str | tuple[str, dict[str, Any]]) -> tuple[Task, ...]:
    """Numbered tasks: a name is a plain target, a pair a Send with its payload."""
    return tasks_of(Target(item) if isinstance(item, str) else Target(*item) for item in names)


def frame(*names: str | tuple[str, dict[str, Any]], superstep: int = 1, **rest: Any) -> Frame:
    return Frame(superstep, tasks(*names), **rest)


def follow(
    blueprint: Blueprint, at: Frame, goto: Mapping[str, tuple[Target, ...]] | None = None, choose: Any = None
) -> Frame:
    """Route a superstep in which every task finished; `goto` is by task id, the others follow their edges."""
    done = {task.id: Done(goto=(goto or {}).get(task.id)) for task in at.due}
    return route(blueprint, at, done, choose or no_router)


def no_router(branch: Branch, source: str) -> tuple[str, ...]:
    raise AssertionError(f"nobody asked for {branch.label} after {source}")


def names(due: tuple[Task, ...]) -> list[str]:
    return [task.id for task in due]


def update(node_name: str, **values: Any) -> Update:
    return SCHEMA.take_update(values, f"node {node_name!r}", node_name)


def question(id: str = "ok", payload: Any = "?") -> StoredQuestion:
    return StoredQuestion(id, payload)


def asked(*ids: str) -> Work:
    return Work(Asked(tuple(question(id) for id in ids)))


def recorded(outcome: Outcome) -> Work:
    return Work(outcome)


DONE = recorded(Done())
FAILED = recorded(Failed("ValueError", "no"))


def position(at: Frame, listed: Mapping[str, int] | None = None, **rest: Any) -> Position:
    """A position of one frame; `listed` says which questions people can see, with the number of their pause."""
    return Position({"": at}, {key: Listing(pause, 0) for key, pause in (listed or {}).items()}, **rest)


def replayed(commits: list[tuple[list[Fact], int | None]]) -> Checkpoint:
    """The checkpoint after commits, each with the number of the pause it opened."""
    checkpoint = Checkpoint()
    for sequence, (facts, pause) in enumerate(commits, 1):
        checkpoint.apply(facts, pause, 1000 * sequence)
    return checkpoint
