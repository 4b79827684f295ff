"""How a graph is written: `@node`, `>>`, `when` and `branch` become a blueprint. Nothing here runs a node.

What draws a graph (`draw`, `mermaid`, `spec`) is imported where it is used.
"""

from .branches import branch, when
from .builder import build
from .decorators import FunctionNode, node
from .edges import END, START, Chain, End
from .node import Node
from .options import target_name

__all__ = [
    "START",
    "END",
    "node",
    "Node",
    "FunctionNode",
    "when",
    "branch",
    "Chain",
    "End",
    "build",
    "target_name",
]
