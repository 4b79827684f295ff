"""A refund: small ones are paid at once, larger ones wait for a person, and each is paid exactly once.

Run alone, it makes two refunds and answers its own question:

    python examples/refund.py

From terminals, where any of these processes may end, or be killed, between two commands:

    nodestep run examples/refund.py --store refunds.db --thread refund-1 \
        --input '{"order_id": "A-1001", "amount": 80}' --no-ask
    nodestep pending --store refunds.db
    nodestep answer --store refunds.db --pause 1 refund-1 yes
    nodestep run examples/refund.py --store refunds.db --thread refund-1
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import Field

from nodestep import END, START, BaseState, Graph, NodeContext, Resume, Retry, SQLiteStateStore, interrupt, node, when

LIMIT = 50
"""Up to this amount nobody is asked."""


class Refund(BaseState):
    """What is known of one refund."""

    order_id: str
    amount: float = Field(gt=0)
    approved: bool = False
    reason: str = ""
    payment: str | None = None


def pay_back(order_id: str, amount: float, idempotency_key: str) -> str:
    """Stands for the payment service. A real one gets the key in a header, and pays once however often it is called."""
    print(f"payment service: {amount:.2f} for order {order_id}")
    return f"payment-{idempotency_key[:8]}"


def needs_a_person(state: Refund) -> bool:
    return state.amount > LIMIT


def is_approved(state: Refund) -> bool:
    return state.approved


@node
def approve_small(state: Refund) -> dict[str, Any]:
    return {"approved": True, "reason": f"not above {LIMIT}"}


@node
def review(state: Refund) -> dict[str, Any]:
    # Everything above interrupt() runs once per attempt, so nothing here changes the world.
    answer = interrupt(
        {"question": "Approve this refund?", "order": state.order_id, "amount": state.amount},
        id="approve",
    )
    return {"approved": answer in ("yes", True), "reason": f"a person said {answer!r}"}


@node(retry=Retry(max_attempts=4, on=ConnectionError), timeout=30)
def pay(state: Refund, ctx: NodeContext) -> dict[str, Any]:
    # once() records the result before it returns it: a process that dies after this line does not pay again. One that
    # dies inside the call does call again, and then the key tells the service that it is the same payment.
    payment = ctx.once("pay", pay_back, state.order_id, state.amount, ctx.idempotency_key)
    return {"payment": payment}


graph = Graph(Refund, name="refunds").flow(
    START >> when(needs_a_person, review, otherwise=approve_small),
    review >> when(is_approved, pay, otherwise=END),
    approve_small >> pay >> END,
)


def main() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "refunds.db"

        with SQLiteStateStore(path) as store:
            small = graph.invoke({"order_id": "A-1000", "amount": 20}, thread_id="refund-0", state_store=store)
            print(small.status, small.state.reason)

            large = graph.invoke({"order_id": "A-1001", "amount": 80}, thread_id="refund-1", state_store=store)
            print(large.status, dict(large.interrupts["review:approve"].payload))

        # The store is closed. Any process that opens the file can go on, this one included.
        with SQLiteStateStore(path) as store:
            done = graph.invoke(None, thread_id="refund-1", resume=Resume("yes", by="ana"), state_store=store)
            print(done.status, done.state.reason)


if __name__ == "__main__":
    main()
