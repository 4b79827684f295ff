"""The checked, frozen graph: nodes, edges, branches, joins. `flow` builds it; `engine` and `runtime` only read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct, field

from .node import NodeSpec
from .schema import StateSchema


class Branch(Struct, frozen=True):
    """A conditional edge. The router sees a copy of the merged state and returns a key of `targets`; a predicate
    (`is_predicate`, from `when`) returns a bool. Targets are node names or END."""

    router: Callable[[Any], Any]
    targets: Mapping[Any, tuple[str, ...]]
    label: str
    is_predicate: bool = False


Edge: TypeAlias = str | Branch
"""A target's name (END included), or a branch."""


class Join(Struct, frozen=True):
    """`[b, c] >> d`: the target runs in the superstep after the last of its sources has arrived."""

    target: str
    sources: tuple[str, ...]


class Blueprint(Struct, frozen=True):
    """A graph as a value. `edges` maps START and each node to its outgoing edges in the order written; `aliases` maps the
    former names of nodes, under which stored threads may know them, to their names now."""

    name: str
    schema: StateSchema[Any]
    nodes: Mapping[str, NodeSpec]
    edges: Mapping[str, tuple[Edge, ...]]
    joins: tuple[Join, ...] = ()
    max_steps: int = 25
    timeout_s: float | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)

    def name_now(self, node: str) -> str:
        """The name of a node that a stored thread may know under a former one."""
        return node if node in self.nodes else self.aliases.get(node, node)

    def spec(self, node: str) -> NodeSpec:
        """The node of that name, or of that former name."""
        return self.nodes[self.name_now(node)]

    def joins_from(self, node: str) -> tuple[Join, ...]:
        """The joins that a node is a source of."""
        return tuple(join for join in self.joins if node in join.sources)
