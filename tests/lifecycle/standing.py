"""How a branch comes to stand where the lifecycle table says, and the four ways to call on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from nodestep import END, START, Graph, Resume, StateStoreError, interrupt, node
from nodestep.engine.replay import record_to_bytes
from nodestep.stores.base import StateStore, Status, Unchanged, Write
from tests.stores.writing import StillClock
from tests.watching import Watched


class Life:
    """Thread `t` on a store. `ran` notes every node that was entered; `work` fails while `broken`."""

    def __init__(self, store: Any, clock: StillClock) -> None:
        self.store = store
        self.clock = clock
        self.ran: list[str] = []
        self.broken = False

    # nodes

    def start(self, state):
        self.ran.append("start")

    def ask(self, state):
        self.ran.append("ask")
        return {"got": interrupt("What?", id="a")}

    def work(self, state):
        self.ran.append("work")
        if self.broken:
            raise OSError("no disk")
        return {"work": "done"}

    # graphs

    def alone(self, name: str, store: StateStore | None = None) -> Graph[dict[str, Any]]:
        only = node(getattr(self, name), name=name)
        return Graph(dict, name="life", state_store=self.store if store is None else store).flow(START >> only >> END)

    def both(self) -> Graph[dict[str, Any]]:
        start, ask, work = (node(getattr(self, name), name=name) for name in ("start", "ask", "work"))
        return Graph(dict, name="life", state_store=self.store).flow(
            START >> start >> [ask, work], ask >> END, work >> END
        )

    # where a branch stands

    def interrupted(self) -> Graph[dict[str, Any]]:
        graph = self.alone("ask")
        graph.invoke({}, thread_id="t")
        return graph

    def ready(self) -> Graph[dict[str, Any]]:
        graph = self.interrupted()
        asyncio.run(graph.answer("t", {"ask:a": "early"}))
        return graph

    def failed(self) -> Graph[dict[str, Any]]:
        return self._failed(self.alone("work"))

    def failed_and_open(self) -> Graph[dict[str, Any]]:
        return self._failed(self.both())

    def _failed(self, graph: Graph[dict[str, Any]]) -> Graph[dict[str, Any]]:
        self.broken = True
        with pytest.raises(OSError, match="no disk"):
            graph.invoke({}, thread_id="t")
        self.broken = False
        return graph

    def cut_off(self) -> Graph[dict[str, Any]]:
        """The claim was the last thing that the owner wrote, and its lease has ended."""

        def dead(facts: list[Any]) -> None:
            if not any(type(fact).__name__ == "Started" for fact in facts):
                raise StateStoreError("the process is gone")

        with pytest.raises(StateStoreError, match="gone"):
            self.alone("work", Watched(self.store, dead)).invoke({}, thread_id="t")
        self.clock.forward(60_000)
        return self.alone("work")

    def completed(self) -> Graph[dict[str, Any]]:
        graph = self.alone("work")
        graph.invoke({"first": True}, thread_id="t")
        return graph

    def cancelled(self) -> Graph[dict[str, Any]]:
        graph = self.completed()
        head = self.store.head("t", "main")
        guard = Unchanged(head.no, head.epoch, head.sequence)
        self.store.commit([Write("t", "main", guard, Status.CANCELLED, record_to_bytes([]))])
        return graph

    def unknown(self) -> Graph[dict[str, Any]]:
        return self.alone("work")


Call = Callable[..., Any]


def invoke(graph: Graph[Any], *args: Any, **options: Any) -> Any:
    return graph.invoke(*args, **options)


def ainvoke(graph: Graph[Any], *args: Any, **options: Any) -> Any:
    return asyncio.run(graph.ainvoke(*args, **options))


def stream(graph: Graph[Any], *args: Any, **options: Any) -> Any:
    return list(graph.stream(*args, stream_mode=[], **options))


def astream(graph: Graph[Any], *args: Any, **options: Any) -> Any:
    async def listen() -> list[Any]:
        return [event async for event in graph.astream(*args, stream_mode=[], **options)]

    return asyncio.run(listen())


FORMS: list[Call] = [invoke, ainvoke, stream, astream]


def going_on(form: Call, graph: Graph[Any], **options: Any) -> Any:
    return form(graph, None, thread_id="t", **options)


def resuming(form: Call, graph: Graph[Any], **options: Any) -> Any:
    return form(graph, None, thread_id="t", resume=Resume("late"), **options)


def starting(form: Call, graph: Graph[Any], **options: Any) -> Any:
    return form(graph, {"new": True}, thread_id="t", **options)


def answering(form: Call, graph: Graph[Any], **options: Any) -> Any:
    return asyncio.run(graph.answer("t", {"ask:a": "late"}, **options))
