"""Answers that do not fit the type: refused before anything is written, with the rule and never the value."""

from __future__ import annotations

import datetime
import enum
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from nodestep import (
    LimitExceededError,
    Question,
    Resume,
    ResumeError,
    interrupt,
    interrupt_many,
)
from tests.asking import lone, refusal
from tests.history.making import open_keys, told
from tests.running.making import run

SECRET = "hunter2"


class Colour(enum.Enum):
    RED = "red"


class Line(BaseModel):
    sku: str
    count: int = Field(ge=1, le=5)


class Order(BaseModel, extra="forbid"):
    lines: list[Line]


class Nested(BaseModel):
    order: Order


MISFITS: list[tuple[Any, Any, list[str]]] = [
    (int, SECRET, ["type", "integer"]),
    (int, True, ["type", "integer"]),
    (int, 1.5, ["type", "integer"]),
    (int, None, ["type", "integer"]),
    (bool, 1, ["type", "boolean"]),
    (bool, "true", ["type", "boolean"]),
    (str, 5, ["type", "string"]),
    (Optional[int], SECRET, ["anyOf"]),  # noqa: UP045 - the older way of writing it is refused as well
    (Literal["yes", "no"], SECRET, ["enum", "yes", "no"]),
    (Colour, SECRET, ["red"]),
    (Annotated[int, Field(ge=0, lt=10)], 10, ["exclusiveMaximum", "10"]),
    (Annotated[int, Field(ge=0, lt=10)], -1, ["minimum", "0"]),
    (Annotated[str, Field(max_length=3)], SECRET, ["maxLength", "3"]),
    (Annotated[str, Field(pattern="^[a-z]+$")], SECRET, ["pattern", "^[a-z]+$"]),
    (list[int], [1, SECRET], ["[1]", "type", "integer"]),
    (list[int], {"0": 1}, ["type", "array"]),
    (tuple[int, str], [1], ["minItems"]),
    (tuple[int, str], [1, "a", 2], ["maxItems"]),
    (datetime.date, SECRET, ["format", "date"]),
    (datetime.date, "2025-02-30", ["format", "date"]),
    (Line, {"sku": SECRET}, ["required"]),
    (Line, {"sku": SECRET, "count": 6}, ["['count']", "maximum", "5"]),
    (Line, [SECRET, 1], ["type", "object"]),
    (Order, {"lines": [{"sku": "a", "count": 1}, {"sku": 5, "count": 1}]}, ["['lines'][1]['sku']", "string"]),
    (Order, {"lines": [], "more": SECRET}, ["additionalProperties"]),
    (Nested, {"order": {"lines": [{"sku": "a", "count": SECRET}]}}, ["['order']['lines'][0]['count']", "integer"]),
]


@pytest.mark.parametrize(("answer_type", "given", "words"), MISFITS, ids=lambda value: repr(value)[:30])
def test_an_answer_that_does_not_fit_is_refused_with_the_rule_and_never_the_value(store, answer_type, given, words):
    ran: list[str] = []

    def asks(state):
        ran.append("ask")
        interrupt("?", id="a", answer=answer_type)

    graph = lone(asks, store)
    graph.invoke({}, thread_id="t")
    for call in (
        lambda: graph.invoke(None, thread_id="t", resume=Resume(given)),
        lambda: run(store.answer("t", {"ask:a": given})),
    ):
        with refusal(store, ResumeError, "'ask:a'", *words, ran=ran) as caught:
            call()
        assert SECRET not in str(caught.value)


def test_a_map_of_answers_in_the_place_of_the_one_answer_is_told_how_to_write_it(store):
    graph = lone(lambda state: interrupt("?", id="a", answer=bool) and None, store)
    graph.invoke({}, thread_id="t")
    with refusal(store, ResumeError, "type = 'boolean'", "To answer by key, write Resume(answers={key: value, ...})"):
        graph.invoke(None, thread_id="t", resume=Resume({"ask:a": True}))


def test_one_that_does_not_fit_refuses_all_that_came_with_it(store):
    def asks(state):
        return interrupt_many({"a": Question("?", answer=int), "b": Question("?", answer=int)})

    graph = lone(asks, store)
    graph.invoke({}, thread_id="t")
    both = {"ask:a": 1, "ask:b": "two"}
    with refusal(store, ResumeError, "'ask:b'"):
        run(graph.answer("t", both))
    with refusal(store, ResumeError, "'ask:b'"):
        graph.invoke(None, thread_id="t", resume=Resume(answers=both))
    assert open_keys(graph) == ["ask:a", "ask:b"]


def test_the_right_answer_works_after_a_wrong_one(store):
    graph = lone(lambda state: {"got": interrupt("?", id="a", answer=int)}, store)
    graph.invoke({}, thread_id="t")
    with refusal(store, ResumeError, "integer"):
        graph.invoke(None, thread_id="t", resume=Resume("5"))
    assert graph.invoke(None, thread_id="t", resume=Resume(5)).data == {"got": 5}
    assert (told(graph).count("answered"), told(graph).count("answer_rejected")) == (1, 0)


def test_an_answer_over_a_limit_is_told_as_that_also_with_a_type(store):
    graph = lone(lambda state: {"got": interrupt("?", id="a", answer=str)}, store)
    graph.invoke({}, thread_id="t")
    with refusal(store, LimitExceededError, "'ask:a'"):
        graph.invoke(None, thread_id="t", resume=Resume("x" * (1 << 20)))
