"""Runs that hypothesis draws: supersteps of several tasks at once, which write, ask, and grow."""

from __future__ import annotations

from typing import Annotated, Any

from hypothesis import strategies as st
from pydantic import Field

from nodestep import END, START, BaseState, Command, Graph, Send, add, interrupt, merge_dict, node


def longest(current: str | None, update: str) -> str:
    return max(current or "", update, key=len)


class Drawn(BaseState):
    at: int = 0
    op: list[Any] = Field(default_factory=list)
    n: int = 0
    log: Annotated[list[str], add] = Field(default_factory=list)
    table: Annotated[dict[str, int], merge_dict] = Field(default_factory=dict)
    word: Annotated[str, longest] = ""


Script = list[list[list[Any]]]
"""For each superstep what its tasks do: an operation and a number."""

SCRIPTS = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["set", "log", "table", "word", "grow", "ask", "nothing"]), st.integers(0, 3)).map(
            list
        ),
        min_size=1,
        max_size=3,
    ),
    min_size=1,
    max_size=4,
)


def writes(op: str, number: int) -> dict[str, Any] | None:
    match op:
        case "set":
            return {"n": number}
        case "log":
            return {"log": [str(number)]}
        case "table":
            return {"table": {str(number): number}}
        case "word":
            return {"word": "w" * number}
        case "grow":
            return {"log": ["x" * 9000]}
        case "ask":
            return {"log": [interrupt(f"{number}?", id=f"q{number}")]}
    return None


def drawn(script: Script, store: Any) -> Graph[Drawn]:
    """A graph that runs the script: `plan` sends a superstep's tasks, and comes round until there is none left."""

    @node
    def work(state: Drawn) -> Any:
        return writes(*state.op)

    @node(goto=[work, END])
    def plan(state: Drawn) -> Any:
        if state.at == len(script):
            return Command(goto=END)
        return Command(update={"at": state.at + 1}, goto=[Send(work, {"op": op}) for op in script[state.at]])

    return Graph(Drawn, name="drawn", state_store=store).flow(START >> plan, work >> plan)
