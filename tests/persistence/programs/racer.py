"""A process that tries whatever it is told, as fast as it can, and says how it went.

    python -m tests.persistence.programs.racer STORE EFFECTS

Each line is `resume THREAD`, `answer THREAD`, `go THREAD` or `start THREAD`.
"""

from __future__ import annotations

import asyncio
import sys

from nodestep import END, START, Graph, Resume, SQLiteStateStore, interrupt, node, subgraph
from nodestep.stores.base import StateStore
from tests.persistence.programs.effects import Effects, say, told


def build(store: StateStore, effects: Effects, shape: str = "flat") -> Graph[dict]:
    """Asks, and then has an effect that is told by its thread; `nested`, both two graphs deep."""

    @node
    def ask(state: dict, /):
        return {"answer": interrupt("?", id="ok")}

    @node
    def act(state: dict, /):
        effects.do(f"{state['thread']}:{state['answer']}")

    if shape == "flat":
        return Graph(dict, name="race", state_store=store).flow(START >> ask >> act >> END)
    leaf = Graph(dict, name="leaf").flow(START >> ask >> act >> END)
    middle = Graph(dict, name="middle").flow(START >> subgraph("leaf", leaf, share=["thread"]) >> END)
    return Graph(dict, name="race", state_store=store).flow(START >> subgraph("sub", middle, share=["thread"]) >> END)


def attempt(graph: Graph[dict], what: str, thread: str, who: str) -> str:
    try:
        match what:
            case "start":
                return graph.invoke({"thread": thread}, thread_id=thread).status
            case "resume":
                return graph.invoke(None, thread_id=thread, resume=Resume(who)).status
            case "go":
                return graph.invoke(None, thread_id=thread).status
            case _:
                asyncio.run(graph.answer(thread, {"ask:ok": who}, by=who))
                return "recorded"
    except Exception as error:
        return type(error).__name__


def main(path: str, effects: str, who: str) -> None:
    with SQLiteStateStore(path) as store:
        graph = build(store, Effects(effects))
        say("ready")
        for line in told():
            what, thread = line.split()
            say(attempt(graph, what, thread, who))


if __name__ == "__main__":
    main(*sys.argv[1:])
