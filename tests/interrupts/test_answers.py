"""Answers: normalised to JSON once, the same in memory and after a restart, and the node's own."""

from __future__ import annotations

import copy
import datetime
import decimal
import enum
import uuid
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from nodestep import Command, LimitExceededError, Middleware, Question, Resume, ResumeError, Send, interrupt
from nodestep.middleware import Replacement
from tests.asking import lone, refusal


class Decision(BaseModel):
    approve: bool = Field(alias="Approve")
    until: datetime.date


@dataclass
class Line:
    sku: str
    count: int


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(str):
    """Text of a kind of its own."""


DAY = datetime.date(2025, 3, 1)
ANSWERS = [
    ("yes", "yes"),
    (True, True),
    (None, None),
    (1.5, 1.5),
    (2**53 + 1, 2**53 + 1),
    ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
    (Decision(Approve=True, until=DAY), {"approve": True, "until": "2025-03-01"}),
    (Line("s", 2), {"sku": "s", "count": 2}),
    (DAY, "2025-03-01"),
    (datetime.datetime(2025, 3, 1, 12, tzinfo=datetime.UTC), "2025-03-01T12:00:00Z"),
    (datetime.timedelta(hours=1), "PT1H"),
    (decimal.Decimal("0.10"), "0.10"),
    (Colour.RED, "red"),
    (Level.HIGH, 3),
    (("a", 1), ["a", 1]),
    (deque([1, 2]), [1, 2]),
    ({3}, [3]),
    (frozenset({3}), [3]),
    (b"text", "text"),
    (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    (Path("/a/b"), "/a/b"),
    (Word("w"), "w"),
    ({1: "one", DAY: "day", Colour.RED: "red"}, {"1": "one", "2025-03-01": "day", "red": "red"}),
]


@pytest.mark.parametrize(("given", "as_json"), ANSWERS, ids=lambda value: f"{type(value).__name__}")
def test_the_node_gets_the_json_form_of_an_answer(store, given, as_json):
    got: list[Any] = []
    graph = lone(lambda state: got.append(interrupt("What?", id="a")), store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(given))
    assert got == [as_json]
    assert type(got[0]) is type(as_json)


@pytest.mark.parametrize(("given", "as_json"), ANSWERS, ids=lambda value: f"{type(value).__name__}")
def test_the_node_gets_the_same_after_a_restart(store, reopened, given, as_json):
    got: list[Any] = []

    def body(state):
        answer = interrupt("What?", id="a")
        interrupt("Sure?", id="b")
        got.append(answer)

    lone(body, store).invoke({}, thread_id="t")
    lone(body, store).invoke(None, thread_id="t", resume=Resume(given))
    lone(body, reopened()).invoke(None, thread_id="t", resume=Resume(True))
    assert got == [as_json]
    assert type(got[0]) is type(as_json)


UNFIT = [
    (lambda: 1, ResumeError),
    (object(), ResumeError),
    ([{"deep": open}], ResumeError),
    (b"\xff", ResumeError),
    (SecretStr("hunter2"), ResumeError),
    ({1: "a", "1": "b"}, ResumeError),
    ((n for n in "ab"), ResumeError),
    (Command(update={"a": 1}), ResumeError),
    ({"deep": [Send("n")]}, ResumeError),
    (Question("?"), ResumeError),
    (Replacement("yes"), ResumeError),
    (Resume("yes"), ResumeError),
    (float("nan"), LimitExceededError),
    ({"x": float("-inf")}, LimitExceededError),
    (2**63, LimitExceededError),
    ("a\0b", LimitExceededError),
    ("\ud800", LimitExceededError),
    ("x" * (1 << 20), LimitExceededError),
]


@pytest.mark.parametrize(("given", "error"), UNFIT, ids=range(len(UNFIT)))
@pytest.mark.parametrize("keyed", [False, True])
def test_an_answer_that_is_no_json_is_refused_before_anything_runs(store, given, error, keyed):
    ran: list[str] = []

    def body(state):
        ran.append("ask")
        interrupt("What?", id="a")

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    resume = Resume(answers={"ask:a": given}) if keyed else Resume(given)
    with refusal(store, error, "'ask:a'", ran=ran):
        graph.invoke(None, thread_id="t", resume=resume)


def test_a_refused_answer_is_not_told(store):
    graph = lone(lambda state: interrupt("What?", id="a"), store)
    graph.invoke({}, thread_id="t")
    with pytest.raises(ResumeError) as refused:
        graph.invoke(None, thread_id="t", resume=Resume({"pin": "4711", "secret": SecretStr("hunter2")}))
    assert "4711" not in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_an_answer_that_holds_itself_is_refused(store):
    given: list[Any] = []
    given.append(given)
    graph = lone(lambda state: interrupt("What?", id="a"), store)
    graph.invoke({}, thread_id="t")
    with refusal(store, LimitExceededError, "'ask:a'"):
        graph.invoke(None, thread_id="t", resume=Resume(given))


def test_what_the_node_does_to_its_answer_does_not_reach_the_next_run_or_the_caller(store, reopened):
    seen: list[Any] = []

    def body(state):
        first = interrupt("First?", id="a")
        seen.append(copy.deepcopy(first))
        first["seen"] = True
        first["list"].append("more")
        interrupt("Second?", id="b")

    given: dict[str, Any] = {"list": [1]}
    lone(body, store).invoke({}, thread_id="t")
    lone(body, store).invoke(None, thread_id="t", resume=Resume(given))
    lone(body, reopened()).invoke(None, thread_id="t", resume=Resume(1))
    assert seen == [{"list": [1]}, {"list": [1]}]
    assert given == {"list": [1]}


def test_what_the_caller_does_to_the_answer_later_does_not_reach_the_node(store):
    given: dict[str, Any] = {"list": [1]}
    seen: list[Any] = []

    def body(state):
        first = interrupt("First?", id="a")
        given["list"].append("late")
        seen.append(first)
        interrupt("Second?", id="b")

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(given))
    graph.invoke(None, thread_id="t", resume=Resume(1))
    assert seen == [{"list": [1]}, {"list": [1]}]


def test_a_hooks_answer_given_twice_is_not_one_object(store):
    kept = {"list": [1]}

    class Same(Middleware):
        def on_interrupt(self, ctx, payload):
            return kept if payload == "First?" else None

    seen: list[Any] = []

    def body(state):
        first = interrupt("First?", id="a")
        seen.append(list(first["list"]))
        first["list"].append("more")
        interrupt("Second?", id="b")

    graph = lone(body, store, middleware=[Same()])
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(1))
    assert seen == [[1], [1]]
    assert kept == {"list": [1]}
