"""A chat model behind any endpoint that speaks OpenAI's chat completions, through the official client.

The client is the extra `nodestep[openai]`, and loaded when an `OpenAIChat` is made.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import GraphConfigError, ModelProviderError, did_you_mean
from .protocol import ChatRequest, ChatResponse, ChatStreamChunk
from .wire import chunks_from_wire, request_to_wire, response_from_wire

if TYPE_CHECKING:
    from openai import AsyncOpenAI

SHOWN_CHARACTERS = 500
"""So much of what a provider says about an error is passed on."""
_OURS = (
    "self",
    "messages",
    "model",
    "tools",
    "tool_choice",
    "response_format",
    "stream",
    "stream_options",
    "n",
    "timeout",
)


class OpenAIChat:
    """The model `model` at `base_url`, e.g. `"http://localhost:8080/v1"`; `None` is the environment's `OPENAI_BASE_URL`, else
    OpenAI. `api_key=None` is the environment's `OPENAI_API_KEY`; an endpoint at a `base_url` may do without.

    `timeout_s` is how long the endpoint may stay silent. A request that fails in passing (429, 5xx, no connection, silence)
    is sent again up to `max_retries` times, after the endpoint's `retry-after` or a growing pause; a stream that has begun
    is not. `parameters` go along with every request, such as `temperature=0`; what the client does not know goes into
    `extra_body={...}`.

    Raises GraphConfigError without the extra, without a key, or for an unknown parameter. Every failure of a request is a
    ModelProviderError, a stream that breaks off included.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout_s: float = 120.0,
        max_retries: int = 2,
        **parameters: Any,
    ) -> None:
        _check_parameters(parameters)
        self.model = model
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        self._api_key = api_key or os.environ.get("OPENAI_API_KEY") or ("none" if base_url else "")
        if not self._api_key:
            raise GraphConfigError(
                "OpenAIChat has no key. Set OPENAI_API_KEY, or pass api_key=...; an endpoint that asks for none needs "
                "base_url=... alone."
            )
        self.timeout_s = timeout_s
        self.max_retries = max_retries
        self._parameters = parameters
        self._clients: dict[asyncio.AbstractEventLoop, tuple[AsyncOpenAI, AsyncGenerator[AsyncOpenAI]]] = {}

    def __repr__(self) -> str:
        return f"OpenAIChat({self.model!r}, {self._place!r})"

    async def complete(self, request: ChatRequest) -> ChatResponse:
        client = await self._client()
        body = request_to_wire(request)
        with self._told():
            completion = await client.chat.completions.create(model=self.model, **self._parameters, **body)
            return response_from_wire(_body(completion), completion)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatStreamChunk]:
        client = await self._client()
        body = request_to_wire(request)
        finished = False
        with self._told():
            stream = await client.chat.completions.create(
                model=self.model,
                stream=True,
                stream_options={"include_usage": True},
                **self._parameters,
                **body,
            )
            async with stream:
                async for part in stream:
                    for chunk in chunks_from_wire(_body(part), part):
                        finished = finished or chunk.finish_reason is not None
                        yield chunk
        if not finished:
            raise ModelProviderError(f"The stream of {self!r} broke off before the response was whole. Try again.")

    async def _client(self) -> AsyncOpenAI:
        """The client of the running event loop: its connections cannot be used in another."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            opened = self._open(loop)
            self._clients[loop] = await anext(opened), opened
        return self._clients[loop][0]

    async def _open(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[AsyncOpenAI]:
        """A client until its event loop ends, which then closes every async generator that was begun in it."""
        from openai import AsyncOpenAI

        client = AsyncOpenAI(
            api_key=self._api_key, base_url=self.base_url, timeout=self.timeout_s, max_retries=self.max_retries
        )
        try:
            yield client
        finally:
            del self._clients[loop]
            await client.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Whatever goes wrong with the provider, as a ModelProviderError."""
        from openai import APIError, APIStatusError, APITimeoutError, OpenAIError

        try:
            yield
        except APITimeoutError as error:
            raise self._error(f"{self!r} stayed silent for longer than {self.timeout_s:g} s.") from error
        except APIStatusError as error:
            said = f"{self!r} answered with status {error.status_code}: {_message(error.body)}"
            raise self._error(said, error.status_code) from error
        except APIError as error:
            cause = f" ({type(error.__cause__).__name__})" if error.__cause__ else ""
            raise self._error(f"{self!r} failed: {error.message}{cause}") from error
        except OpenAIError as error:
            raise self._error(f"{self!r} failed: {error}") from error
        except ValueError as error:
            raise self._error(
                f"{self!r} answered with something that is no chat completion ({type(error).__name__}). Look whether "
                "base_url is right; it mostly ends with /v1."
            ) from error

    def _error(self, message: str, status_code: int | None = None) -> ModelProviderError:
        return ModelProviderError(message.replace(self._api_key, "***"), status_code=status_code)

    @property
    def _place(self) -> str:
        """The endpoint as errors name it: without a user and a password in it, and without a query."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _check_parameters(parameters: dict[str, Any]) -> None:
    try:
        from openai.resources.chat.completions import AsyncCompletions
    except ImportError:
        raise GraphConfigError(
            "OpenAIChat needs the package openai, which is not installed. Write: pip install 'nodestep[openai]'"
        ) from None
    known = [name for name in inspect.signature(AsyncCompletions.create).parameters if name not in _OURS]
    for name in parameters:
        if name not in known:
            raise GraphConfigError(
                f"OpenAIChat has no parameter {name!r}.{did_you_mean(name, known)} What only your endpoint knows goes into "
                f"extra_body={{{name!r}: ...}}."
            )


def _body(value: Any) -> dict[str, Any]:
    """What the client read, as a dict again; it does not check what it reads."""
    if not hasattr(value, "to_dict"):
        raise ValueError("no JSON object")
    return value.to_dict(warnings=False)  # type: ignore[no-any-return]


def _message(body: object) -> str:
    """What a provider says about an error, shortened."""
    said = body.get("message") if isinstance(body, dict) else body
    if isinstance(said, dict):
        said = said.get("message")
    return str(said or "no reason given")[:SHOWN_CHARACTERS]
