"""A stored schema that was tampered with, or comes from elsewhere: it opens nothing, and fails closed."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from nodestep import Resume, ResumeError, interrupt
from nodestep.engine.replay import record_to_bytes
from nodestep.model.event import Fact, Paused, Started, TaskRecorded
from nodestep.model.outcome import Asked, StoredQuestion
from nodestep.model.position import Task
from nodestep.stores.base import New, QuestionRow, Status, Write
from tests.asking import lone, refusal
from tests.running.making import run


@pytest.fixture
def no_network(monkeypatch):
    """Whoever opens a connection, or looks a name up, is caught."""
    tried: list[Any] = []

    def refuse(*args: Any, **_: Any) -> Any:
        tried.append(args)
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield
    assert tried == []


def waiting(store, schema: Any) -> None:
    """Thread `t` waits at node `ask` with this schema in its record."""
    question = StoredQuestion("a", "?", answer_schema=schema)
    facts: list[Fact] = [
        Started("run", {"set": {}}, (Task("ask", "ask"),)),
        TaskRecorded("ask", Asked((question,))),
        Paused(),
    ]
    opens = (QuestionRow("ask:a", "a", "ask", "ask", "?", schema),)
    store.commit([Write("t", "main", New("lone"), Status.INTERRUPTED, record_to_bytes(facts), opens=opens)])


REMOTE = [
    {"$ref": "http://127.0.0.1:9/schema.json"},
    {"$ref": "https://example.com/schema.json#/$defs/a"},
    {"$ref": "file:///etc/passwd"},
    {"$dynamicRef": "http://127.0.0.1:9/schema.json#a"},
    {"$id": "http://127.0.0.1:9/base/", "$ref": "other.json"},
    {"type": "object", "properties": {"a": {"$ref": "//example.com/x"}}, "required": ["a"]},
    {"anyOf": [{"$ref": "http://127.0.0.1:9/x"}, {"type": "null"}]},
    {"$ref": "#/$defs/missing"},
    {"$ref": "schema.json"},
]
BROKEN: list[Any] = [
    {"type": "nonsense"},
    {"type": 5},
    {"minimum": "many"},
    {"properties": []},
    {"required": "all"},
    {"enum": 5},
    {"pattern": "("},
    {"$ref": 5},
    {"allOf": []},
    [],
    "integer",
    5,
    {"$schema": "http://127.0.0.1:9/meta.json", "type": 5},
    {"$schema": "http://127.0.0.1:9/meta.json", "$ref": "http://127.0.0.1:9/x"},
]
ENDLESS = [
    {"$ref": "#"},
    {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    {"$dynamicAnchor": "a", "$dynamicRef": "#a"},
]


def check_refused(store, schema: Any) -> None:
    if run(store.exists("t")):
        run(store.delete("t"))
    waiting(store, schema)
    graph = lone(lambda state: {"got": interrupt("?", id="a")}, store)
    for value in ({"a": 1}, 5):
        with refusal(store, ResumeError, "'ask:a'"):
            run(store.answer("t", {"ask:a": value}))
        with refusal(store, ResumeError, "'ask:a'"):
            graph.invoke(None, thread_id="t", resume=Resume(value))


def test_a_reference_to_something_outside_is_not_followed_and_no_answer_fits(store, no_network):
    for schema in REMOTE:
        check_refused(store, schema)


def test_a_schema_that_is_none_lets_no_answer_through(store, no_network):
    for schema in BROKEN:
        check_refused(store, schema)


def test_a_schema_that_refers_to_itself_without_end_lets_no_answer_through(store, no_network):
    for schema in ENDLESS:
        check_refused(store, schema)


def test_such_a_thread_can_still_be_read_listed_and_cancelled(store, no_network):
    waiting(store, REMOTE[0])
    (asked,) = run(store.pending()).items
    assert asked.answer_schema == REMOTE[0]
    assert run(store.load("t")) == {}
    run(store.cancel("t"))
    assert run(store.pending()).items == ()


def test_a_reference_inside_the_schema_is_followed(store, no_network):
    waiting(store, {"$defs": {"n": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/n"}})
    with refusal(store, ResumeError, "[1]", "integer"):
        run(store.answer("t", {"ask:a": [1, "two"]}))
    assert run(store.answer("t", {"ask:a": [1, 2]})) == ()


def test_another_metaschema_is_not_fetched(store, no_network):
    waiting(store, {"$schema": "http://127.0.0.1:9/meta.json", "type": "integer"})
    with refusal(store, ResumeError):
        run(store.answer("t", {"ask:a": "five"}))
