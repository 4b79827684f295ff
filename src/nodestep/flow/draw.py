"""A blueprint drawn as lines for a terminal.

It keeps the order of the blueprint, so that the same graph gives the same text in every process. Names and keys come from
users: what would change the drawing or the terminal is written out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct

from ..model.blueprint import Blueprint, Branch
from .branches import key_text
from .edges import shown_name

EDGE, JOIN, GOTO = "──>", "══>", "┄┄>"
HERE = "◄"
KEY_LENGTH = 60
NOWHERE: Mapping[str, str] = MappingProxyType({})


def to_text(blueprint: Blueprint, standing: Mapping[str, str] = NOWHERE) -> str:
    """The graph as lines for a terminal, one per edge; nodes that follow each other alone share a line.

    `──>` is an edge, with the router and its key behind it where it depends on one; `══>` is a join, which waits for
    all of its sources; `┄┄>` is a target of `goto`. Below stands each graph inside a node, under the node's name.
    `standing` holds words by node (`"outer/inner"` in an inner graph), which `◄` leads in behind the node wherever an edge
    arrives there.
    """
    text = _graph(blueprint, standing)
    for node, spec in blueprint.nodes.items():
        if spec.inner is not None:
            inside = {path[len(node) + 1 :]: words for path, words in standing.items() if path.startswith(f"{node}/")}
            inner = to_text(spec.inner.blueprint, inside)
            text += f"\n{shown_name(node)}:\n" + "".join(f"  {line}".rstrip() + "\n" for line in inner.splitlines())
    return text


def _graph(blueprint: Blueprint, standing: Mapping[str, str]) -> str:
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


class _Row(Struct, frozen=True):
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
                label = printable(edge.label)
                for key, target in cases(edge):
                    yield _Row((source,), EDGE, target, f"{label}: {printable(key)}")
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
    here = f" {HERE} {printable(standing[row.target])}" if row.target in standing else ""
    return f"{row.arrow} {shown_name(row.target)}{here}"


def cases(branch: Branch) -> Iterator[tuple[str, str]]:
    """The keys of a branch, each with a target; a key with several comes several times."""
    for key, targets in branch.targets.items():
        yield from ((key_text(key), target) for target in targets)


def printable(text: str) -> str:
    """Text in which control characters are written out, kept short."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown if len(shown) <= KEY_LENGTH else f"{shown[: KEY_LENGTH - 3]}..."
