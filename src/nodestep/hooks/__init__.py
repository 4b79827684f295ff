"""The hooks of a graph: `Middleware` and the values its methods receive."""

from .contexts import (
    GraphMiddlewareContext,
    ModelMiddlewareContext,
    NodeMiddlewareContext,
    Replacement,
    RunOutcome,
    ToolMiddlewareContext,
)
from .middleware import Middleware

__all__ = [
    "GraphMiddlewareContext",
    "Middleware",
    "ModelMiddlewareContext",
    "NodeMiddlewareContext",
    "Replacement",
    "RunOutcome",
    "ToolMiddlewareContext",
]
