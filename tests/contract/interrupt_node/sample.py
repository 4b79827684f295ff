import asyncio

from nodestep import END, START, BaseState, Graph, GraphInterrupt, InMemoryStateStore, interrupt_node, node


class Post(BaseState):
    draft: str = ""
    decision: str = ""
    published: bool = False


@node
def publish(state: Post) -> dict:
    return {"published": state.decision == "yes"}


review = interrupt_node("review", key="decision", prompt="Publish: {draft}")
graph = Graph(Post).flow(START >> review >> publish >> END)
cp = InMemoryStateStore()


async def main() -> None:
    state = {"draft": "We are open on Sunday."}
    try:
        await graph.run(state, checkpointer=cp, checkpoint_id="run-1")
    except GraphInterrupt as interrupt:
        print(interrupt.prompt)
        value = input("> ")  # noqa: ASYNC250 - as on the page
        await graph.run(state, checkpointer=cp, checkpoint_id="run-1", resume=value)
    print(await graph.load("run-1", state_store=cp))


asyncio.run(main())
