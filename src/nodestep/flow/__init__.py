"""How a graph is written: `@node`, `>>`, `when` and `branch` become a blueprint. Nothing here runs a node."""

from .branches import branch, when
from .builder import build
from .decorators import FunctionNode, node
from .draw import to_text
from .edges import END, START, Chain, End
from .mermaid import to_mermaid
from .node import Node
from .options import target_name
from .spec import to_json, to_spec

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
    "to_json",
    "to_mermaid",
    "to_spec",
    "to_text",
]
