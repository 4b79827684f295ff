"""What `>>` writes: START, END, and chains of links between them and the nodes.

A chain only records what stood on each side of every `>>`; nothing is checked here, so that `flow()` can tell every
mistake at once. This module must not know what a node is, nor what a graph is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

from msgspec import Struct

from ..errors import GraphConfigError
from ..model import ids


class Linkable:
    """What may stand on either side of `>>`."""

    __slots__ = ()

    def __rshift__(self, target: Linkable | str | Sequence[Linkable | str]) -> Chain:
        return link(self, target)

    def __rrshift__(self, source: str | Sequence[object]) -> Chain:
        return link(source, self)


class Start(Linkable):
    """The type of START."""

    name: Final = ids.START

    def __repr__(self) -> str:
        return "START"

    def __reduce__(self) -> str:
        return "START"


class End(str, Linkable):
    """The type of END: the name that stands for the end, so that it can be a target wherever a name can."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "END"

    def __reduce__(self) -> str:
        return "END"


START: Final = Start()
"""Where a graph begins: `START >> first`."""

END: Final = End(ids.END)
"""Where a path ends: `last >> END`, `Command(goto=END)`, or a node's return value."""


MOST_SHOWN = 12


class Stage(Struct, frozen=True):
    """One side of a `>>`: what was written there, and whether it was a list."""

    members: tuple[object, ...]
    is_list: bool

    def __str__(self) -> str:
        rest = ["..."] if len(self.members) > MOST_SHOWN else []
        inner = ", ".join([*map(shown, self.members[:MOST_SHOWN]), *rest])
        return f"[{inner}]" if self.is_list else inner


class Link(Struct, frozen=True):
    """One `>>` as written."""

    source: Stage
    target: Stage

    def __str__(self) -> str:
        return f"{self.source} >> {self.target}"


class Chain(Linkable):
    """One or more links, as in `a >> b >> c`. It never changes: `chain >> d` is another chain."""

    __slots__ = ("first", "last", "links")

    def __init__(self, links: tuple[Link, ...], first: Stage, last: Stage) -> None:
        self.links = links
        self.first = first
        self.last = last

    def __bool__(self) -> NoReturn:
        raise GraphConfigError(
            f"The edge {self} has no truth value, so `and`, `or` and `not` would drop it. Separate edges by commas: "
            "flow(START >> a, a >> b)."
        )

    def __str__(self) -> str:
        text, at = str(self.links[0].source), self.links[0].source
        for part in self.links:
            text += f" >> {part.target}" if part.source is at else f", {part}"
            at = part.target
        return text

    def __repr__(self) -> str:
        return f"<{self}>"


def link(source: object, target: object) -> Chain:
    """The chain that `source >> target` writes; either side may be a chain itself."""
    before = source.links if isinstance(source, Chain) else ()
    after = target.links if isinstance(target, Chain) else ()
    left = source.last if isinstance(source, Chain) else stage(source)
    right = target.first if isinstance(target, Chain) else stage(target)
    return Chain(
        (*before, Link(left, right), *after),
        source.first if isinstance(source, Chain) else left,
        target.last if isinstance(target, Chain) else right,
    )


def stage(value: object) -> Stage:
    """One side of a `>>`, from what stood there."""
    if isinstance(value, (list, tuple)):
        return Stage(tuple(value), True)
    return Stage((value,), False)


def shown(value: object) -> str:
    """How a message names what stood in a flow: a node by its name, everything else as Python writes it, kept short."""
    if isinstance(value, (Start, End)):
        return repr(value)
    if isinstance(value, Linkable):
        return str(value)
    if isinstance(value, (list, tuple)):
        return str(stage(value))
    if value is None or isinstance(value, str):
        return repr(value)
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def shown_name(name: str) -> str:
    """How an edge in a message or a drawing names the node, START or END that has this name in a blueprint."""
    return {ids.START: "START", ids.END: "END"}.get(name, name)


def is_name(value: Any) -> bool:
    """Whether a target was given by its name; END is no such name."""
    return isinstance(value, str) and not isinstance(value, End)
