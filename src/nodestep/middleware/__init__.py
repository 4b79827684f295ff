"""The middleware that nodestep ships, and what you write your own with."""

from ..errors import ToolDeniedError
from ..hooks import (
    GraphMiddlewareContext,
    Middleware,
    ModelMiddlewareContext,
    NodeMiddlewareContext,
    Replacement,
    RunOutcome,
    ToolMiddlewareContext,
)
from .approvals import ToolInterruptMiddleware
from .decisions import ToolDecision, ToolInterrupt
from .limits import ToolLimitMiddleware
from .predicates import all_fields, any_field, eq, ge, gt, le, lt, matches
from .rules import InterruptRule, should_interrupt
from .summaries import SummarizationMiddleware

__all__ = [
    "GraphMiddlewareContext",
    "InterruptRule",
    "Middleware",
    "ModelMiddlewareContext",
    "NodeMiddlewareContext",
    "Replacement",
    "RunOutcome",
    "SummarizationMiddleware",
    "ToolDecision",
    "ToolDeniedError",
    "ToolInterrupt",
    "ToolInterruptMiddleware",
    "ToolLimitMiddleware",
    "ToolMiddlewareContext",
    "all_fields",
    "any_field",
    "eq",
    "ge",
    "gt",
    "le",
    "lt",
    "matches",
    "should_interrupt",
]
