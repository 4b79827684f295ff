"""A node as users hold it: a spec that can stand in an edge. What a function adds stands in `decorators.py`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from msgspec.structs import replace

from ..model.node import NodeSpec
from ..model.schema import StateSchema
from .edges import Linkable


class Node(Linkable):
    """A step of a graph: made by `@node`, put in order by `>>`.

    A node never changes, so one may stand in several graphs, and copies of it are the node itself.
    """

    _spec: NodeSpec
    _goto_nodes: tuple[Node, ...]

    def __init__(self, spec: NodeSpec, goto_nodes: Iterable[Node] = ()) -> None:
        object.__setattr__(self, "_spec", spec)
        object.__setattr__(self, "_goto_nodes", tuple(goto_nodes))

    @property
    def name(self) -> str:
        """The name that is this node's own in its graph."""
        return self._spec.name

    @property
    def spec(self) -> NodeSpec:
        """The node as data, as the engine reads it."""
        return self._spec

    @property
    def goto_nodes(self) -> tuple[Node, ...]:
        """The nodes that `goto=[...]` holds as objects, in its order; they belong to every graph this one is in."""
        return self._goto_nodes

    def spec_for(self, schema: StateSchema[Any]) -> NodeSpec:
        """The node as data in a graph over a state of `schema`, which it fits."""
        return self._spec

    def problems(self, schema: StateSchema[Any]) -> Iterable[str]:
        """What keeps this node from working on a state of `schema`, each with what to write instead."""
        return ()

    def is_same(self, other: Node) -> bool:
        """Whether both stand for one node: the same function, or graph, with the same options."""
        return self is other or (type(self) is type(other) and _without_call(self._spec) == _without_call(other._spec))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Node {self.name!r} cannot be changed; make another with @node(...).")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Node {self.name!r} cannot be changed; make another with @node(...).")

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<node {self.name!r}>"


def _without_call(spec: NodeSpec) -> NodeSpec:
    return replace(spec, call=_no_call)


def _no_call(_state: Any, _context: Any) -> NoReturn:
    raise AssertionError("unreachable: it only stands where calls are not compared")
