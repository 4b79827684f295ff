from nodestep import END, START, BaseState, Graph, Middleware, interrupt, node
from nodestep.middleware import NodeMiddlewareContext


class AutoApproveSmallAmounts(Middleware):
    def on_interrupt(self, ctx: NodeMiddlewareContext, payload: object) -> object:
        if isinstance(payload, dict) and payload.get("amount", 0) < 50:
            return "yes"
        return None


class Refund(BaseState):
    amount: float = 0.0
    approved: bool = False


@node
def review(state: Refund) -> dict:
    answer = interrupt({"amount": state.amount}, id="approve")
    return {"approved": answer == "yes"}


graph = Graph(Refund, middleware=[AutoApproveSmallAmounts()]).flow(
    START >> review,
    review >> END,
)

print(graph.invoke({"amount": 20}).state.approved)
