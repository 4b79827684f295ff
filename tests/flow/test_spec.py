"""A graph told as data."""

from __future__ import annotations

import enum
import json
from typing import Annotated, Any

from pydantic import BaseModel, Field

from nodestep.flow import END, START, branch, build, node, when
from nodestep.flow.spec import to_json, to_spec
from nodestep.model.node import Retry
from nodestep.model.reducers import add
from nodestep.model.schema import StateSchema

from .building import flow, step, steps


class Kind(enum.Enum):
    LARGE = "large"


class Case(BaseModel):
    title: str
    log: Annotated[list[str], add] = Field(default_factory=list)
    amount: Annotated[float, Field(ge=0)] = 0.0


def route(state):
    return "x"


def test_the_state_is_told_by_its_fields():
    spec = to_spec(build([START >> step("a") >> END], schema=StateSchema(Case)))

    assert spec["state"]["name"] == "Case"
    title, log, amount = spec["state"]["fields"]
    assert title == {
        "name": "title",
        "type": "str",
        "schema": {"type": "string"},
        "required": True,
        "reducer": "replace",
    }
    assert (log["reducer"], log["required"], log["type"]) == ("add", False, "list[str]")
    assert log["schema"] == {"items": {"type": "string"}, "type": "array"}
    assert amount["schema"]["minimum"] == 0


def test_nodes_are_told_with_their_options():
    async def review(state): ...

    made = node(
        review,
        goto=["review", END],
        timeout=3,
        aliases=["look"],
        retry=Retry(2, on=(OSError, TimeoutError), jitter=False),
    )

    assert to_spec(flow(START >> made))["nodes"] == [
        {
            "name": "review",
            "is_async": True,
            "timeout_s": 3.0,
            "retry": {
                "max_attempts": 2,
                "initial_delay_s": 0.5,
                "backoff": 2.0,
                "max_delay_s": 30.0,
                "jitter": False,
                "on": ["OSError", "TimeoutError"],
            },
            "goto": ["review", "END"],
            "aliases": ["look"],
            "interrupt": None,
            "subgraph": None,
        }
    ]


def test_edges_and_joins_are_told_in_order():
    a, b, c, d = steps("a b c d")

    spec = to_spec(
        flow(
            START >> [a, b],
            [a, b] >> c >> branch(route, {"x": a, 1: [d, END], None: d, Kind.LARGE: END}),
            d >> when(lambda state: True, a, otherwise=END),
            name="cases",
            max_steps=5,
            timeout=60,
        )
    )

    assert (spec["name"], spec["max_steps"], spec["timeout_s"]) == ("cases", 5, 60.0)
    assert spec["edges"] == [
        {"from": "START", "to": "a"},
        {"from": "START", "to": "b"},
        {
            "from": "c",
            "branch": "route",
            "targets": [
                {"key": "x", "to": ["a"]},
                {"key": 1, "to": ["d", "END"]},
                {"key": None, "to": ["d"]},
                {"key": "Kind.LARGE", "to": ["END"]},
            ],
        },
        {
            "from": "d",
            "when": "when",
            "targets": [{"key": True, "to": ["a"]}, {"key": False, "to": ["END"]}],
        },
    ]
    assert spec["joins"] == [{"from": ["a", "b"], "to": "c"}]


def test_json_is_the_same_data():
    graph = flow(START >> branch(route, {"é\ud800": step("a", goto=[END])}))

    text = to_json(graph)

    assert json.loads(text) == to_spec(graph)
    assert text.startswith('{\n  "name": "Refund",\n')
    assert text.isascii()


def test_a_field_without_a_json_schema_tells_its_type():
    class Own:
        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            return handler.generate_schema(str)

        @classmethod
        def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
            raise RuntimeError

    class Odd(BaseModel):
        own: Own | None = None

    [field] = to_spec(build([START >> step("a") >> END], schema=StateSchema(Odd)))["state"]["fields"]

    assert field["schema"] is None
    assert "Own" in field["type"]
