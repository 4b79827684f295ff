"""The demo's graph: a refund that a person decides. Run it yourself: `nodestep run nodestep.cli.demo.refund ...`."""

from nodestep import END, START, BaseState, Graph, interrupt, node, when


class Refund(BaseState):
    """What the graph knows of one refund."""

    order: str
    amount: float
    risk: str = ""
    approved: bool = False
    outcome: str = ""


@node
def check(state: Refund) -> dict[str, str]:
    """Stands for work that is slow or costs money: it must not happen again after the pause."""
    return {"risk": "low" if state.amount < 100 else "high"}


@node
def review(state: Refund) -> dict[str, bool]:
    answer = interrupt(f"Refund {state.amount:.2f} for order {state.order}? The risk is {state.risk}.", id="approve")
    return {"approved": answer == "yes"}


@node
def pay(state: Refund) -> dict[str, str]:
    return {"outcome": f"paid {state.amount:.2f}"}


@node
def decline(state: Refund) -> dict[str, str]:
    return {"outcome": f"declined {state.amount:.2f}"}


def is_approved(state: Refund) -> bool:
    return state.approved


graph = Graph(Refund).flow(
    START >> check >> review >> when(is_approved, pay, otherwise=decline),
    pay >> END,
    decline >> END,
)
