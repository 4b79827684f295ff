"""What a provider would refuse is told, or repaired, before a model is asked (TL-05)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep import ChatHistoryError
from nodestep.agents.history import UNKNOWN_END, checked
from nodestep.chat import AIMessage, HumanMessage, Message, SystemMessage, ToolCall, ToolMessage

HELLO = HumanMessage(content="Hello")


def calls(*ids: str) -> AIMessage:
    return AIMessage(tool_calls=tuple(ToolCall(id=id, name="look") for id in ids))


def result(id: str, content: str = "seen") -> ToolMessage:
    return ToolMessage(content=content, name="look", tool_call_id=id)


@pytest.mark.parametrize(
    "messages",
    [
        [HELLO],
        [SystemMessage(content="Be brief."), HELLO, AIMessage(content="Hi")],
        [HELLO, calls("a", "b"), result("b"), result("a"), AIMessage(content="Done")],
        [HELLO, calls("a", "a"), result("a"), result("a")],
        [HELLO, calls(""), result(""), calls("a"), result("a"), HELLO],
        [HELLO, calls("a"), result("a"), calls("a"), result("a")],
    ],
)
def test_a_whole_history_passes_and_is_left_as_it_is(messages):
    assert checked(messages) == messages


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "no message of a person"),
        ([SystemMessage(content="Be brief.")], "no message of a person"),
        ([HELLO, calls("a")], "the call 'a' has no result before message 2"),
        ([HELLO, calls("a"), HELLO, result("a")], "the call 'a' has no result before message 2; message 3 is a result"),
        ([HELLO, calls("a", "b"), result("a"), AIMessage(content="Hi")], "the call 'b' has no result before message 3"),
        ([HELLO, calls("a", "a"), result("a")], "the call 'a' has no result"),
        ([HELLO, result("a")], "message 1 is a result of the call 'a' of tool 'look', which has no call"),
        ([HELLO, calls("a"), result("a"), result("a")], "has no call before it or one already"),
    ],
)
def test_what_is_wrong_with_a_history_is_told_with_its_place(messages, why):
    with pytest.raises(ChatHistoryError, match=why) as caught:
        checked(messages)
    assert "repair_history=True" in str(caught.value)


def test_a_call_without_a_result_gets_one_that_says_that_nobody_knows():
    assert checked([HELLO, calls("a"), HELLO], repair=True) == [HELLO, calls("a"), result("a", UNKNOWN_END), HELLO]


def test_a_result_that_stands_elsewhere_is_moved_behind_its_call():
    assert checked([HELLO, calls("a"), HELLO, result("a")], repair=True) == [HELLO, calls("a"), result("a"), HELLO]


def test_a_result_without_a_call_is_left_out():
    assert checked([result("x"), HELLO, calls("a"), result("a"), result("a")], repair=True) == [
        HELLO,
        calls("a"),
        result("a"),
    ]


ids = st.sampled_from(["", "a", "b"])
messages = st.lists(
    st.one_of(
        st.just(HELLO),
        st.just(AIMessage(content="Hi")),
        st.builds(result, ids),
        st.builds(lambda some: calls(*some), st.lists(ids, max_size=3)),
    ),
    max_size=12,
)


@given(messages)
def test_any_messages_are_repaired_to_a_whole_history_that_stays_as_it_is(found: list[Message]):
    whole = checked([HELLO, *found], repair=True)
    assert checked(whole) == whole
    assert [m for m in whole if not isinstance(m, ToolMessage)] == [
        HELLO,
        *(m for m in found if not isinstance(m, ToolMessage)),
    ]
    wanted = Counter(call.id for m in found if isinstance(m, AIMessage) for call in m.tool_calls)
    assert Counter(m.tool_call_id for m in whole if isinstance(m, ToolMessage)) == wanted


@given(messages, messages)
def test_what_is_known_to_be_whole_is_not_looked_at_again(first: list[Message], more: list[Message]):
    known = checked([HELLO, *first], repair=True)
    told = [reason(known + more, begin=len(known)), reason(known + more)]
    assert told[0] == told[1]


def reason(messages: list[Message], **known: int) -> str | None:
    try:
        checked(messages, **known)  # type: ignore[arg-type]
    except ChatHistoryError as error:
        return str(error)
    return None
