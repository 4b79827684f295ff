"""Two questions in one pause."""

from typing import Annotated

from pydantic import Field

from nodestep import END, START, BaseState, Graph, add, interrupt, node


class Release(BaseState):
    sign_offs: Annotated[list[str], add] = Field(default_factory=list)


@node
def legal(state: Release) -> dict[str, list[str]]:
    return {"sign_offs": [f"legal: {interrupt('Legal: release?', id='sign_off')}"]}


@node
def security(state: Release) -> dict[str, list[str]]:
    return {"sign_offs": [f"security: {interrupt('Security: release?', id='sign_off')}"]}


graph = Graph(Release).flow(START >> [legal, security], [legal, security] >> END)
