"""`Middleware`: the base class of everything that looks at, or steps into, a run from outside its nodes.

Hooks nest like an onion: `before_*` hooks are asked in the order of `middleware=[...]`, `after_*`, `on_error` and
`on_run_end` in the reverse order. Every hook may be `def` or `async def`, save `on_interrupt`, which is always `def`.
A subclass is checked when it is defined, so that a misspelt hook cannot be forgotten in silence.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from ..errors import GraphConfigError, did_you_mean
from .contexts import (
    GraphMiddlewareContext,
    ModelMiddlewareContext,
    NodeMiddlewareContext,
    RunOutcome,
    ToolMiddlewareContext,
)

HOOKS = (
    "before_graph",
    "after_graph",
    "on_run_end",
    "before_node",
    "after_node",
    "on_error",
    "on_interrupt",
    "before_model",
    "after_model",
    "before_tool",
    "after_tool",
    "on_tool_error",
    "tools",
)

_PREFIXES = ("before_", "after_", "on_")


class Middleware:
    """Derive from this class and override what you need; a hook that is not overridden costs nothing.

    Raises GraphConfigError when a subclass is defined with a method that begins like a hook (`before_`, `after_`, `on_`)
    or is spelt nearly like one and is none, or with an `async def on_interrupt`. A method of your own with such a name
    begins with `_`.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, member in vars(cls).items():
            if name.startswith("_") or not (callable(member) or isinstance(member, staticmethod | classmethod)):
                continue
            if name not in HOOKS and (name.startswith(_PREFIXES) or _is_near_one(name)):
                raise GraphConfigError(
                    f"{cls.__name__}.{name} looks like a hook, and no hook has this name.{did_you_mean(name, HOOKS)} "
                    f"Hooks: {', '.join(HOOKS)}. Begin the name of a method of your own with '_'."
                )
        if inspect.iscoroutinefunction(inspect.unwrap(cls.on_interrupt)):
            raise GraphConfigError(
                f"{cls.__name__}.on_interrupt is async def, and interrupt() asks it without waiting. Write it as a plain def; "
                "to ask another service, do so in before_node or let the run pause."
            )

    def before_graph(self, ctx: GraphMiddlewareContext) -> Any:
        """A run begins; `ctx.state` holds its input. An error here fails the run before any node."""

    def after_graph(self, ctx: GraphMiddlewareContext) -> Any:
        """The thread came to its end in this run. Not called for a run that pauses or fails."""

    def on_run_end(self, ctx: GraphMiddlewareContext, outcome: RunOutcome) -> Any:
        """The run is over, in whichever way. Called once for every `before_graph` that was called, one that raised too."""

    def before_node(self, ctx: NodeMiddlewareContext) -> Any:
        """A task is about to run. Return `Replacement(state)` to give the node another input for this call: a mapping is
        laid over the state, an instance of the state type is the whole of it."""

    def after_node(self, ctx: NodeMiddlewareContext) -> Any:
        """The node returned; `ctx.update` is what it wrote. Return `Replacement(update)` to write something else."""

    def on_error(self, ctx: NodeMiddlewareContext, error: Exception) -> Any:
        """The node raised, after its last retry. Return `Replacement(result)` to use that as if the node had returned it;
        the first middleware to do so ends the matter."""

    def on_interrupt(self, ctx: NodeMiddlewareContext, payload: Any) -> Any:
        """The task asks a question. Return an answer, or `None` to leave it to the next hook and then to a person. Any
        other value answers, falsy ones included; an error fails the task."""
        return None

    def before_model(self, ctx: ModelMiddlewareContext) -> Any:
        """A model is about to be asked. Return `Replacement(request)`, a ChatRequest, to ask it something else."""

    def after_model(self, ctx: ModelMiddlewareContext) -> Any:
        """The model answered. Return `Replacement(response)`, a ChatResponse, to go on with something else."""

    def before_tool(self, ctx: ToolMiddlewareContext) -> Any:
        """A tool call is about to be judged and run. Return `Replacement(arguments)` to run it with other arguments, which
        are checked anew; raise ToolDeniedError to deny it. Any other error fails the task, and the call does not run."""

    def after_tool(self, ctx: ToolMiddlewareContext) -> Any:
        """The tool returned. Return `Replacement(result)` to tell the model something else."""

    def on_tool_error(self, ctx: ToolMiddlewareContext, error: Exception) -> Any:
        """The call failed. It only looks: what it returns is not used, and an error of its own becomes a note on `error`."""

    def tools(self) -> Sequence[Any]:
        """Further tools for the agents of the graph, asked for once, when the graph is made."""
        return ()


class GraphHooks(Struct, frozen=True):
    """The hooks of one middleware around a run: who was told that it began is told that it ended."""

    before_graph: Callable[..., Any] | None
    on_run_end: Callable[..., Any] | None


class HookTable(Struct, frozen=True):
    """The overridden hooks of a graph's middleware, each tuple in the order it is asked."""

    around_graph: tuple[GraphHooks, ...] = ()
    after_graph: tuple[Callable[..., Any], ...] = ()
    before_node: tuple[Callable[..., Any], ...] = ()
    after_node: tuple[Callable[..., Any], ...] = ()
    on_error: tuple[Callable[..., Any], ...] = ()
    on_interrupt: tuple[Callable[..., Any], ...] = ()
    before_model: tuple[Callable[..., Any], ...] = ()
    after_model: tuple[Callable[..., Any], ...] = ()
    before_tool: tuple[Callable[..., Any], ...] = ()
    after_tool: tuple[Callable[..., Any], ...] = ()
    on_tool_error: tuple[Callable[..., Any], ...] = ()
    tools: tuple[Any, ...] = ()
    middleware: tuple[Middleware, ...] = ()

    around_nodes: bool = False
    """Whether running a task involves a hook besides `on_interrupt`."""
    any_async: bool = False
    """Whether a hook around nodes needs an event loop."""


NO_HOOKS = HookTable()


def owner_of(hook: Callable[..., Any]) -> str:
    """The name of the middleware class that a hook belongs to."""
    owner = getattr(hook, "__self__", None)
    if owner is None:  # a static method, which only its qualified name places
        return hook.__qualname__.split(".")[-2]
    return (owner if isinstance(owner, type) else type(owner)).__name__


def read_hooks(middleware: Iterable[Middleware] | None) -> HookTable:
    """The hook table of a list of middleware. Raises GraphConfigError for anything that is not a Middleware object."""
    items: Sequence[Middleware] = tuple(middleware or ())
    for item in items:
        if isinstance(item, type) and issubclass(item, Middleware):
            raise GraphConfigError(
                f"middleware=[...] takes objects, and {item.__name__} is a class. Write {item.__name__}()."
            )
        if not isinstance(item, Middleware):
            raise GraphConfigError(f"middleware=[...] takes Middleware objects, not {type(item).__name__}.")
    if not items:
        return NO_HOOKS

    def hook(item: Middleware, name: str) -> Callable[..., Any] | None:
        return getattr(item, name) if getattr(type(item), name) is not getattr(Middleware, name) else None

    def overridden(name: str) -> tuple[Callable[..., Any], ...]:
        return tuple(found for item in items if (found := hook(item, name)) is not None)

    nodes = (*overridden("before_node"), *overridden("after_node"), *overridden("on_error"))
    pairs = (GraphHooks(hook(item, "before_graph"), hook(item, "on_run_end")) for item in items)
    return HookTable(
        around_graph=tuple(pair for pair in pairs if pair.before_graph or pair.on_run_end),
        after_graph=overridden("after_graph")[::-1],
        before_node=overridden("before_node"),
        after_node=overridden("after_node")[::-1],
        on_error=overridden("on_error")[::-1],
        on_interrupt=overridden("on_interrupt"),
        before_model=overridden("before_model"),
        after_model=overridden("after_model")[::-1],
        before_tool=overridden("before_tool"),
        after_tool=overridden("after_tool")[::-1],
        on_tool_error=overridden("on_tool_error")[::-1],
        tools=tuple(tool for offered in overridden("tools") for tool in offered()),
        middleware=tuple(items),
        around_nodes=bool(nodes),
        any_async=any(map(inspect.iscoroutinefunction, nodes)),
    )


def _is_near_one(name: str) -> bool:
    from difflib import get_close_matches

    return bool(get_close_matches(name, HOOKS, cutoff=0.85))
