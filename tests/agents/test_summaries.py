"""SummarizationMiddleware: what a model is shown of a long conversation, and that each message is summarized once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    AgentState,
    Graph,
    GraphConfigError,
    InMemoryStateStore,
    RemoveMessage,
    ScriptedChat,
    SQLiteStateStore,
    model_node,
)
from nodestep.chat import AIMessage, HumanMessage, Message, ToolCall, ToolMessage
from nodestep.middleware import SummarizationMiddleware


def talk(chat: ScriptedChat, summarizer: ScriptedChat, store: Any, **settings: Any) -> Graph[AgentState]:
    shorten = SummarizationMiddleware(summarizer, **{"after_messages": 4, "keep_messages": 2, **settings})
    node = model_node("think", chat=chat, system_prompt="Be brief.")
    return Graph(AgentState, middleware=[shorten], state_store=store).flow(START >> node >> END)


def say(graph: Graph[AgentState], *words: str) -> AgentState:
    for word in words:
        state = graph.invoke({"messages": [HumanMessage(content=word)]}, thread_id="t").state
    return state


def asked(chat: ScriptedChat) -> list[str]:
    """What the model was shown last."""
    return [message.content for message in chat.requests[-1].messages]


def test_a_short_conversation_goes_as_it_is():
    chat, summarizer = ScriptedChat(default="ok"), ScriptedChat()
    say(talk(chat, summarizer, InMemoryStateStore()), "1", "2")
    assert asked(chat) == ["Be brief.", "1", "ok", "2"]
    assert summarizer.requests == []


def test_a_long_one_goes_as_a_summary_and_its_last_messages_and_is_stored_whole():
    chat, summarizer = ScriptedChat(default="ok"), ScriptedChat(["short"])
    state = say(talk(chat, summarizer, InMemoryStateStore()), "1", "2", "3")
    assert asked(chat) == ["Be brief.", "Summary of our conversation so far:\nshort", "ok", "3"]
    assert chat.requests[-1].messages[1].role == "user"
    assert summarizer.requests[0].messages[1].content == "user: 1\nassistant: ok\nuser: 2"
    assert len(state.messages) == 6


def test_each_message_is_summarized_once_also_in_another_process(tmp_path):
    chat, first, second = ScriptedChat(default="ok"), ScriptedChat(["short"]), ScriptedChat(["shorter"])
    store = SQLiteStateStore(tmp_path / "talk.db")
    say(talk(chat, first, store), "1", "2", "3")
    store.close()
    again = talk(chat, second, SQLiteStateStore(tmp_path / "talk.db"))
    say(again, "4")
    assert asked(chat) == ["Be brief.", "Summary of our conversation so far:\nshort", "ok", "3", "ok", "4"]
    say(again, "5")
    assert asked(chat) == ["Be brief.", "Summary of our conversation so far:\nshorter", "ok", "5"]
    assert (
        second.requests[0].messages[1].content
        == "summary so far: short\nassistant: ok\nuser: 3\nassistant: ok\nuser: 4"
    )
    assert len(first.requests) == len(second.requests) == 1


def test_a_call_is_never_parted_from_its_result():
    history: list[Message] = [
        HumanMessage(content="1"),
        AIMessage(content="a"),
        AIMessage(tool_calls=(ToolCall(id="x", name="look", arguments={"n": 1}), ToolCall(id="y", name="look"))),
        ToolMessage(content="seen", name="look", tool_call_id="x"),
        ToolMessage(content="gone", name="look", tool_call_id="y"),
    ]
    chat, summarizer = ScriptedChat(default="ok"), ScriptedChat(["short"])
    talk(chat, summarizer, InMemoryStateStore(), keep_messages=1).invoke({"messages": history}, thread_id="t")
    assert [message.role for message in chat.requests[0].messages] == ["system", "user", "assistant", "tool", "tool"]
    assert summarizer.requests[0].messages[1].content == "user: 1\nassistant: a"


def test_calls_and_results_are_told_to_who_summarizes():
    history: list[Message] = [
        AIMessage(tool_calls=(ToolCall(id="x", name="look", arguments={"n": 1}),)),
        ToolMessage(content="seen", name="look", tool_call_id="x"),
        AIMessage(refusal="no"),
        *[HumanMessage(content=str(n)) for n in range(3)],
    ]
    chat, summarizer = ScriptedChat(default="ok"), ScriptedChat(["short"])
    talk(chat, summarizer, InMemoryStateStore()).invoke({"messages": history}, thread_id="t")
    told = summarizer.requests[0].messages[1].content
    assert told == 'assistant:  [calls look with {"n": 1}]\nresult of look: seen\nassistant: no\nuser: 0'


def test_a_summary_of_messages_that_were_removed_is_forgotten():
    chat, summarizer = ScriptedChat(default="ok"), ScriptedChat(["short"])
    graph = talk(chat, summarizer, InMemoryStateStore())
    state = say(graph, "1", "2", "3")
    gone = [RemoveMessage(message.id or "") for message in state.messages[:4]]
    asyncio.run(graph.update_state("t", {"messages": gone}))
    say(graph, "4")
    assert asked(chat) == ["Be brief.", "3", "ok", "4"]


def test_an_empty_summary_leaves_the_conversation_whole():
    chat = ScriptedChat(default="ok")
    say(talk(chat, ScriptedChat(default=" "), InMemoryStateStore()), "1", "2", "3")
    assert asked(chat) == ["Be brief.", "1", "ok", "2", "ok", "3"]


@pytest.mark.parametrize(("after", "keep"), [(4, 4), (4, 0), (1, 2)])
def test_numbers_that_make_no_sense_are_refused(after, keep):
    with pytest.raises(GraphConfigError, match="makes no sense"):
        SummarizationMiddleware(ScriptedChat(), after_messages=after, keep_messages=keep)


def test_what_is_no_chat_model_is_refused():
    with pytest.raises(GraphConfigError, match="takes a chat model, not str"):
        SummarizationMiddleware("gpt")  # type: ignore[arg-type]
