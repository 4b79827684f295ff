"""A sign-off two graphs deep."""

from typing import Annotated

from pydantic import Field

from nodestep import END, START, BaseState, Graph, add, interrupt_node, node, subgraph


class Post(BaseState):
    draft: str = "hello"
    verdict: str = ""
    log: Annotated[list[str], add] = Field(default_factory=list)


@node
def polish(state: Post) -> dict:
    return {"log": ["polish"]}


@node
def count(state: Post) -> dict:
    return {"log": ["count"]}


@node
def publish(state: Post) -> dict:
    return {"log": [f"publish {state.verdict}"]}


sign_off = Graph(Post, name="sign_off").flow(
    START >> interrupt_node("ask", key="verdict", prompt="Publish {draft}?") >> END
)
review = Graph(Post, name="review").flow(
    START >> polish >> subgraph("sign off", sign_off, share=["draft", "verdict"]) >> END
)
graph = Graph(Post, name="posts").flow(
    START >> count >> subgraph("review", review, share=["draft", "verdict", "log"]) >> publish >> END
)
