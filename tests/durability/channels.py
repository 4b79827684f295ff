"""Every way in which a value gets into a store, and how it is read back from it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from nodestep import END, START, BaseState, Command, Graph, NodeContext, Resume, Send, interrupt, node
from tests.durability.stage import Instant, at_once


class Box(BaseState):
    value: Any = None
    other: Any = None


def _graph(store: Any, body: Callable[..., Any]) -> Graph[Box]:
    return Graph(Box, name="box", state_store=store).flow(START >> node(body, name="put") >> END)


def _asking(store: Any) -> Graph[Box]:
    def body(state: Box) -> Any:
        interrupt("?", id="q")

    return _graph(store, body)


def as_input(store: Any, value: Any) -> Any:
    _graph(store, lambda state: None).invoke({"value": value}, thread_id="t")
    return at_once(store.load("t"))["value"]


def as_update(store: Any, value: Any) -> Any:
    _graph(store, lambda state: {"value": value}).invoke({}, thread_id="t")
    return at_once(store.load("t"))["value"]


def as_edit(store: Any, value: Any) -> Any:
    graph = _graph(store, lambda state: None)
    at_once(graph.update_state("t", {"value": value}, create=True))
    return at_once(graph.get_state("t")).value.value


def as_send(store: Any, value: Any) -> Any:
    @node
    def take(state: Box) -> Any:
        return {"other": state.value}

    @node(goto=[take])
    def send(state: Box) -> Any:
        return Command(goto=[Send(take, {"value": value})])

    Graph(Box, name="box", state_store=store).flow(START >> send, take >> END).invoke({}, thread_id="t")
    return at_once(store.load("t"))["other"]


def as_payload(store: Any, value: Any) -> Any:
    def body(state: Box) -> Any:
        interrupt(value, id="q")

    _graph(store, body).invoke({}, thread_id="t")
    return at_once(store.pending("t")).items[0].payload


def as_default(store: Any, value: Any) -> Any:
    def body(state: Box) -> Any:
        return {"value": interrupt("?", id="q", expires=timedelta(0), default=value)}

    graph = _graph(store, body)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t")
    return at_once(store.audit("t")).items[0].value


def as_resume(store: Any, value: Any) -> Any:
    graph = _asking(store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(value))
    return at_once(store.audit("t")).items[0].value


def as_answer(store: Any, value: Any) -> Any:
    graph = _asking(store)
    graph.invoke({}, thread_id="t")
    at_once(graph.answer("t", {"put:q": value}))
    return at_once(store.audit("t")).items[0].value


def as_cache(store: Any, value: Any) -> Any:
    found: list[Any] = []

    def body(state: Box, ctx: NodeContext) -> Any:
        found.append(ctx.cache.get("value"))
        ctx.cache["value"] = value
        interrupt("?", id=f"q{len(found)}")

    graph = _graph(store, body)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(1))
    return found[1]


def as_once(store: Any, value: Any) -> Any:
    found: list[Any] = []

    def body(state: Box, ctx: NodeContext) -> Any:
        found.append(ctx.once("id", lambda: value))
        if len(found) == 1:
            interrupt("?", id="q")

    graph = _graph(store, body)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(1))
    return found[1]


VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "input": as_input,
    "update": as_update,
    "edit": as_edit,
    "send": as_send,
    "payload": as_payload,
    "default": as_default,
    "resume": as_resume,
    "answer": as_answer,
    "cache": as_cache,
    "once": as_once,
}
"""For anything that JSON can hold."""


def as_thread(store: Any, text: Any) -> Any:
    _graph(store, lambda state: None).invoke({}, thread_id=text)
    return at_once(store.threads()).items[0].thread_id


def as_branch(store: Any, text: Any) -> Any:
    _graph(store, lambda state: None).invoke({}, thread_id="t")
    at_once(store.fork("t", from_=at_once(store.history("t")).checkpoints[0], name=text))
    return at_once(store.branches("t"))[1].id


def as_by(store: Any, text: Any) -> Any:
    graph = _asking(store)
    graph.invoke({}, thread_id="t")
    at_once(graph.answer("t", {"put:q": 1}, by=text))
    return at_once(store.audit("t")).items[0].by


def as_note(store: Any, text: Any) -> Any:
    graph = _asking(store)
    graph.invoke({}, thread_id="t")
    at_once(graph.answer("t", {"put:q": 1}, note=text))
    return at_once(store.audit("t")).items[0].note


def as_reason(store: Any, text: Any) -> Any:
    graph = _asking(store)
    graph.invoke({}, thread_id="t")
    at_once(graph.cancel("t", reason=text))
    return at_once(store.history("t")).events[-1].message


def as_assignee(store: Any, text: Any) -> Any:
    def body(state: Box) -> Any:
        interrupt("?", id="q", assignee=text)

    _graph(store, body).invoke({}, thread_id="t")
    return at_once(store.pending("t")).items[0].assignee


def as_graph(store: Any, text: Any) -> Any:
    Graph(Box, name=text, state_store=store).flow(START >> node(lambda state: None, name="put") >> END).invoke(
        {}, thread_id="t"
    )
    (found,) = at_once(store.threads(graph=text)).items
    return found.graph


TEXTS: dict[str, Callable[[Any, Any], Any]] = {
    "thread": as_thread,
    "branch": as_branch,
    "by": as_by,
    "note": as_note,
    "reason": as_reason,
    "assignee": as_assignee,
    "graph": as_graph,
}
"""For text alone."""


def through(channel: Callable[[Any, Any], Any], store: Any, value: Any) -> Any:
    """What is read back; an error is told by its type and its message."""
    try:
        return channel(Instant(store), value)
    except Exception as error:
        return type(error), str(error)
