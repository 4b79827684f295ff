"""Messages: what a thread stores comes back as it was."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    SQLiteStateStore,
    StateUpdateError,
    add_messages,
    node,
)
from nodestep.chat import AIMessage, HumanMessage, Message, SystemMessage, ToolCall, ToolMessage, Usage

CALL = ToolCall(id="call_1", name="refund", arguments={"order": {"id": "A-1"}, "amount": 80.5, "notify": True})
MESSAGES = [
    SystemMessage(id="m1", content="Be brief."),
    HumanMessage(id="m2", content="Bitte zurück 💸"),
    AIMessage(id="m3", tool_calls=(CALL,), finish_reason="tool_calls", usage=Usage(input_tokens=3, output_tokens=4)),
    ToolMessage(id="m4", content='{"result":1}', name="refund", tool_call_id="call_1", arguments={"amount": 8}),
    AIMessage(id="m5", refusal="I cannot do that."),
]


class Talk(BaseState):
    messages: Annotated[list[Message], add_messages] = []


@node
def nothing(state: Talk) -> None:
    return None


def talk(**settings: Any) -> Graph[Talk]:
    return Graph(Talk, **settings).flow(START >> nothing >> END)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_comes_back_from_its_json_equal_and_of_its_type(message):
    adapter: TypeAdapter[Message] = TypeAdapter(Message)
    back = adapter.validate_json(adapter.dump_json(message))
    assert back == message
    assert type(back) is type(message)


def test_messages_survive_their_thread_in_a_file(tmp_path):
    store = SQLiteStateStore(tmp_path / "talk.db")
    talk(state_store=store).invoke({"messages": MESSAGES}, thread_id="t")
    store.close()
    again = talk(state_store=SQLiteStateStore(tmp_path / "talk.db"))
    more = again.invoke({"messages": [HumanMessage(id="m6", content="Thanks")]}, thread_id="t")
    assert more.state.messages == [*MESSAGES, HumanMessage(id="m6", content="Thanks")]
    assert [type(message) for message in more.state.messages[:5]] == [type(message) for message in MESSAGES]


def test_a_dict_becomes_the_message_that_its_role_says():
    result = talk().invoke({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]})
    assert [type(message) for message in result.state.messages] == [HumanMessage, AIMessage]


def test_a_message_without_an_id_gets_one_and_one_with_a_known_id_takes_its_place():
    graph = talk(state_store=InMemoryStateStore())
    first = graph.invoke({"messages": [HumanMessage(content="Hi")]}, thread_id="t").state.messages[0]
    assert first.id
    second = graph.invoke({"messages": [HumanMessage(id=first.id, content="Hello")]}, thread_id="t")
    assert second.state.messages == [HumanMessage(id=first.id, content="Hello")]


@pytest.mark.parametrize(
    "wrong", [{"role": "robot", "content": "x"}, {"role": "user", "content": "x", "name": "y"}, {"content": "x"}]
)
def test_an_unknown_role_or_key_is_refused(wrong):
    with pytest.raises(ValidationError):
        TypeAdapter(Message).validate_python(wrong)


@pytest.mark.parametrize("bare", ["Hi", ("user", "Hi")])
def test_a_bare_text_in_the_place_of_a_message_is_told_what_to_write(bare):
    with pytest.raises(StateUpdateError, match=r"'messages'.*no bare text: write {'role': 'user', 'content': '...'}"):
        talk().invoke({"messages": [bare]})


def test_messages_and_calls_are_frozen():
    with pytest.raises(ValidationError):
        CALL.name = "x"
    with pytest.raises(ValidationError):
        HumanMessage(content="Hi").content = "x"


def test_usage_adds_up():
    assert Usage(input_tokens=3, output_tokens=4).total_tokens == 7


def test_a_message_may_stand_alone_in_a_state():
    class Last(BaseModel):
        last: Message | None = None

    @node
    def keep(state: Last) -> dict:
        return {"last": MESSAGES[2]}

    assert Graph(Last).flow(START >> keep >> END).invoke({}).state.last == MESSAGES[2]
