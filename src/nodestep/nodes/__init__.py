"""Nodes that are written as data instead of a function: graphs inside graphs."""

from .subgraph import subgraph

__all__ = ["subgraph"]
