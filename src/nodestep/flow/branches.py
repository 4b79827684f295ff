"""The conditional edges: `when` and `branch`.

A router that cannot work (asynchronous, a node, more than one parameter) is refused where it is written. Whether the
targets exist is a matter of the whole graph, and checked there.
"""

from __future__ import annotations

import enum
import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ..errors import GraphConfigError
from .edges import Linkable, Stage, shown, stage

Targets: TypeAlias = Linkable | str | Sequence[Linkable | str]
"""Nodes, END, names of nodes, or a list of these."""


class Choice(Linkable):
    """A conditional edge as written by `when` or `branch`; its targets are as the user gave them."""

    __slots__ = ("is_predicate", "label", "router", "targets")

    def __init__(self, router: Callable[[Any], Any], targets: Mapping[Any, Stage], is_predicate: bool) -> None:
        self.router = router
        self.targets = targets
        self.is_predicate = is_predicate
        self.label = _label(router) or self.form

    @property
    def form(self) -> str:
        """The name of the function that made it."""
        return "when" if self.is_predicate else "branch"

    def __str__(self) -> str:
        return f"{self.form}({'' if self.label == self.form else self.label + ', '}...)"

    def __repr__(self) -> str:
        return f"<{self}>"


def when(predicate: Callable[[Any], bool], target: Targets, *, otherwise: Targets) -> Choice:
    """A conditional edge: to `target` where `predicate(state)` is true, else to `otherwise`.

    The predicate is a plain function of the merged state (a copy) and returns a `bool`; anything else it returns is a
    GraphExecutionError of the run. A target is a node, END, the name of a node, or a list of these. Raises
    GraphConfigError for a predicate that is asynchronous or does not take exactly the state.
    """
    _check_router(predicate, "when", "predicate")
    return Choice(predicate, {True: stage(target), False: stage(otherwise)}, True)


def branch(router: Callable[[Any], Any], mapping: Mapping[Any, Targets]) -> Choice:
    """A conditional edge: to the target whose key in `mapping` is what `router(state)` returns.

    The router is a plain function of the merged state (a copy); a key that is not in the mapping is a
    GraphExecutionError of the run. A target is a node, END, the name of a node, or a list of these. Raises
    GraphConfigError for a router that is asynchronous or does not take exactly the state, and for a mapping that is
    empty or no mapping.
    """
    _check_router(router, "branch", "router")
    if not isinstance(mapping, Mapping):
        raise GraphConfigError(
            f"branch({shown(router)}, ...) got {type(mapping).__name__} {shown(mapping)} instead of a mapping. Write a "
            "dict from what the router returns to where it leads: branch(router, {'refund': refund, 'other': END})."
        )
    if not mapping:
        raise GraphConfigError(
            f"branch({shown(router)}, {{}}) leads nowhere. Write a dict from what the router returns to where it "
            "leads: branch(router, {'refund': refund, 'other': END})."
        )
    return Choice(router, {key: stage(target) for key, target in mapping.items()}, False)


def key_text(key: object) -> str:
    """How a key of a branch is written in drawings and messages; the same in every process."""
    match key:
        case bool():
            return "true" if key else "false"
        case enum.Enum():
            return f"{type(key).__name__}.{key.name}"
        case str():
            return str(key) or "''"
        case type():
            return key.__name__
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(key))


def _label(router: Callable[[Any], Any]) -> str:
    while isinstance(router, functools.partial):
        router = router.func
    name = getattr(router, "__name__", type(router).__name__)
    return "" if name == "<lambda>" else str(name)


def _check_router(router: object, form: str, role: str) -> None:
    if isinstance(router, Linkable):
        raise GraphConfigError(
            f"{form}(...) got the node {shown(router)} as its {role}. A {role} is a plain function of the state, such "
            f"as lambda state: state.amount > 100; the nodes are the targets."
        )
    if not callable(router):
        raise GraphConfigError(
            f"{form}(...) got {type(router).__name__} {shown(router)} as its {role}. Pass a function of the state, "
            "such as lambda state: state.amount > 100."
        )
    calls = getattr(type(router), "__call__", None)  # noqa: B004 - an async __call__ is no coroutine function itself
    if any(inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f) for f in (router, calls)):
        raise GraphConfigError(
            f"The {role} {shown(router)} of {form}(...) is asynchronous, and routing never waits. Write it as a plain "
            "def, and do what must be awaited in a node before it."
        )
    if any(inspect.isgeneratorfunction(f) for f in (router, calls)):
        raise GraphConfigError(
            f"The {role} {shown(router)} of {form}(...) is a generator. Return one value instead of yielding."
        )
    try:
        inspect.signature(router).bind(None)
    except TypeError:
        raise GraphConfigError(
            f"The {role} {shown(router)} of {form}(...) cannot be called with the state alone. It takes exactly one "
            f"argument, the merged state: def {_label(router) or role}(state): ..."
        ) from None
    except ValueError:
        return  # a callable without a signature, such as some builtins
