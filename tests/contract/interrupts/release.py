from typing import Annotated

from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    Resume,
    add,
    interrupt,
    node,
)


class Release(BaseState):
    sign_offs: Annotated[list[str], add] = Field(default_factory=list)


@node
def legal(state: Release) -> dict:
    answer = interrupt("Legal: approve the release?", id="sign_off")
    return {"sign_offs": [f"legal: {answer}"]}


@node
def security(state: Release) -> dict:
    answer = interrupt("Security: approve the release?", id="sign_off")
    return {"sign_offs": [f"security: {answer}"]}


@node(goto=[legal, security])
def request_sign_offs(state: Release) -> Command:
    return Command(goto=[legal, security])


graph = Graph(Release, state_store=InMemoryStateStore()).flow(
    START >> request_sign_offs,
    legal >> END,
    security >> END,
)

paused = graph.invoke({}, thread_id="release-1")
print(paused.status, sorted(paused.interrupts))

answers = {"legal:sign_off": "approved", "security:sign_off": "approved"}
done = graph.invoke(None, thread_id="release-1", resume=Resume(answers=answers))
print(done.status, done.state.sign_offs)
