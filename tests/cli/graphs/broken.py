"""A node that fails, as the input says."""

import sys
from typing import Any

from nodestep import END, START, BaseState, Graph, node


class Work(BaseState):
    how: str = "raise"
    message: str = "no such account"
    number: int = 0


@node
def fine(state: Work) -> dict[str, Any]:
    return {"number": 1}


@node
def fails(state: Work) -> dict[str, Any]:
    if state.how == "exit":
        sys.exit(9)
    if state.how == "update":
        return {"number": "many"}
    if state.how == "chatter":
        print("a node speaks")
        sys.stdout.flush()
        return {}
    raise LookupError(state.message)


graph = Graph(Work).flow(START >> fine >> fails >> END)
