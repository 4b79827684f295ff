"""What a flow says, read but not yet judged: the statements, the joins and the nodes that its items write.

Reading never fails. What cannot be read is left out here and told by the rules in `checks.py`, which see the items as
they were written as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from ..model import ids
from ..model.locks import cached_property
from ..model.schema import StateSchema
from .branches import Choice
from .edges import Chain, Link, Stage, Start, is_name
from .node import Node
from .options import target_name

Target: TypeAlias = str | Choice
"""Where an edge leads: the name of a node, END's name, or a conditional edge."""


class Statement(Struct, frozen=True):
    """The plain and conditional edges that one `>>` writes for one source."""

    source: str
    targets: tuple[Target, ...]


class WrittenJoin(Struct, frozen=True):
    """A join as written."""

    sources: tuple[str, ...]
    target: str


class Draft(Struct, frozen=True, dict=True):
    """A flow as written, and what it says."""

    name: object
    schema: StateSchema[Any]
    items: Sequence[object]
    max_steps: object
    timeout: object

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Every `>>`, in the order written."""
        return tuple(link for item in self.items if isinstance(item, Chain) for link in item.links)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The plain and conditional edges, in the order written."""
        return tuple(s for link in self.links for s in _statements(link))

    @cached_property
    def joins(self) -> tuple[WrittenJoin, ...]:
        """The joins, in the order written."""
        return tuple(j for link in self.links for j in _joins(link))

    @cached_property
    def choices(self) -> tuple[tuple[str, Choice], ...]:
        """Each conditional edge with what it is written behind."""
        return tuple((str(link.source), t) for link in self.links for t in link.target.members if isinstance(t, Choice))

    @cached_property
    def sources(self) -> frozenset[str]:
        """The names of everything that stands before a `>>`."""
        return frozenset(name for link in self.links for name in _sources(link))

    @cached_property
    def found(self) -> Mapping[str, tuple[Node, ...]]:
        """Every node that the flow holds as an object, by name in order of appearance; several where they differ."""
        found: dict[str, list[Node]] = {}
        for node in self._appearing():
            others = found.setdefault(node.name, [])
            if not any(node.is_same(other) for other in others):
                others.append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The node of each name; the first where several claim it."""
        return {name: nodes[0] for name, nodes in self.found.items()}

    def meant(self, name: str) -> str:
        """The node that a name was meant for: itself, or the nearest where there is no such node."""
        return next(iter(self.near.get(name, ())), name)

    @cached_property
    def near(self) -> Mapping[str, list[str]]:
        """For each name in the flow that no node has, the node's name that is nearest, if one is near."""
        named = {target for s in self.statements for target in (s.source, *s.targets) if isinstance(target, str)}
        named |= {name for _, c in self.choices for stage in c.targets.values() for name in names_in(stage.members)}
        named |= {name for join in self.joins for name in (join.target, *join.sources)}
        named |= {name for node in self.nodes.values() for name in node.spec.goto}
        unknown = named - self.nodes.keys() - ids.RESERVED
        if not unknown:
            return {}
        from difflib import get_close_matches

        return {name: get_close_matches(name, list(self.nodes), n=1) for name in unknown}

    def _appearing(self) -> Iterator[Node]:
        stages = (s for link in self.links for s in (link.source, link.target))
        waiting = deque(node for s in stages for node in _nodes_of(s))
        seen: set[int] = set()
        while waiting:
            node = waiting.popleft()
            if id(node) not in seen:
                seen.add(id(node))
                yield node
                waiting += node.goto_nodes


def names_in(members: Iterable[object]) -> tuple[str, ...]:
    """The names that targets stand for; what is no node, END or name is left out."""
    return tuple(target_name(m) for m in members if isinstance(m, (Node, str)))


def is_join(link: Link) -> bool:
    """Whether a `>>` waits for several nodes; a list with one node in it is that node."""
    return link.source.is_list and len(link.source.members) > 1


def _sources(link: Link) -> tuple[str, ...]:
    ends = (m for m in link.source.members if isinstance(m, (Node, Start)) or is_name(m))
    return tuple(dict.fromkeys(map(target_name, ends)))


def _statements(link: Link) -> Iterator[Statement]:
    targets = tuple(
        m if isinstance(m, Choice) else target_name(m)
        for m in link.target.members
        if isinstance(m, (Choice, Node, str))
    )
    if is_join(link):
        targets = tuple(t for t in targets if t == ids.END)
    if targets:
        yield from (Statement(source, targets) for source in _sources(link))


def _joins(link: Link) -> Iterator[WrittenJoin]:
    if is_join(link):
        sources = _sources(link)
        for target in link.target.members:
            if isinstance(target, Node) or is_name(target):
                yield WrittenJoin(sources, target_name(target))


def _nodes_of(stage: Stage) -> Iterator[Node]:
    for member in stage.members:
        if isinstance(member, Node):
            yield member
        elif isinstance(member, Choice):
            for inner in member.targets.values():
                yield from _nodes_of(inner)
