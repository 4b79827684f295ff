"""A removed message is removed in the store as well."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from nodestep import END, START, Graph, RemoveMessage, add_messages
from tests.running.making import returns, run


class Message(BaseModel):
    id: str
    text: str = ""


class PlainChat(BaseModel):
    chat: Annotated[list[dict[str, Any]], add_messages] = Field(default_factory=list)


class TypedChat(BaseModel):
    chat: Annotated[list[Message], add_messages] = Field(default_factory=list)


def test_a_removed_plain_message_does_not_come_back(store):
    _check(store, PlainChat, {"id": "c", "text": ""})


def test_a_removed_typed_message_does_not_come_back(store):
    _check(store, TypedChat, Message(id="c"))


def _check(store, state: Any, new: Any) -> None:
    graph = Graph(state, state_store=store).flow(
        START >> returns("a", {"chat": [RemoveMessage("a"), new, RemoveMessage("x")]}) >> END
    )
    graph.invoke({"chat": [{"id": "a", "text": "1"}, {"id": "b", "text": "2"}]}, thread_id="t")

    assert run(graph.load("t"))["chat"] == [{"id": "b", "text": "2"}, {"id": "c", "text": ""}]
