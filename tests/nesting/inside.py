"""A graph put inside a node in each of the two ways: as a subgraph node, and called by a function."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from nodestep import END, START, BaseState, Graph, Node, NodeContext, add, interrupt, node, subgraph

KINDS = ("subgraph", "call")


class Log(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)
    title: str = ""
    rounds: int = 0
    done: bool = False


def put_inside(kind: str, inner: Graph[Log], name: str = "sub") -> Node:
    """A node of that name around the graph; either way what the inner graph logs comes out."""
    if kind == "subgraph":
        return subgraph(name, inner, share=["log", "title"])

    @node(name=name)
    async def calls(state: Log, ctx: NodeContext) -> dict[str, Any]:
        found = await ctx.call(inner, {"log": state.log, "title": state.title}, id="x")
        title = {} if found.title == state.title else {"title": found.title}
        return {"log": found.log[len(state.log) :], **title}

    return calls


def path_of(kind: str, name: str = "sub") -> str:
    """The path of the frame inside that node."""
    return name if kind == "subgraph" else f"{name}/x"


def says(name: str, ran: list[str] | None = None) -> Node:
    """A node that logs its name."""

    def body(state: Log) -> dict[str, Any]:
        if ran is not None:
            ran.append(name)
        return {"log": [name]}

    return node(body, name=name)


def asks(name: str, ran: list[str] | None = None, *ids: str) -> Node:
    """A node that asks a question, or several one after the other, and logs the answers."""

    def body(state: Log) -> dict[str, Any]:
        if ran is not None:
            ran.append(name)
        answers = [interrupt(f"{name} {id}?", id=id) for id in ids or ("ok",)]
        return {"log": [f"{name}={answer}" for answer in answers]}

    return node(body, name=name)


def chain(name: str, *nodes: Node, **options: Any) -> Graph[Log]:
    """A graph of these nodes, one after the other."""
    flow: Any = START
    for each in nodes:
        flow = flow >> each
    return Graph(Log, name=name, **options).flow(flow >> END)
