"""A flow as written becomes a blueprint, or one error that lists everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..model import ids
from ..model.blueprint import Blueprint, Branch, Edge, Join
from ..model.schema import StateSchema
from .branches import Choice
from .checks import problems
from .draft import Draft, names_in
from .options import refuse


def build(
    items: Sequence[object],
    *,
    schema: StateSchema[Any],
    name: str | None = None,
    max_steps: int = 25,
    timeout: float | None = None,
) -> Blueprint:
    """The checked, frozen graph that the items of a flow write; `name` is the state type's unless given.

    Raises GraphConfigError, listing every problem with what to write instead.
    """
    draft = Draft(
        name=schema.name if name is None else name,
        schema=schema,
        items=tuple(items),
        max_steps=max_steps,
        timeout=timeout,
    )
    refuse(f"Graph {draft.name!r}", problems(draft))
    nodes = {name: node.spec_for(schema) for name, node in draft.nodes.items()}
    return Blueprint(
        name=str(draft.name),
        schema=schema,
        nodes=MappingProxyType(nodes),
        edges=MappingProxyType(_edges(draft)),
        joins=tuple(Join(join.target, join.sources) for join in draft.joins),
        max_steps=max_steps,
        timeout_s=None if timeout is None else float(timeout),
        aliases=MappingProxyType({alias: spec.name for spec in nodes.values() for alias in spec.aliases}),
    )


def _edges(draft: Draft) -> Mapping[str, tuple[Edge, ...]]:
    edges: dict[str, tuple[Edge, ...]] = dict.fromkeys((ids.START, *draft.nodes), ())
    for statement in draft.statements:
        edges[statement.source] += tuple(
            _branch(target) if isinstance(target, Choice) else target for target in statement.targets
        )
    return edges


def _branch(choice: Choice) -> Branch:
    targets = {key: names_in(stage.members) for key, stage in choice.targets.items()}
    return Branch(choice.router, MappingProxyType(targets), choice.label, choice.is_predicate)
