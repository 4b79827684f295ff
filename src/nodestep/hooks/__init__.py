"""The hooks of a graph: `Middleware` and the values its methods receive."""

from .contexts import GraphMiddlewareContext, NodeMiddlewareContext, Replacement, RunOutcome
from .middleware import Middleware

__all__ = ["GraphMiddlewareContext", "Middleware", "NodeMiddlewareContext", "Replacement", "RunOutcome"]
