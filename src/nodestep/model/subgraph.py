"""A graph inside a node, as data: what the runtime needs to run it as a frame of its parent's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from .blueprint import Blueprint
from .schema import StateSchema

S = TypeVar("S")


class Subgraph(Struct, frozen=True):
    """The graph of a node, its middleware, and how state gets in and out.

    `hooks` is the hook table of the inner graph. Either `share` names the fields that both states have in common, and the
    maps are `None`; or `share` is empty, `state_in` makes the inner graph's input of the outer state, and `state_out` the
    outer update of the inner graph's last state. Both see copies.
    """

    blueprint: Blueprint
    hooks: Any
    share: tuple[str, ...] = ()
    state_in: Callable[[Any], Any] | None = None
    state_out: Callable[[Any], Any] | None = None


@runtime_checkable
class InnerGraph(Protocol[S]):
    """What `ctx.call` takes: a `Graph`, seen from below."""

    @property
    def name(self) -> str: ...

    @property
    def schema(self) -> StateSchema[S]: ...

    @property
    def blueprint(self) -> Blueprint: ...

    @property
    def hooks(self) -> Any: ...

    @property
    def state_store(self) -> Any: ...
