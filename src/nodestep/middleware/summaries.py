"""Long conversations, shortened for the model: what was said long ago goes as a summary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from ..chat import AIMessage, Chat, ChatRequest, HumanMessage, Message, SystemMessage, ToolMessage
from ..errors import GraphConfigError
from ..hooks import Middleware, ModelMiddlewareContext, Replacement

PROMPT = (
    "You shorten conversations. Write what somebody must know to go on with this one: what the person wants, what was found "
    "out and done, with every name, number and id that may still matter, and what is open. Write nothing else."
)
_SUMMARY, _UNTIL = "summary", "until"


class SummarizationMiddleware(Middleware):
    """Keeps the model's requests short. Once more than `after_messages` messages would go to the model, all but the last
    `keep_messages` or so are summarized by `chat`, and the model is shown the summary in their place; a call of a tool is
    never parted from its result. The stored messages stay as they are. The summary is kept in the thread, so each message
    is summarized once, also when the thread goes on in another process.

    `prompt` is what `chat` is told to do. Raises GraphConfigError for numbers that make no sense.
    """

    def __init__(self, chat: Chat, *, after_messages: int = 60, keep_messages: int = 20, prompt: str = PROMPT) -> None:
        if not isinstance(chat, Chat):
            raise GraphConfigError(f"SummarizationMiddleware takes a chat model, not {type(chat).__name__}.")
        if not 1 <= keep_messages < after_messages:
            raise GraphConfigError(
                f"SummarizationMiddleware(after_messages={after_messages}, keep_messages={keep_messages}) makes no sense: "
                "keep_messages is at least 1, and less than after_messages."
            )
        self._chat = chat
        self._after = after_messages
        self._keep = keep_messages
        self._prompt = prompt

    async def before_model(self, ctx: ModelMiddlewareContext) -> Replacement | None:
        prompts, said = _parted(ctx.request.messages)
        summary: str = ctx.memory.get(_SUMMARY, "")
        begin = _place_after(said, ctx.memory.get(_UNTIL))
        if begin == 0:
            summary = ""  # what it covered is no longer there
        end = _cut(said, len(said) - self._keep) if len(said) - begin > self._after else begin
        if end > begin and said[end - 1].id is not None:
            shorter = await self._summarized(summary, said[begin:end])
            if shorter:
                begin, summary = end, shorter
                ctx.memory[_SUMMARY], ctx.memory[_UNTIL] = summary, said[end - 1].id
        if not summary:
            return None
        reminder = HumanMessage(content=f"Summary of our conversation so far:\n{summary}")
        return Replacement(replace(ctx.request, messages=[*prompts, reminder, *said[begin:]]))

    async def _summarized(self, before: str, messages: Sequence[Message]) -> str:
        text = "\n".join(([f"summary so far: {before}"] if before else []) + [_told(message) for message in messages])
        request = ChatRequest([SystemMessage(content=self._prompt), HumanMessage(content=text)])
        return (await self._chat.complete(request)).content.strip()


def _parted(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """The system messages that a request begins with, and the rest."""
    at = next((place for place, message in enumerate(messages) if message.role != "system"), len(messages))
    return list(messages[:at]), list(messages[at:])


def _place_after(messages: Sequence[Message], id: str | None) -> int:
    """The place behind the message of this id; 0 where there is none."""
    return next((place + 1 for place, message in enumerate(messages) if id is not None and message.id == id), 0)


def _cut(messages: Sequence[Message], place: int) -> int:
    """The nearest place from here back at which no call of a tool is parted from its result."""
    while place > 0 and isinstance(messages[place], ToolMessage):
        place -= 1
    return place


def _told(message: Message) -> str:
    """A message as a line of the conversation."""
    match message:
        case ToolMessage():
            return f"result of {message.name}: {message.content}"
        case AIMessage(tool_calls=calls):
            asked = "".join(f" [calls {call.name} with {json.dumps(call.arguments)}]" for call in calls)
            return f"assistant: {message.content or message.refusal or ''}{asked}"
        case _:
            return f"{message.role}: {message.content}"
