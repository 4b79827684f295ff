"""Cases of kind security that touch threads and their stores; each test bears its case's id."""

from __future__ import annotations

import asyncio
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    GraphConfigError,
    LimitExceededError,
    NodeContext,
    Resume,
    SQLiteStateStore,
    StateStoreError,
    StoreCorruptedError,
    interrupt,
    node,
)
from nodestep.engine.replay import record_to_bytes
from nodestep.model.event import Started
from nodestep.model.position import Task
from nodestep.stores.base import New, Status, Write
from tests.asking import lone

ODD = [
    "'; DROP TABLE threads; --",
    'double "quotes"',
    "100%",
    "a_b",
    "aXb",
    "slash/slash",
    "../../etc/passwd",
    "..",
    "line\nbreak",
    "case",
    "CASE",
    "space",
    "space ",
    " space",
    "\u00e9",
    "e\u0301",
    "\U0001f600",
    "x" * 512,
]


def test_sc_04_odd_thread_ids_are_kept_apart_exactly(store, tmp_path):
    files = {path.name for path in tmp_path.iterdir()}
    graph = lone(lambda state: {"got": interrupt("?", id="a")}, store)
    for thread in ODD:
        graph.invoke({"me": thread}, thread_id=thread)
    for thread in ODD:
        assert asyncio.run(graph.load(thread)) == {"me": thread}
        (asked,) = asyncio.run(graph.pending(thread)).items
        assert asked.thread_id == thread
    assert graph.invoke(None, thread_id="case", resume=Resume("mine")).data == {"me": "case", "got": "mine"}
    assert len(asyncio.run(graph.pending()).items) == len(ODD) - 1
    assert {path.name for path in tmp_path.iterdir()} <= files | {"threads.db-wal", "threads.db-shm"}


@pytest.mark.parametrize("thread", ["x" * 513, "x" * 10_240, "a\0b", "\ud800"], ids=["513", "10 kB", "NUL", "half"])
def test_sc_04_a_thread_id_beyond_the_limits_is_refused(store, thread):
    with pytest.raises(LimitExceededError, match="thread_id"):
        lone(lambda state: None, store).invoke({}, thread_id=thread)
    assert asyncio.run(store.pending()).items == ()


@pytest.mark.parametrize("thread", ["", None, 17, b"t"])
def test_sc_04_an_empty_thread_id_is_refused(store, thread):
    with pytest.raises(GraphConfigError, match="thread_id"):
        lone(lambda state: None, store).invoke({}, thread_id=thread)


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def put(store, record: bytes) -> None:
    """A record of the attacker's making, stored as the store stores any other."""
    store.commit([Write("t", "main", New("lone"), Status.FAILED, record)])


def test_sc_05_a_pickled_record_is_refused_and_not_run(store, tmp_path):
    put(store, pickle.dumps(Bomb(tmp_path / "exploded")))
    graph = lone(lambda state: None, store)
    for reading in (graph.load, graph.history, graph.get_state):
        with pytest.raises(StoreCorruptedError):
            asyncio.run(reading("t"))
    with pytest.raises(StoreCorruptedError):
        graph.invoke(None, thread_id="t")
    assert not (tmp_path / "exploded").exists()


CLASS_PATHS = [
    {"__class__": "subprocess.Popen", "args": ["touch", "exploded"]},
    {"py/object": "subprocess.Popen", "py/reduce": [{"py/function": "os.mkdir"}]},
    {"lc": 1, "type": "constructor", "id": ["os", "mkdir"], "kwargs": {"name": "exploded"}},
]


@pytest.mark.parametrize("value", CLASS_PATHS, ids=["class", "jsonpickle", "constructor"])
def test_sc_05_the_name_of_a_class_is_data_and_imports_nothing(store, value):
    put(store, record_to_bytes([Started("run", {"set": {"value": value}}, (Task("ask", "ask"),))]))
    graph = lone(lambda state: {"seen": type(state["value"]).__name__}, store)
    assert asyncio.run(graph.load("t")) == {"value": value}
    assert graph.invoke(None, thread_id="t").data == {"value": value, "seen": "dict"}


def test_sc_05_a_fact_that_nobody_wrote_is_refused(store):
    put(store, b'[["exec","import os"]]')
    with pytest.raises(StoreCorruptedError):
        asyncio.run(store.load("t"))


TOKEN = "token-4711-do-not-keep"


def test_sc_06_the_context_is_not_in_the_store(tmp_path):
    def body(state: dict, ctx: NodeContext) -> dict[str, Any]:
        assert ctx.context["token"] == TOKEN
        return {"got": interrupt("Approve?", id="a")}

    def broken(state: dict, ctx: NodeContext) -> None:
        assert ctx.context["token"] == TOKEN
        raise OSError("no disk")

    with SQLiteStateStore(tmp_path / "threads.db") as store:
        graph = Graph(dict, name="g", state_store=store).flow(
            START >> node(body, name="ask") >> node(broken, name="broken") >> END
        )
        graph.invoke({}, thread_id="t", context={"token": TOKEN})
        with pytest.raises(OSError, match="no disk"):
            graph.invoke(None, thread_id="t", resume=Resume("yes"), context={"token": TOKEN})
        written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        events = asyncio.run(graph.history("t")).events
    assert b"Approve?" in written
    assert TOKEN.encode() not in written
    assert TOKEN not in repr(events)


def test_sc_06_a_secret_in_a_refused_value_is_neither_stored_nor_told(tmp_path):
    with SQLiteStateStore(tmp_path / "threads.db") as store:
        graph = lone(lambda state: {"value": {"password": TOKEN, "call": print}}, store)
        with pytest.raises(StateStoreError) as refused:
            graph.invoke({}, thread_id="t")
        written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert TOKEN not in str(refused.value)
    assert TOKEN.encode() not in written
