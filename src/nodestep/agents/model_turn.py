"""One turn of a model inside a task: the hooks around it, the request, and the response whole or in pieces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import TypeAdapter

from ..chat import Chat, ChatRequest, ChatResponse, ChatStreamChunk, gathered
from ..errors import GraphExecutionError
from ..hooks.contexts import ModelMiddlewareContext, Replacement
from ..model.canonical import fingerprint
from ..model.json import JsonObject
from ..model.limits import to_json
from ..runtime.context import TaskScope
from ..runtime.ends import check_not_swallowed
from .history import checked

T = TypeVar("T", ChatRequest, ChatResponse)

ANSWERED = "model"
"""The key of a task's cache under which the response stays while hooks look at it."""
_RESPONSE: TypeAdapter[ChatResponse] = TypeAdapter(ChatResponse)


class ModelTurn:
    """A turn of `chat` in a task."""

    def __init__(self, scope: TaskScope, chat: Chat, stream: bool) -> None:
        self._scope = scope
        self._chat = chat
        self._stream = stream

    async def ask(self, request: ChatRequest) -> ChatResponse:
        """What the model answers, after all hooks. Raises ChatHistoryError where a hook leaves messages that it cannot go on
        from.

        A hook after the model may ask a person. The response is kept in the task's cache from then on, so that the model
        is not asked again for the same request when the answer is in.
        """
        hooks = self._scope.at.hooks
        for hook in hooks.before_model:
            asked = request
            request = await self._hooked(hook, asked, None, asked)
            if request is not asked:
                checked(list(request.messages))
        check_not_swallowed(self._scope)
        if not hooks.after_model and not hooks.after_node:
            return await self._answer(request)
        response = await self._answer_once(request)
        for hook in hooks.after_model:
            response = await self._hooked(hook, request, response, response)
        check_not_swallowed(self._scope)
        return response

    def forget(self) -> None:
        """The response is of no use: a further attempt asks the model anew."""
        if self._scope.work.cache or self._scope.at.hooks.after_model or self._scope.at.hooks.after_node:
            self._scope.cache.pop(ANSWERED, None)

    async def _answer_once(self, request: ChatRequest) -> ChatResponse:
        asked = _fingerprint(request)
        kept = self._scope.cache.get(ANSWERED)
        if kept is not None and kept["asked"] == asked:
            return _RESPONSE.validate_python(kept["response"])
        response = await self._answer(request)
        self._scope.cache[ANSWERED] = {"asked": asked, "response": _to_json(response)}
        return response

    async def _answer(self, request: ChatRequest) -> ChatResponse:
        if not self._stream:
            response = await self._chat.complete(request)
            if not isinstance(response, ChatResponse):
                raise GraphExecutionError(
                    f"{self._chat!r} answered with {type(response).__name__}. Its complete() returns a ChatResponse."
                )
            return response
        chunks: list[ChatStreamChunk] = []
        scope, listens = self._scope, self._scope.run.listens("tokens")
        async for chunk in self._chat.stream(request):
            chunks.append(chunk)
            if listens:
                scope.check_open("emit")
                scope.at.emit("tokens", chunk, scope.node, scope.task.id)
        return gathered(chunks)

    async def _hooked(
        self, hook: Callable[..., Any], request: ChatRequest, response: ChatResponse | None, value: T
    ) -> T:
        """The request, or the response, as a hook leaves it."""
        result = hook(self._context(hook, request, response))
        answer = await result if isinstance(result, Awaitable) else result
        if answer is None:
            return value
        given = answer.value if isinstance(answer, Replacement) else answer
        if not isinstance(answer, Replacement) or not isinstance(given, type(value)):
            raise GraphExecutionError(
                f"{hook.__qualname__} returned {type(given).__name__}. Return None to leave things as they are, or "
                f"Replacement(...) with a {type(value).__name__} to put it in the place of the one it was shown."
            )
        return given

    def _context(
        self, hook: Callable[..., Any], request: ChatRequest, response: ChatResponse | None
    ) -> ModelMiddlewareContext:
        scope = self._scope
        return ModelMiddlewareContext(self._chat.model, request, response, *scope.told(), scope.memory_for(hook))


def _fingerprint(request: ChatRequest) -> str:
    """The same for the same request; another one after the state was edited, say."""
    return fingerprint(to_json(request, "The request", max_bytes=1 << 30))


def _to_json(response: ChatResponse) -> JsonObject:
    """A response as the cache keeps it: without the provider's own object."""
    stored: JsonObject = to_json(replace(response, raw=None), "The model's response")
    return stored
