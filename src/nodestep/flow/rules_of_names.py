"""The rules of names: every name is known, belongs to one node, and is spelt as names are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import did_you_mean
from ..model import ids
from ..model.limits import MAX_ID_CHARS
from .draft import Draft
from .edges import is_name, shown
from .node import Node


def graph_has_a_name(draft: Draft) -> Iterator[str]:
    """A graph is named by text that can be shown."""
    name = draft.name
    if not isinstance(name, str):
        yield f"The name {shown(name)} is not a string. Write Graph(..., name='refunds')."
    elif not name or name != name.strip() or not name.isprintable() or len(name) > MAX_ID_CHARS:
        yield (
            f"The name {shown(name)} does not fit. It takes 1 to {MAX_ID_CHARS} characters that can be shown, without "
            "a space at either end, such as Graph(..., name='refunds')."
        )


def names_are_known(draft: Draft) -> Iterator[str]:
    """Every name that stands for a node is one in the flow."""
    former = {alias: node.name for node in draft.nodes.values() for alias in node.spec.aliases}
    for where, name in dict.fromkeys(_uses(draft)):
        if name in draft.nodes or name == ids.END:
            continue
        if name in ("START", "END"):
            advice = f"Write {name} without quotes."
        elif name in former:
            advice = f"It is an alias, which only waiting threads use. Write {former[name]!r}."
        else:
            advice = f"Known nodes: {_listed(draft.nodes)}.{did_you_mean(name, draft.near.get(name, []))}"
        yield f"{where} names {name!r}, which is not in the graph. {advice}"


def _uses(draft: Draft) -> Iterator[tuple[str, str]]:
    """Every place where a node is given by its name."""
    for link in draft.links:
        for member in (*link.source.members, *link.target.members):
            if is_name(member):
                yield str(link), str(member)
    for source, choice in draft.choices:
        for stage in choice.targets.values():
            yield from ((f"{source} >> {choice}", str(m)) for m in stage.members if is_name(m))
    for node in draft.nodes.values():
        yield from ((f"goto of node {node.name!r}", name) for name in node.spec.goto)


def _listed(names: Iterable[str], most: int = 12) -> str:
    every = sorted(names)
    rest = f" and {len(every) - most} more" if len(every) > most else ""
    return (", ".join(every[:most]) or "none") + rest


def names_are_unique(draft: Draft) -> Iterator[str]:
    """A name belongs to one function with one set of options."""
    for name, (first, *others) in draft.found.items():
        different = [node for node in others if node.spec.function != first.spec.function]
        if different:
            which = " and ".join(map(_where, (first, *different)))
            yield f"Several nodes are named {name!r}: {which}. Give each a name of its own with @node(name=...)."
        elif others:
            yield (
                f"Node {name!r} appears with different options. Make it once and use that object in every edge; another "
                "node takes a name of its own."
            )


def _where(node: Node) -> str:
    function = node.spec.function
    code = getattr(function, "__code__", None)
    line = "" if code is None else f" (line {code.co_firstlineno})"
    return f"{function.__module__}.{function.__qualname__}{line}"


def aliases_are_free(draft: Draft) -> Iterator[str]:
    """A former name is no other node's name or former name."""
    owners: dict[str, str] = {}
    for node in draft.nodes.values():
        for alias in node.spec.aliases:
            if alias in draft.nodes:
                yield (
                    f"The alias {alias!r} of node {node.name!r} is the name of another node. Drop the alias, or rename "
                    "that node."
                )
            elif alias in owners:
                yield (
                    f"The alias {alias!r} belongs to {owners[alias]!r} and to {node.name!r}. Keep it on the node that "
                    "waiting threads should find."
                )
            owners.setdefault(alias, node.name)
