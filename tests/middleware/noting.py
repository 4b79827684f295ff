"""A middleware that notes every hook it is called for."""

from __future__ import annotations

from typing import Any

from nodestep import END, START, Graph, Middleware, node
from nodestep.middleware import GraphMiddlewareContext, NodeMiddlewareContext, RunOutcome


class Noting(Middleware):
    """Writes `name.hook` to `log`, keeps the contexts in `seen`, and returns or raises what `does` says for a hook."""

    def __init__(self, name: str, log: list[str], **does: Any) -> None:
        self.name = name
        self.log = log
        self.does = does
        self.seen: list[tuple[str, Any]] = []
        self.outcomes: list[RunOutcome] = []

    def _note(self, hook: str, ctx: Any) -> Any:
        self.log.append(f"{self.name}.{hook}")
        self.seen.append((hook, ctx))
        what = self.does.get(hook)
        if isinstance(what, BaseException):
            raise what
        return what

    def before_graph(self, ctx: GraphMiddlewareContext) -> Any:
        return self._note("before_graph", ctx)

    def after_graph(self, ctx: GraphMiddlewareContext) -> Any:
        return self._note("after_graph", ctx)

    def on_run_end(self, ctx: GraphMiddlewareContext, outcome: RunOutcome) -> Any:
        self.outcomes.append(outcome)
        return self._note("on_run_end", ctx)

    def before_node(self, ctx: NodeMiddlewareContext) -> Any:
        return self._note("before_node", ctx)

    def after_node(self, ctx: NodeMiddlewareContext) -> Any:
        return self._note("after_node", ctx)

    def on_error(self, ctx: NodeMiddlewareContext, error: Exception) -> Any:
        return self._note("on_error", ctx)


class Awaiting(Noting):
    """The same with hooks that are `async def`."""

    async def before_graph(self, ctx: GraphMiddlewareContext) -> Any:
        return super().before_graph(ctx)

    async def after_graph(self, ctx: GraphMiddlewareContext) -> Any:
        return super().after_graph(ctx)

    async def on_run_end(self, ctx: GraphMiddlewareContext, outcome: RunOutcome) -> Any:
        return super().on_run_end(ctx, outcome)

    async def before_node(self, ctx: NodeMiddlewareContext) -> Any:
        return super().before_node(ctx)

    async def after_node(self, ctx: NodeMiddlewareContext) -> Any:
        return super().after_node(ctx)

    async def on_error(self, ctx: NodeMiddlewareContext, error: Exception) -> Any:
        return super().on_error(ctx, error)


def chain(*bodies: Any, middleware: Any, store: Any = None, **options: Any) -> Graph[dict[str, Any]]:
    """A graph of these bodies one after another; the nodes are called `n0`, `n1`, ..."""
    nodes = [node(body, name=f"n{index}", **options) for index, body in enumerate(bodies)]
    edges = [before >> after for before, after in zip([START, *nodes], [*nodes, END], strict=True)]
    return Graph(dict, name="noted", state_store=store, middleware=middleware).flow(*edges)
