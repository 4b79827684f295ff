"""`answer=Type`: the question carries the type's JSON Schema, and the node gets the type."""

from __future__ import annotations

import datetime
import decimal
import enum
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Optional

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from nodestep import Question, Resume, interrupt, interrupt_many
from tests.asking import lone
from tests.running.making import run


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Line(BaseModel):
    sku: str
    count: int = Field(ge=1)


class Order(BaseModel):
    lines: list[Line]
    colour: Colour = Colour.RED
    due: datetime.date | None = None


class Tree(BaseModel):
    name: str
    children: list[Tree] = Field(default_factory=list)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str] = Field(default_factory=list)


@dataclass
class Point:
    x: float
    y: float = 0.0


class Place(TypedDict):
    city: str


class Span(NamedTuple):
    low: int
    high: int


DAY = datetime.date(2025, 3, 1)
NOON = datetime.datetime(2025, 3, 1, 12, tzinfo=datetime.UTC)

FITTING: list[tuple[Any, Any, Any]] = [
    (bool, True, True),
    (int, 5, 5),
    (str, "five", "five"),
    (float, 2, 2.0),
    (None | int, None, None),
    (Optional[int], 5, 5),  # noqa: UP045 - the older way of writing it works as well
    (Literal["yes", "no"], "yes", "yes"),
    (Literal[1, True], 1, 1),
    (Colour, "blue", Colour.BLUE),
    (Colour, Colour.BLUE, Colour.BLUE),
    (Level, 3, Level.HIGH),
    (Annotated[int, Field(ge=0, lt=10)], 9, 9),
    (Annotated[str, Field(min_length=1, max_length=3, pattern="^[a-z]+$")], "abc", "abc"),
    (list[int], [1, 2], [1, 2]),
    (list[Colour], ["red"], [Colour.RED]),
    (tuple[int, str], [1, "a"], (1, "a")),
    (set[int], [1, 2], {1, 2}),
    (dict[str, Level], {"a": 1}, {"a": Level.LOW}),
    (datetime.date, "2025-03-01", DAY),
    (datetime.date, DAY, DAY),
    (datetime.datetime, NOON, NOON),
    (datetime.timedelta, "PT1H", datetime.timedelta(hours=1)),
    (datetime.timedelta, datetime.timedelta(hours=1), datetime.timedelta(hours=1)),
    (decimal.Decimal, "0.10", decimal.Decimal("0.10")),
    (uuid.UUID, str(uuid.UUID(int=7)), uuid.UUID(int=7)),
    (Line, {"sku": "s", "count": 2}, Line(sku="s", count=2)),
    (Line, Line(sku="s", count=2), Line(sku="s", count=2)),
    (Order, {"lines": [{"sku": "s", "count": 2}]}, Order(lines=[Line(sku="s", count=2)])),
    (Order, Order(lines=[], colour=Colour.BLUE, due=DAY), Order(lines=[], colour=Colour.BLUE, due=DAY)),
    (Tree, {"name": "a", "children": [{"name": "b"}]}, Tree(name="a", children=[Tree(name="b")])),
    (Cat | Dog, {"kind": "dog", "tricks": ["sit"]}, Dog(kind="dog", tricks=["sit"])),
    (Annotated[Cat | Dog, Field(discriminator="kind")], {"kind": "cat", "lives": 9}, Cat(kind="cat", lives=9)),
    (Point, {"x": 1.5}, Point(1.5)),
    (Place, {"city": "Bonn"}, {"city": "Bonn"}),
    (Span, [1, 2], Span(1, 2)),
    (Any, {"anything": [1]}, {"anything": [1]}),
]


@pytest.mark.parametrize(("answer_type", "given", "expected"), FITTING, ids=lambda value: repr(value)[:40])
def test_the_node_gets_the_type(store, answer_type, given, expected):
    got: list[Any] = []
    graph = lone(lambda state: got.append(interrupt("?", id="a", answer=answer_type)), store)
    paused = graph.invoke({}, thread_id="t")
    schema: Any = paused.interrupts["ask:a"].answer_schema
    Draft202012Validator.check_schema(schema)
    assert graph.invoke(None, thread_id="t", resume=Resume(given)).status == "completed"
    assert got == [expected]
    assert type(got[0]) is type(expected)


@pytest.mark.parametrize("collected", [False, True])
def test_the_answer_is_kept_as_json_and_becomes_the_type_in_another_process(store, reopened, collected):
    def graph(kept):
        return lone(lambda state: {"got": interrupt("?", id="a", answer=Order).lines[0].count}, kept)

    graph(store).invoke({}, thread_id="t")
    given = {"ask:a": {"lines": [Line(sku="s", count=2)]}}
    if collected:
        run(reopened().answer("t", given))
    resume = None if collected else Resume(answers=given)
    assert graph(reopened()).invoke(None, thread_id="t", resume=resume).data == {"got": 2}
    (kept,) = run(store.audit("t")).items
    assert kept.value == {"lines": [{"sku": "s", "count": 2}]}


def test_many_questions_have_a_type_each(store):
    got: list[dict[str, Any]] = []
    questions = {"colour": Question("?", answer=Colour), "count": Question("?", answer=int), "why": "Why?"}

    def asks(state):
        got.append(interrupt_many(questions))

    graph = lone(asks, store)
    paused = graph.invoke({}, thread_id="t").interrupts
    assert {key: asked.answer_schema and asked.answer_schema["type"] for key, asked in paused.items()} == {
        "ask:colour": "string",
        "ask:count": "integer",
        "ask:why": None,
    }
    run(graph.answer("t", {"ask:colour": "red"}))
    graph.invoke(None, thread_id="t", resume=Resume(answers={"ask:count": 2, "ask:why": Colour.RED}))
    assert got == [{"colour": Colour.RED, "count": 2, "why": "red"}]


def test_each_run_of_the_node_gets_an_object_of_its_own(store):
    got: list[Order] = []

    def asks(state):
        order = interrupt("?", id="a", answer=Order)
        order.lines.append(Line(sku="mine", count=1))
        got.append(order)
        interrupt("again?", id="b")

    graph = lone(asks, store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume({"lines": []}))
    graph.invoke(None, thread_id="t", resume=Resume(1))
    assert [len(order.lines) for order in got] == [1, 1]
    assert got[0] is not got[1]


def test_a_model_with_aliases_takes_what_its_schema_asks_for(store):
    class Aliased(BaseModel):
        is_ok: bool = Field(alias="isOk")

    graph = lone(lambda state: {"got": interrupt("?", id="a", answer=Aliased).is_ok}, store)
    asked = graph.invoke({}, thread_id="t").interrupts["ask:a"]
    assert list(asked.answer_schema["properties"]) == ["isOk"]  # type: ignore[index]
    assert graph.invoke(None, thread_id="t", resume=Resume({"isOk": True})).data == {"got": True}


def test_an_instance_of_the_type_always_fits_its_question(store):
    class Aliased(BaseModel):
        is_ok: bool = Field(alias="isOk")

    graph = lone(lambda state: {"got": interrupt("?", id="a", answer=Aliased).is_ok}, store)
    graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume(Aliased(isOk=True))).data == {"got": True}


def test_a_question_without_a_type_has_no_schema_and_takes_any_json(store):
    graph = lone(lambda state: {"got": interrupt("?", id="a")}, store)
    assert graph.invoke({}, thread_id="t").interrupts["ask:a"].answer_schema is None
    assert graph.invoke(None, thread_id="t", resume=Resume([1, {"b": None}])).data == {"got": [1, {"b": None}]}
