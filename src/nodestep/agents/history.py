"""The messages of a conversation as providers want them: every call of a tool has exactly one result, right behind it.

A provider refuses everything else, and with it every later turn of the thread. So it is told, or repaired, before a model
is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..chat import AIMessage, Message, ToolCall, ToolMessage
from ..errors import ChatHistoryError

UNKNOWN_END = (
    "Tool error: this call was cut off. Its result is not known, and neither is whether it did anything. Look before you call "
    "it again."
)


def checked(messages: list[Message], *, repair: bool = False, begin: int = 0) -> list[Message]:
    """The messages, once they are known to be ones that a model can go on from; with `repair`, made so. The first `begin`
    are known to be so. Raises ChatHistoryError, naming every place."""
    problems = list(_problems(messages, begin))
    if problems and repair:
        messages = _repaired(messages)
        problems = list(_problems(messages))
    if problems:
        raise ChatHistoryError(
            f"The messages are none that a model can go on from: {'; '.join(problems)}. Mend them with update_state, or pass "
            "repair_history=True to the model_node."
        )
    return messages


def _problems(messages: list[Message], begin: int = 0) -> Iterator[str]:
    if all(message.role == "system" for message in messages):
        yield "there is no message of a person, a model or a tool"
    open_calls: list[str] = []
    for place, message in enumerate(messages[begin:], begin):
        if message.role == "tool":
            if message.tool_call_id in open_calls:
                open_calls.remove(message.tool_call_id)
            else:
                yield f"message {place} is a result of {_named(message)}, which has no call before it or one already"
            continue
        if open_calls:
            yield from _unanswered(open_calls, place)
        open_calls = [call.id for call in message.tool_calls] if message.role == "assistant" else []
    yield from _unanswered(open_calls, len(messages))


def _unanswered(calls: Iterable[str], place: int) -> Iterator[str]:
    for id in calls:
        yield f"the call {id[:80]!r} has no result before message {place}"


def _named(message: ToolMessage) -> str:
    return f"the call {message.tool_call_id[:80]!r} of tool {message.name[:80]!r}"


def _repaired(messages: list[Message]) -> list[Message]:
    """The messages with a result for every call, right behind it: results that stand elsewhere are moved there, results
    without a call are left out, and a call without a result gets one that says so."""
    results: dict[str, list[ToolMessage]] = {}
    for message in messages:
        if isinstance(message, ToolMessage):
            results.setdefault(message.tool_call_id, []).append(message)
    whole: list[Message] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            continue
        whole.append(message)
        if isinstance(message, AIMessage):
            whole.extend(_result_of(call, results) for call in message.tool_calls)
    return whole


def _result_of(call: ToolCall, results: dict[str, list[ToolMessage]]) -> ToolMessage:
    found = results.get(call.id)
    return found.pop(0) if found else ToolMessage(content=UNKNOWN_END, name=call.name, tool_call_id=call.id)
