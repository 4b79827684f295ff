"""Nodes that are written as data instead of a function: questions, and graphs inside graphs."""

from .interrupt_node import interrupt_node
from .subgraph import subgraph

__all__ = ["interrupt_node", "subgraph"]
