"""What a question shows: the payload as given to the pausing call, as JSON to everyone later, or a refusal at the pause."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import enum
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from nodestep import LimitExceededError, Resume, StateStoreError, interrupt, interrupt_many
from tests.asking import lone


class Form(BaseModel):
    title: str
    due: datetime.date


@dataclass
class Line:
    sku: str
    count: int


class Colour(enum.Enum):
    RED = "red"


DAY = datetime.date(2025, 3, 1)
PAYLOADS = [
    (None, None),
    ("Approve?", "Approve?"),
    (80, 80),
    ({"amount": 80, "to": ["a"]}, {"amount": 80, "to": ["a"]}),
    (("a", 1), ["a", 1]),
    ({3}, [3]),
    ({1: "x"}, {"1": "x"}),
    (DAY, "2025-03-01"),
    (Form(title="t", due=DAY), {"title": "t", "due": "2025-03-01"}),
    (Line("s", 2), {"sku": "s", "count": 2}),
    (decimal.Decimal("0.10"), "0.10"),
    (Colour.RED, "red"),
    ({"line": Line("s", 2), "days": (DAY,)}, {"line": {"sku": "s", "count": 2}, "days": ["2025-03-01"]}),
]


@pytest.mark.parametrize(("payload", "as_json"), PAYLOADS, ids=lambda value: type(value).__name__)
def test_the_pausing_call_returns_the_payload_as_given_and_pending_its_json_form(store, reopened, payload, as_json):
    graph = lone(lambda state: interrupt(payload, id="a"), store)
    assert graph.invoke({}, thread_id="t").interrupts["ask:a"].payload is payload
    (asked,) = asyncio.run(graph.pending("t", state_store=reopened())).items
    assert asked.payload == as_json
    assert type(asked.payload) is type(as_json)


def test_history_tells_the_payload_in_its_json_form(store):
    graph = lone(lambda state: interrupt(("a", DAY), id="a"), store)
    graph.invoke({}, thread_id="t")
    (event,) = [event for event in asyncio.run(graph.history("t")).events if event.type == "interrupted"]
    assert event.data["questions"] == {"ask:a": ["a", "2025-03-01"]}


def test_a_question_equals_the_same_question_read_later(store):
    graph = lone(lambda state: interrupt("Approve?", id="a"), store)
    asked = graph.invoke({}, thread_id="t").interrupts["ask:a"]
    (listed,) = asyncio.run(graph.pending("t")).items
    assert asked == listed
    assert (asked.thread_id, asked.branch_id, asked.graph) == ("t", "main", "lone")
    assert (asked.pause, asked.asked_at) == (listed.pause, listed.asked_at)
    assert asked.asked_at is not None
    assert asked.asked_at.tzinfo is datetime.UTC


def test_what_the_node_does_to_its_payload_later_does_not_reach_the_stored_question(store):
    payload: dict[str, Any] = {"amount": 5}

    def body(state):
        try:
            interrupt(payload, id="a")
        finally:
            payload["amount"] = 5000

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    (asked,) = asyncio.run(graph.pending("t")).items
    assert asked.payload == {"amount": 5}


def unstorable(tmp_path) -> dict[str, Any]:
    return {
        "function": {"cb": lambda: 1},
        "object": [object()],
        "generator": (n for n in "ab"),
        "secret": SecretStr("hunter2"),
        "secret inside": {"password": SecretStr("hunter2")},
        "two keys that become one": {1: "a", "1": "b"},
    }


KINDS = list(unstorable(None))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("many", [False, True])
def test_a_payload_that_cannot_be_stored_is_refused_at_the_pause(store, tmp_path, kind, many):
    payload = unstorable(tmp_path)[kind]

    def body(state):
        return interrupt_many({"ok": "?", "x": payload}) if many else interrupt(payload, id="x")

    graph = lone(body, store)
    with pytest.raises(StateStoreError, match=r"'x'.*'ask'") as refused:
        graph.invoke({}, thread_id="t")
    assert "hunter2" not in str(refused.value)
    assert asyncio.run(graph.pending("t")).items == ()


@pytest.mark.parametrize(
    "payload",
    [float("nan"), float("inf"), 2**63, "a\0b", "\ud800", "x" * (1 << 20), "deep"],
    ids=["nan", "inf", "65 bits", "NUL", "half a character", "1 MiB and two quotes", "101 levels"],
)
def test_a_payload_beyond_a_limit_is_refused_at_the_pause(store, payload):
    if payload == "deep":
        for _ in range(100):
            payload = [payload]
        payload = [payload]
    graph = lone(lambda state: interrupt(payload, id="x"), store)
    with pytest.raises(LimitExceededError, match=r"'x'.*'ask'"):
        graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.pending("t")).items == ()


def test_a_payload_of_exactly_1_mib_is_stored(store):
    payload = "x" * ((1 << 20) - 2)
    graph = lone(lambda state: interrupt(payload, id="x"), store)
    assert graph.invoke({}, thread_id="t").status == "interrupted"


@pytest.mark.parametrize("caught", [Exception, BaseException])
def test_a_refused_payload_fails_the_node_also_when_it_catches_the_error(store, caught):
    def body(state):
        try:
            return {"approved": interrupt(print, id="x")}
        except caught:
            return {"approved": True}

    with pytest.raises(StateStoreError, match="'x'"):
        lone(body, store).invoke({}, thread_id="t")


def test_a_thread_whose_payload_was_refused_goes_on_once_the_node_is_mended(store):
    payloads: list[Any] = [print, "Approve?"]
    graph = lone(lambda state: {"got": interrupt(payloads.pop(0), id="x")}, store)
    with pytest.raises(StateStoreError):
        graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t").status == "interrupted"
    payloads.append("again")
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).data == {"got": 1}


def test_a_thousand_questions_can_be_open_and_no_more(store):
    def body(state):
        return interrupt_many({f"q{n}": n for n in range(state["count"])})

    graph = lone(body, store)
    assert len(graph.invoke({"count": 1000}, thread_id="full").interrupts) == 1000
    with pytest.raises(LimitExceededError, match="1000"):
        graph.invoke({"count": 1001}, thread_id="t")
    assert asyncio.run(graph.pending("t")).items == ()
