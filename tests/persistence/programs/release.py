"""A release that two people sign off, in a process that does one thing and ends.

python -m tests.persistence.programs.release STORE EFFECTS pause|pending|answer
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Annotated

from pydantic import Field

from nodestep import END, START, BaseState, Graph, NodeContext, Resume, SQLiteStateStore, add, interrupt, node
from nodestep.stores.base import StateStore
from tests.persistence.programs.effects import Effects, say

THREAD = "release-1"


class Release(BaseState):
    sign_offs: Annotated[list[str], add] = Field(default_factory=list)


def build(store: StateStore, effects: Effects) -> Graph[Release]:
    """[build, legal (asks, with a cache), security (asks)] -> publish."""

    @node(name="build")
    def builds(state: Release):
        effects.do("build")
        return {"sign_offs": ["built"]}

    @node
    def legal(state: Release, ctx: NodeContext):
        if "terms" not in ctx.cache:
            effects.do("terms")
            ctx.cache["terms"] = ["a", 1]
        answer = interrupt({"question": "Legal?", "terms": ctx.cache["terms"]}, id="sign_off")
        return {"sign_offs": [f"legal: {answer} {ctx.cache['terms']}"]}

    @node
    def security(state: Release):
        return {"sign_offs": [f"security: {interrupt('Security?', id='sign_off')}"]}

    @node
    def publish(state: Release):
        effects.do("publish")
        return {"sign_offs": ["published"]}

    return Graph(Release, state_store=store).flow(START >> [builds, legal, security] >> publish >> END)


def main(path: str, effects: str, what: str) -> None:
    with SQLiteStateStore(path) as store:
        graph = build(store, Effects(effects))
        match what:
            case "pause":
                say(graph.invoke({}, thread_id=THREAD).status)
            case "pending":
                say(json.dumps({item.key: item.payload for item in asyncio.run(graph.pending(THREAD)).items}))
            case _:
                answers = {"security:sign_off": "ok", "legal:sign_off": "fine"}
                done = graph.invoke(None, thread_id=THREAD, resume=Resume(answers=answers))
                say(json.dumps(done.state.sign_offs))


if __name__ == "__main__":
    main(*sys.argv[1:])
