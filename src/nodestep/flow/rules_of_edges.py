"""The rules of what stands where: what an edge is, what it joins, and how often it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from .branches import Choice, key_text
from .draft import Draft, Target, is_join
from .edges import END, START, Chain, Stage, shown, shown_name
from .node import Node


def items_are_edges(draft: Draft) -> Iterator[str]:
    """Every item of a flow is an edge."""
    for number, item in enumerate(draft.items):
        if not isinstance(item, Chain):
            before = draft.items[number - 1] if number else None
            yield f"{shown(item)} stands alone in the flow, without >>. {_edge_for(item, before)}"


def _edge_for(item: object, before: object) -> str:
    match item:
        case Node() if isinstance(before, Chain) and not before.last.is_list:
            return (
                f"Write {item} >> END for an edge of its own, or {before.links[-1].source} >> [{before.last}, {item}] "
                "to go to both."
            )
        case Node():
            return f"Write an edge: START >> {item}, or {item} >> END."
        case Choice():
            return f"Write the node before it: a >> {item}."
        case list() | tuple():
            return "Pass the edges one by one, or unpacked: flow(*edges)."
        case _ if item is START or item is END:
            return "Write START >> first, and last >> END."
        case _ if getattr(item, "__name__", "<lambda>") != "<lambda>":
            return f"Put @node above def {shown(item)}, and write its edges: START >> {shown(item)}."
    return "An item of a flow is an edge such as START >> a or a >> [b, c]."


def ends_are_nodes(draft: Draft) -> Iterator[str]:
    """On both sides of `>>`, and as targets of branches, stand nodes, END or names."""
    for link in draft.links:
        for side in (link.source, link.target):
            if not side.members:
                yield f"{link} has an empty list. Name at least one node, or leave the edge out."
            for member in side.members:
                if not isinstance(member, (Node, Choice, str)) and member is not START:
                    yield f"{link}: {_instead_of(member)}"
    for source, choice in draft.choices:
        for key, stage in choice.targets.items():
            yield from _odd_targets(stage, f"{source} >> {choice} for {key_text(key)}")


def _odd_targets(stage: Stage, where: str) -> Iterator[str]:
    if not stage.members:
        yield f"{where} has an empty list. Write END where the path ends."
    for member in stage.members:
        if isinstance(member, Choice):
            yield f"{where} leads to another condition. Put a node between, or use one branch(...) with more keys."
        elif not isinstance(member, (Node, str)) and member is not START:
            yield f"{where}: {_instead_of(member)}"


def _instead_of(value: object) -> str:
    match value:
        case Chain():
            return f"the edge {value} stands inside a list or a branch. Write it as an edge of its own."
        case list() | tuple():
            return f"the list {shown(value)} stands inside a list. Write one list."
        case dict():
            return (
                "a dict is not a target. Write branch(router, {...}), with a function of the state that returns a key."
            )
        case set() | frozenset():
            return "a set has no order. Write a list."
        case None:
            return "None is not a node. Write END where the path ends."
        case type():
            return f"{shown(value)} is a class. Write a function with @node above it."
        case _ if callable(value) and shown(value) == "<lambda>":
            return (
                "a lambda is not a node. Write node(lambda state: ..., name='step'), or a condition with when(...) or "
                "branch(...)."
            )
        case _ if callable(value):
            return f"{shown(value)} is a plain function. Put @node above it."
    return f"{shown(value)} is not a node. An edge leads from a node to a node, to END, or to a list of these."


def start_only_begins(draft: Draft) -> Iterator[str]:
    """Nothing leads into START, and no join waits for it."""
    again = "leads into START, which only begins a graph. To go round again, name the first node."
    for link in draft.links:
        if _holds(link.target, START):
            yield f"{link} {again}"
        if _holds(link.source, START) and is_join(link):
            yield f"{link} waits for START, which is not a node. Leave START out of the list."
    for source, choice in draft.choices:
        if any(_holds(stage, START) for stage in choice.targets.values()):
            yield f"{source} >> {choice} {again}"


def end_only_ends(draft: Draft) -> Iterator[str]:
    """Nothing leads out of END."""
    for link in draft.links:
        if _holds(link.source, END):
            yield f"{link} leads out of END, which only ends a path. Leave END out, or begin the edge with START."


def branches_only_end_edges(draft: Draft) -> Iterator[str]:
    """No edge goes on from a condition, and no join leads into one."""
    for link in draft.links:
        for choice in (m for m in link.source.members if isinstance(m, Choice)):
            yield (
                f"{link} goes on from {choice}, which ends in several places. Write an edge from each of its targets, "
                "such as b >> d and c >> d."
            )
        if is_join(link):
            for choice in (m for m in link.target.members if isinstance(m, Choice)):
                yield (
                    f"{link}: a join leads to nodes, and {choice} is a condition. Join into a node first: "
                    f"{link.source} >> d, then d >> {choice}."
                )


def edges_are_written_together(draft: Draft) -> Iterator[str]:
    """All edges of a node stand in one list, each once."""
    written: dict[str, list[tuple[Target, ...]]] = {}
    for statement in draft.statements:
        written.setdefault(statement.source, []).append(statement.targets)
    for source, lists in written.items():
        different = list(dict.fromkeys(lists))
        every = list(dict.fromkeys(target for targets in different for target in targets))
        for targets in different:
            for target, count in Counter(targets).items():
                if count > 1:
                    yield f"{_edge(source, targets)} names {_shown_target(target)} twice. Name it once."
        for targets, count in Counter(lists).items():
            if count > 1:
                yield f"{_edge(source, targets)} is written {count} times. Keep one of them."
        if len(different) > 1:
            edges = " and ".join(_edge(source, targets) for targets in different)
            yield (
                f"{shown_name(source)} has {len(different)} separate edges: {edges}. To go to all of them, write one "
                f"list: {_edge(source, every, is_list=True)}; to choose one, use when(...) or branch(...)."
            )


def _edge(source: str, targets: Sequence[Target], *, is_list: bool = False) -> str:
    inner = ", ".join(map(_shown_target, targets))
    return f"{shown_name(source)} >> " + (f"[{inner}]" if is_list or len(targets) > 1 else inner)


def _shown_target(target: Target) -> str:
    return str(target) if isinstance(target, Choice) else shown_name(target)


def joins_name_each_source_once(draft: Draft) -> Iterator[str]:
    """A join waits for two different nodes or more."""
    for link in draft.links:
        if is_join(link):
            for name in _repeated(map(shown, link.source.members)):
                yield f"{link} names {name} twice in its list. A join waits for two different nodes or more."


def joins_are_written_once(draft: Draft) -> Iterator[str]:
    """A node is the target of one join at most, since a mark is kept per target and source."""
    joins: dict[str, list[frozenset[str]]] = {}
    for join in draft.joins:
        joins.setdefault(join.target, []).append(frozenset(join.sources))
    for target, sources in joins.items():
        if len(set(sources)) < len(sources):
            yield f"The join into {target!r} is written more than once. Keep one of them."
        if len(set(sources)) > 1:
            every = ", ".join(dict.fromkeys(s for j in draft.joins if j.target == target for s in j.sources))
            yield (
                f"Several joins lead into {target!r}. To wait for all of them, write one: [{every}] >> {target}; to "
                "run it after each, let every join lead into a node of its own, and these to it."
            )


def _repeated(values: Iterable[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def _holds(stage: Stage, end: object) -> bool:
    return any(member is end for member in stage.members)
