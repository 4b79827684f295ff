"""`ToolLimitMiddleware`: how many tool calls a turn of a thread may make."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..errors import GraphConfigError, RunLimitExceededError
from ..hooks import GraphMiddlewareContext, Middleware

ADVICE = (
    "None of the calls that went beyond it ran. A new input begins with a new budget, which ToolLimitMiddleware sets, or "
    "max_tool_calls= of an agent."
)


class ToolLimitMiddleware(Middleware):
    """Ends a run whose model calls tools without end.

    At most `max_calls` calls of tools, and of each tool in `per_tool` at most so many, from an input to the end of the
    thread, the runs that go on after a pause or a failure included. The calls of graphs inside count too, through their
    pauses; those of a graph in a node that makes no further call after its last pause count until that node is done. A call
    counts when the model makes it, whatever comes of it. The turn that goes beyond a limit does not run, and the run fails
    with RunLimitExceededError.

    Raises GraphConfigError for limits that are no whole numbers from 0.
    """

    def __init__(self, *, max_calls: int = 50, per_tool: Mapping[str, int] | None = None) -> None:
        self.max_calls = max_calls
        self.per_tool = dict(per_tool or {})
        for name, limit in (("max_calls", max_calls), *self.per_tool.items()):
            if type(limit) is not int or limit < 0:
                raise GraphConfigError(f"ToolLimitMiddleware: {name} is a whole number from 0, not {limit!r}.")

    def before_graph(self, ctx: GraphMiddlewareContext) -> None:
        """A new input begins with a new budget."""
        if not ctx.resuming:
            ctx.memory.clear()

    def check(self, counts: Collection[Mapping[str, int]]) -> None:
        """Raises RunLimitExceededError where these counts, each by the name of a tool, are beyond a limit together."""
        if sum(sum(count.values()) for count in counts) > self.max_calls:
            raise RunLimitExceededError("max_calls", self.max_calls, ADVICE)
        for name, limit in self.per_tool.items():
            if sum(count.get(name, 0) for count in counts) > limit:
                raise RunLimitExceededError(f"per_tool[{name!r}]", limit, ADVICE)
