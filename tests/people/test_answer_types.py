"""What a type checker sees of a typed question; `mypy --strict` over the tests is the test, and running it shows it true."""

from __future__ import annotations

import enum
from typing import Any, assert_type

from pydantic import BaseModel

from nodestep import END, START, BaseState, Graph, InMemoryStateStore, Question, Resume, interrupt, interrupt_many, node


class Decision(BaseModel):
    approve: bool
    note: str = ""


class Colour(enum.Enum):
    RED = "red"


class Seen(BaseState):
    names: list[str] = []


@node
def ask(state: Seen) -> dict[str, Any]:
    decision = assert_type(interrupt("Do you?", id="decision", answer=Decision), Decision)
    colour = assert_type(interrupt("Which?", id="colour", answer=Colour), Colour)
    count = assert_type(interrupt("How many?", id="count", answer=int, default=0), int)
    plain = assert_type(interrupt("What?", id="plain"), Any)
    many = assert_type(interrupt_many({"a": "A?", "b": Question("B?", answer=int)}), dict[str, Any])
    return {"names": [type(value).__name__ for value in (decision, colour, count, plain, *many.values())]}


def test_the_values_are_what_the_checker_was_told() -> None:
    graph = Graph(Seen, state_store=InMemoryStateStore()).flow(START >> ask >> END)
    graph.invoke({}, thread_id="t")
    for value in ({"approve": True}, "red", 2, [1]):
        graph.invoke(None, thread_id="t", resume=Resume(value))
    done = graph.invoke(None, thread_id="t", resume=Resume(answers={"ask:a": "x", "ask:b": 1}))
    assert done.state.names == ["Decision", "Colour", "int", "list", "str", "int"]
