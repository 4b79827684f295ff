"""Defaults, answers of hooks and types themselves are checked as well."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, Field

from nodestep import (
    GraphExecutionError,
    Middleware,
    ResumeError,
    interrupt,
)
from tests.asking import lone
from tests.history.making import open_keys
from tests.running.making import run

SECRET = "hunter2"


class Line(BaseModel):
    sku: str
    count: int = Field(ge=1, le=5)


@pytest.mark.parametrize("default", ["five", None, 5.5, [5]])
def test_a_default_that_does_not_fit_fails_the_node_before_it_pauses(store, default):
    def asks(state):
        interrupt("?", id="a", answer=int, expires=datetime.timedelta(hours=1), default=default)

    graph = lone(asks, store)
    with pytest.raises(ResumeError, match=r"default.*'a'.*'ask'.*integer"):
        graph.invoke({}, thread_id="t")
    assert open_keys(graph) == []


class Answers(Middleware):
    def __init__(self, value: Any) -> None:
        self.value = value

    def on_interrupt(self, ctx: Any, payload: Any) -> Any:
        return self.value


def test_a_hooks_answer_that_does_not_fit_fails_the_node_and_asks_nobody(store):
    graph = lone(lambda state: {"got": interrupt("?", id="a", answer=int)}, store, middleware=[Answers(SECRET)])
    with pytest.raises(ResumeError, match=r"(?i)on_interrupt.*'a'.*'ask'.*integer") as caught:
        graph.invoke({}, thread_id="t")
    assert SECRET not in str(caught.value)
    assert open_keys(graph) == []
    assert run(graph.audit("t")).items == ()


def test_a_hooks_answer_becomes_the_type(store):
    got: list[Any] = []

    def asks(state):
        got.append(interrupt("?", id="a", answer=Line))

    for value in ({"sku": "s", "count": 1}, Line(sku="s", count=1)):
        lone(asks, store, middleware=[Answers(value)]).invoke({}, thread_id=str(len(got)))
    assert got == [Line(sku="s", count=1)] * 2


class Odd:
    pass


@pytest.mark.parametrize(
    "answer_type", [Odd, Callable[[int], int], 5, "nonsense", object()], ids=lambda kind: type(kind).__name__
)
def test_a_type_without_a_schema_fails_the_node_even_where_it_catches_exceptions(store, answer_type):
    def asks(state):
        try:
            interrupt("?", id="a", answer=answer_type)
        except Exception:
            return {"got": "went on"}

    graph = lone(asks, store)
    with pytest.raises(GraphExecutionError, match=r"'a'.*'ask'"):
        graph.invoke({}, thread_id="t")
    assert (open_keys(graph), run(graph.load("t"))) == ([], {})
