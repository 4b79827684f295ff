"""The middleware that nodestep ships, and what you write your own with."""

from ..hooks import GraphMiddlewareContext, Middleware, NodeMiddlewareContext, Replacement, RunOutcome

__all__ = ["GraphMiddlewareContext", "Middleware", "NodeMiddlewareContext", "Replacement", "RunOutcome"]
