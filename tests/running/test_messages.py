"""Ids of messages that have none: derived from the task, and met nowhere else."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from nodestep import END, START, BaseState, Command, Graph, add_messages

from .making import does, run


class Chat(BaseState):
    chat: Annotated[list[dict[str, Any]], add_messages] = Field(default_factory=list)


def texts(state: Chat) -> list[str]:
    return [message["text"] for message in state.chat]


def ids(state: Chat) -> list[str]:
    return [message["id"] for message in state.chat]


def replies(**options: Any) -> Graph[Chat]:
    def body(state: Chat):
        return {"chat": [{"text": f"to {state.chat[-1]['text']}"}]}

    return Graph(Chat, **options).flow(START >> does("reply", body) >> END)


def test_every_round_of_a_loop_adds_a_message_of_its_own(store):
    def body(state: Chat):
        goto = "reply" if len(state.chat) < 3 else END
        return Command(update={"chat": [{"text": str(len(state.chat))}]}, goto=goto)

    graph = Graph(Chat, state_store=store).flow(START >> does("reply", body, goto=["reply"]))

    assert texts(graph.invoke({}, thread_id="t").state) == ["0", "1", "2", "3"]


def test_every_turn_of_a_thread_adds_messages_of_its_own(store):
    graph = replies(state_store=store)
    graph.invoke({"chat": [{"text": "one"}]}, thread_id="t")

    state = graph.invoke({"chat": [{"text": "two"}]}, thread_id="t").state
    assert texts(state) == ["one", "to one", "two", "to two"]
    assert len(set(ids(state))) == 4


def test_a_chat_that_is_passed_on_from_run_to_run_without_a_store_loses_nothing():
    graph = replies()
    state = graph.invoke({"chat": [{"text": "one"}]}).state

    state = graph.invoke({"chat": [*state.chat, {"text": "two"}]}).state
    assert texts(state) == ["one", "to one", "two", "to two"]


def test_messages_of_one_thread_may_be_passed_to_another(store):
    graph = replies(state_store=store)
    state = graph.invoke({"chat": [{"text": "one"}]}, thread_id="a").state

    state = graph.invoke({"chat": [*state.chat, {"text": "two"}]}, thread_id="b").state
    assert texts(state) == ["one", "to one", "two", "to two"]


def test_a_stored_message_has_the_id_that_the_run_gave_it(store, reopened):
    state = replies(state_store=store).invoke({"chat": [{"text": "one"}]}, thread_id="t").state

    assert run(reopened().load("t"))["chat"] == state.chat
