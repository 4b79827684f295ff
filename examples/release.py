"""A release: its changes are described side by side, then two people sign it off, in any order.

Run alone, it makes one release and answers both questions:

    python examples/release.py

From terminals:

    nodestep run examples/release.py --store releases.db --thread release-1 \
        --input '{"version": "2.1.0", "changes": ["Faster start", "Fix a leak"]}' --no-ask
    nodestep pending --store releases.db
    nodestep answer --store releases.db --pause 1 release-1 security:sign_off approved
    nodestep answer --store releases.db --pause 1 release-1 legal:sign_off approved
    nodestep run examples/release.py --store releases.db --thread release-1
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    Send,
    add,
    interrupt,
    merge_dict,
    node,
    when,
)

REVIEWERS = ("legal", "security")


class Release(BaseState):
    """What is known of one release."""

    version: str
    changes: list[str] = Field(default_factory=list)
    change: str = ""
    lines: Annotated[list[str], add] = Field(default_factory=list)
    changelog: str = ""
    sign_offs: Annotated[dict[str, str], merge_dict] = Field(default_factory=dict)
    published: bool = False


@node
async def describe(state: Release) -> dict[str, Any]:
    """One task per change: `state.change` is the payload of its Send."""
    await asyncio.sleep(0)  # here a service would be asked
    return {"lines": [f"- {state.change}."]}


@node(goto=[describe, "write_changelog"])
def split(state: Release) -> Command:
    """One task for each change, or none at all."""
    if not state.changes:
        return Command(goto="write_changelog")
    return Command(goto=[Send(describe, {"change": change}) for change in state.changes])


@node
def write_changelog(state: Release) -> dict[str, Any]:
    """Runs once, when every `describe` has finished."""
    return {"changelog": "\n".join([f"## {state.version}", *state.lines])}


@node
def legal(state: Release) -> dict[str, Any]:
    answer = interrupt(f"Legal: approve {state.version}?\n\n{state.changelog}", id="sign_off")
    return {"sign_offs": {"legal": answer}}


@node
def security(state: Release) -> dict[str, Any]:
    answer = interrupt(f"Security: approve {state.version}?\n\n{state.changelog}", id="sign_off")
    return {"sign_offs": {"security": answer}}


@node
def decide(state: Release) -> None:
    """The join: it runs when both reviewers have answered."""


def everyone_approved(state: Release) -> bool:
    return all(state.sign_offs.get(reviewer) == "approved" for reviewer in REVIEWERS)


@node
def publish(state: Release, ctx: NodeContext) -> dict[str, Any]:
    ctx.once("upload", print, f"uploading {state.version}")
    return {"published": True}


graph = Graph(Release, name="releases").flow(
    START >> split,
    describe >> write_changelog >> [legal, security] >> decide,
    decide >> when(everyone_approved, publish, otherwise=END),
    publish >> END,
)


def main() -> None:
    store = InMemoryStateStore()
    changes = ["Faster start", "Fix a leak"]
    paused = graph.invoke({"version": "2.1.0", "changes": changes}, thread_id="release-1", state_store=store)
    print(paused.status, sorted(paused.interrupts))
    print(paused.interrupts["legal:sign_off"].payload)

    # People rarely answer at the same moment: collect their answers one by one, then go on.
    still_open = asyncio.run(store.answer("release-1", {"security:sign_off": "approved"}, by="sam"))
    print("still open:", *still_open)
    resume = Resume(answers={"legal:sign_off": "approved"}, by="lena")
    done = graph.invoke(None, thread_id="release-1", resume=resume, state_store=store)
    print(done.status, done.state.sign_offs, done.state.published)


if __name__ == "__main__":
    main()
