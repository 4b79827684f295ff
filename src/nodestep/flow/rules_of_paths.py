"""The rules of where a run can go: it begins, comes to every node, and has a way on from each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from ..model import ids
from .draft import Draft
from .edges import shown_name
from .node import Node
from .reach import decided, reached


def graph_begins(draft: Draft) -> Iterator[str]:
    """A graph has a node, and START leads somewhere."""
    if not draft.nodes and not any(isinstance(item, Node) for item in draft.items):
        yield "The graph has no node. Write START >> first and first >> END, with @node above def first(state)."
    elif draft.nodes and ids.START not in draft.sources:
        yield f"Nothing follows START. Write START >> {next(iter(draft.nodes))}."


def nodes_go_on(draft: Draft) -> Iterator[str]:
    """Every node has an edge, stands in a join, or declares where it goes by itself."""
    going = {draft.meant(source) for source in draft.sources}
    for node in draft.nodes.values():
        if node.name not in going and not node.spec.goto:
            yield f"Nothing follows {node.name!r}. Write {node.name} >> END, or the node that comes next."


def nodes_are_reached(draft: Draft) -> Iterator[str]:
    """A run can come to every node."""
    found = reached(draft, with_whole_joins=False)
    missing = [name for name in draft.nodes if name not in found]
    if missing and _begins(draft):
        yield (
            f"START never comes to {', '.join(map(repr, missing))}. Write an edge to it, name it in a goto=[...], or "
            "leave it out."
        )


def joins_can_be_complete(draft: Draft) -> Iterator[str]:
    """Every source of a join can arrive."""
    if not _begins(draft):
        return
    possible, arriving = reached(draft, with_whole_joins=False), reached(draft)
    waiting = [join for join in draft.joins if not _all_in(draft, join.sources, arriving)]
    causes = [join for join in waiting if not _all_in(draft, join.sources, possible)]
    for join in causes or waiting:
        found = possible if causes else arriving
        late = ", ".join(repr(source) for source in join.sources if draft.meant(source) not in found)
        yield (
            f"The join [{', '.join(join.sources)}] >> {join.target} waits for {late}, which never arrives. Write an "
            "edge that leads there before the join, or take it out of the list."
        )


def joins_wait_for_one_path(draft: Draft) -> Iterator[str]:
    """No join waits for nodes of which a condition only ever chooses one."""
    found = decided(draft)
    for join in draft.joins:
        for one, other in combinations(join.sources, 2):
            by_one, by_other = found.get(one, {}), found.get(other, {})
            apart = next((at for at, key in by_one.items() if by_other.get(at, key) != key), None)
            if apart is not None:
                yield (
                    f"The join [{', '.join(join.sources)}] >> {join.target} waits for {one!r} and {other!r}, and "
                    f"{shown_name(apart[0])} >> {apart[1]} goes to one of them. To go on from either, write {one} >> "
                    f"{join.target} and {other} >> {join.target}."
                )


def _begins(draft: Draft) -> bool:
    return any(statement.source == ids.START for statement in draft.statements)


def _all_in(draft: Draft, names: Iterable[str], found: frozenset[str]) -> bool:
    return all(draft.meant(name) in found for name in names)
