"""A blueprint drawn as a Mermaid flowchart.

It keeps the order of the blueprint, so that the same graph gives the same text in every process. Names and keys come from
users: every label is quoted so that it stands for itself.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

from ..model import ids
from ..model.blueprint import Blueprint, Branch
from ..model.node import NodeSpec
from .draw import cases, printable

INDENT = "    "


def to_mermaid(blueprint: Blueprint) -> str:
    """The graph as a Mermaid flowchart: conditions are diamonds with a labelled edge per key, joins circles named "all",
    the targets of `goto` dotted edges, declared questions parallelograms, and graphs inside nodes boxes."""
    return "flowchart TD\n" + "".join(f"{INDENT}{line}\n" for line in _graph(blueprint, "", set()))


def _graph(blueprint: Blueprint, inside: str, taken: set[str]) -> Iterator[str]:
    own = _mermaid_ids(blueprint, inside, taken)
    yield f"{own[ids.START]}([{_quoted('START')}])"
    for spec in blueprint.nodes.values():
        yield from _node(spec, own[spec.name], taken)
    edges = list(_edges(blueprint, own))
    if any(line.endswith(f" {own[ids.END]}") for line in edges):
        yield f"{own[ids.END]}([{_quoted('END')}])"
    yield from edges


def _node(spec: NodeSpec, own: str, taken: set[str]) -> Iterator[str]:
    if spec.inner is not None:
        yield f"subgraph {own}[{_quoted(spec.name)}]"
        yield from (f"{INDENT}{line}" for line in _graph(spec.inner.blueprint, f"{own}_", taken))
        yield "end"
    elif spec.interrupt is not None:
        yield f"{own}[/{_quoted(spec.name)}/]"
    else:
        yield f"{own}[{_quoted(spec.name)}]"


def _edges(blueprint: Blueprint, own: Mapping[str, str]) -> Iterator[str]:
    for source, edges in blueprint.edges.items():
        for number, edge in enumerate(edges, 1):
            if isinstance(edge, Branch):
                diamond = f"c_{own[source]}_{number}"
                yield f"{diamond}{{{_quoted(edge.label)}}}"
                yield f"{own[source]} --> {diamond}"
                yield from (f"{diamond} -->|{_quoted(key)}| {own[target]}" for key, target in cases(edge))
            else:
                yield f"{own[source]} --> {own[edge]}"
    for join in blueprint.joins:
        circle = f"j_{own[join.target]}"
        yield f"{circle}(({_quoted('all')}))"
        yield from (f"{own[source]} --> {circle}" for source in join.sources)
        yield f"{circle} --> {own[join.target]}"
    for spec in blueprint.nodes.values():
        yield from (f"{own[spec.name]} -.-> {own[target]}" for target in spec.goto)


def _mermaid_ids(blueprint: Blueprint, inside: str, taken: set[str]) -> Mapping[str, str]:
    """An id for each name, made of letters, digits and `_`, that no other has in the whole picture; the prefix keeps it
    from being a word of Mermaid's own."""
    own: dict[str, str] = {}
    slugs = {name: "n_" + re.sub(r"[^A-Za-z0-9]", "_", name) for name in blueprint.nodes}
    for name, slug in {ids.START: "START", ids.END: "END", **slugs}.items():
        numbered = (f"{inside}{slug}__{number}" for number in itertools.count(2))
        own[name] = next(each for each in itertools.chain([f"{inside}{slug}"], numbered) if each not in taken)
        taken.add(own[name])
    return own


def _quoted(text: str) -> str:
    """A Mermaid label in which every character stands for itself."""
    safe = "".join(c if c.isalnum() or c in " _.-" else f"#{ord(c)};" for c in printable(text))
    return f'"{safe}"'
