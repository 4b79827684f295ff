from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    interrupt,
    node,
)


class Quote(BaseState):
    price: float = 0.0
    accepted: bool = False


@node
def offer(state: Quote, ctx: NodeContext) -> dict:
    print("offer runs")
    if "price" not in ctx.cache:
        print("pricing the order")
        ctx.cache["price"] = 42.0
    answer = interrupt(f"Accept a price of {ctx.cache['price']}?", id="accept")
    return {"price": ctx.cache["price"], "accepted": answer == "yes"}


graph = Graph(Quote, state_store=InMemoryStateStore()).flow(
    START >> offer,
    offer >> END,
)

graph.invoke({}, thread_id="quote-1")
result = graph.invoke(None, thread_id="quote-1", resume=Resume("yes"))
print(result.state)
