"""What fails in a call that nobody waits for any more is not reported as an error that was lost."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any

import pytest

from nodestep import END, START, Graph, NodeContext, node
from tests.nesting.inside import Log, chain


class LateError(Exception):
    pass


def test_an_error_of_a_plain_node_in_a_call_that_was_cancelled_is_no_lost_one():
    lost: list[Any] = []
    raised: list[weakref.ref[LateError]] = []

    async def go() -> None:
        loop, begun, goes_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
        loop.set_exception_handler(lambda _, context: lost.append(context["message"]))

        @node
        def late(state: Log) -> None:
            loop.call_soon_threadsafe(begun.set)
            assert goes_on.wait(20)
            error = LateError()
            raised.append(weakref.ref(error))
            raise error

        inner = chain("inner", late)

        @node
        async def outer(state: Log, ctx: NodeContext) -> None:
            call = asyncio.create_task(ctx.call(inner, {}, id="x"))
            await begun.wait()
            call.cancel()
            raise LookupError("the node ends first")

        with pytest.raises(LookupError):
            await Graph(Log).flow(START >> outer >> END).ainvoke({})
        goes_on.set()
        while not raised or raised[0]() is not None:  # until nobody holds it
            await asyncio.sleep(0)
            gc.collect()

    asyncio.run(go())
    assert lost == []
