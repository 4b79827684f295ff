"""An endpoint on loopback that speaks the wire format of chat completions, and answers as a test tells it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Reply = Callable[[BaseHTTPRequestHandler], None]


class Endpoint:
    """Answers the n-th request with the n-th of `replies`, and further ones with the last. `requests` holds the bodies that
    came, `headers` their headers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.replies: list[Reply] = []
        self.requests: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.connections: set[tuple[str, int]] = set()
        self.closing = threading.Event()

    def reply_to(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers["content-length"])
        self.requests.append(json.loads(handler.rfile.read(length)))
        self.headers.append({name.lower(): value for name, value in handler.headers.items()})
        self.connections.add(handler.client_address)
        self.replies[min(len(self.requests), len(self.replies)) - 1](handler)


@contextmanager
def serving(*replies: Reply) -> Iterator[Endpoint]:
    """An endpoint that answers so, while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            endpoint.reply_to(self)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}/v1")
    endpoint.replies = list(replies)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def answer(status: int, body: bytes, content_type: str = "application/json", **headers: str) -> Reply:
    """A whole response."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-type", content_type)
        handler.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return reply


def refused(status: int, message: str = "no", **headers: str) -> Reply:
    """An error, in the form that providers give it."""
    error = {"error": {"message": message, "type": "some_error", "code": None}}
    return answer(status, json.dumps(error).encode(), **headers)


def said(
    content: str | None = None, *, finish_reason: str = "stop", calls: list[Json] | None = None, **more: Any
) -> Reply:
    """A completion."""
    message = {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {}), **more}
    body = {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
    }
    return answer(200, json.dumps(body).encode())


def call(id: str, name: str, arguments: str) -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def delta(finish_reason: str | None = None, **said: Any) -> Json:
    """A chunk of a stream."""
    return {
        "id": "c-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "tiny-1",
        "choices": [{"index": 0, "delta": said, "finish_reason": finish_reason}],
    }


USAGE = {**delta(), "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}}


def streamed(*chunks: Json | bytes, done: bool = True) -> Reply:
    """A stream of server-sent events. Without `done` the connection ends in the middle of it."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        for chunk in chunks:
            text = chunk if isinstance(chunk, bytes) else json.dumps(chunk).encode()
            handler.wfile.write(b"data: " + text + b"\n\n")
        if done:
            handler.wfile.write(b"data: [DONE]\n\n")

    return reply


def cut_off(beginning: bytes) -> Reply:
    """A stream of which only the beginning comes: the connection goes while a piece of known size is on its way."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("content-length", str(len(beginning) + 100))
        handler.end_headers()
        handler.wfile.write(beginning)
        handler.close_connection = True

    return reply


def hung_up(handler: BaseHTTPRequestHandler) -> None:
    """No response at all: the connection goes."""
    handler.close_connection = True


def silent(endpoint: Endpoint) -> Reply:
    """No response until the endpoint closes."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        endpoint.closing.wait()
        handler.close_connection = True

    return reply
