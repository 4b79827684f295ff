"""One question, with the payload that the input names."""

from typing import Any

from nodestep import END, START, BaseState, Graph, interrupt, node


class Refund(BaseState):
    payload: Any = "Approve the refund?"
    answer: Any = None


@node
def check(state: Refund) -> dict[str, Any]:
    return {}


@node
def review(state: Refund) -> dict[str, Any]:
    return {"answer": interrupt(state.payload, id="approve")}


graph = Graph(Refund).flow(START >> check >> review >> END)
