"""A blueprint drawn for people: as a Mermaid flowchart, and as lines for a terminal.

Both read a checked blueprint and keep its order, so that the same graph gives the same text in every process. Names and
keys come from users: each form escapes what would change the drawing or the terminal.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..model import ids
from ..model.blueprint import Blueprint, Branch
from .branches import key_text
from .edges import shown_name

EDGE, JOIN, GOTO = "──>", "══>", "┄┄>"
HERE = "◄"
KEY_LENGTH = 60
NOWHERE: Mapping[str, str] = MappingProxyType({})


def to_mermaid(blueprint: Blueprint) -> str:
    """The graph as a Mermaid flowchart: conditions are diamonds with a labelled edge per key, joins circles named
    "all", and the targets of `goto` dotted edges."""
    own = _mermaid_ids(blueprint)
    lines = [f"{own[ids.START]}([{_quoted('START')}])"]
    lines += [f"{own[name]}[{_quoted(name)}]" for name in blueprint.nodes]
    if ids.END in _targets(blueprint):
        lines.append(f"{own[ids.END]}([{_quoted('END')}])")
    for source, edges in blueprint.edges.items():
        for number, edge in enumerate(edges, 1):
            if isinstance(edge, Branch):
                diamond = f"c_{own[source]}_{number}"
                lines.append(f"{diamond}{{{_quoted(edge.label)}}}")
                lines.append(f"{own[source]} --> {diamond}")
                lines += [f"{diamond} -->|{_quoted(key)}| {own[target]}" for key, target in _cases(edge)]
            else:
                lines.append(f"{own[source]} --> {own[edge]}")
    for join in blueprint.joins:
        circle = f"j_{own[join.target]}"
        lines.append(f"{circle}(({_quoted('all')}))")
        lines += [f"{own[source]} --> {circle}" for source in join.sources]
        lines.append(f"{circle} --> {own[join.target]}")
    for spec in blueprint.nodes.values():
        lines += [f"{own[spec.name]} -.-> {own[target]}" for target in spec.goto]
    return "flowchart TD\n" + "".join(f"    {line}\n" for line in lines)


def _mermaid_ids(blueprint: Blueprint) -> Mapping[str, str]:
    """An id for each name, made of letters, digits and `_`; the prefix keeps it from being a word of Mermaid's own."""
    own = {ids.START: "START", ids.END: "END"}
    for name in blueprint.nodes:
        slug = "n_" + re.sub(r"[^A-Za-z0-9]", "_", name)
        numbered = (f"{slug}__{number}" for number in itertools.count(2))
        own[name] = next(each for each in itertools.chain([slug], numbered) if each not in own.values())
    return own


def _quoted(text: str) -> str:
    """A Mermaid label in which every character stands for itself."""
    safe = "".join(c if c.isalnum() or c in " _.-" else f"#{ord(c)};" for c in _printable(text))
    return f'"{safe}"'


def to_text(blueprint: Blueprint, standing: Mapping[str, str] = NOWHERE) -> str:
    """The graph as lines for a terminal, one per edge; nodes that follow each other alone share a line.

    `──>` is an edge, with the router and its key behind it where it depends on one; `══>` is a join, which waits for
    all of its sources; `┄┄>` is a target of `goto`. `standing` holds words by node, which `◄` leads in behind the node
    wherever an edge arrives there.
    """
    rows = list(_rows(blueprint))
    arriving = Counter(row.target for row in rows)
    leaving = Counter(source for row in rows for source in row.sources)
    only = {row.sources[0]: row for row in rows if row.is_plain and leaving[row.sources[0]] == 1}
    inner = {row.target for row in rows if row.target in only and arriving[row.target] == 1}
    drawn = [(_left(row), _path(row, only, inner, standing), row.note) for row in rows if row.sources[0] not in inner]
    left = max((len(source) for source, _, _ in drawn), default=0)
    middle = max((len(path) for _, path, note in drawn if note), default=0)
    lines, before = [], ""
    for source, path, note in drawn:
        lines.append(f"{'' if source == before else source:{left}} {path:{middle}}  {note}".rstrip())
        before = source
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Row:
    sources: tuple[str, ...]
    arrow: str
    target: str
    note: str = ""

    @property
    def is_plain(self) -> bool:
        return self.arrow == EDGE and not self.note


def _rows(blueprint: Blueprint) -> Iterator[_Row]:
    """Every edge in the order written; a join follows the last of its sources."""
    joins = list(blueprint.joins)
    seen: set[str] = set()
    for source, edges in blueprint.edges.items():
        for edge in edges:
            if isinstance(edge, Branch):
                label = _printable(edge.label)
                for key, target in _cases(edge):
                    yield _Row((source,), EDGE, target, f"{label}: {_printable(key)}")
            else:
                yield _Row((source,), EDGE, edge)
        if source in blueprint.nodes:
            yield from (_Row((source,), GOTO, target, "goto") for target in blueprint.nodes[source].goto)
        seen.add(source)
        for join in [j for j in joins if seen.issuperset(j.sources)]:
            joins.remove(join)
            yield _Row(join.sources, JOIN, join.target, "all")


def _left(row: _Row) -> str:
    names = ", ".join(map(shown_name, row.sources))
    return f"[{names}]" if len(row.sources) > 1 else names


def _path(row: _Row, only: Mapping[str, _Row], inner: set[str], standing: Mapping[str, str]) -> str:
    """An edge and the edges that go on from it, as far as they have no company."""
    text = _arrival(row, standing)
    while row.target in inner:
        row = only[row.target]
        text += f" {_arrival(row, standing)}"
    return text


def _arrival(row: _Row, standing: Mapping[str, str]) -> str:
    here = f" {HERE} {_printable(standing[row.target])}" if row.target in standing else ""
    return f"{row.arrow} {shown_name(row.target)}{here}"


def _cases(branch: Branch) -> Iterator[tuple[str, str]]:
    for key, targets in branch.targets.items():
        yield from ((key_text(key), target) for target in targets)


def _targets(blueprint: Blueprint) -> set[str]:
    return {row.target for row in _rows(blueprint)}


def _printable(text: str) -> str:
    """Text in which control characters are written out, kept short."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown if len(shown) <= KEY_LENGTH else f"{shown[: KEY_LENGTH - 3]}..."
