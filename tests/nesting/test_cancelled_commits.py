"""A call that is cancelled while its superstep is being committed: what was written is not done again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from nodestep import END, START, Graph, NodeContext, Retry, SQLiteStateStore, node
from nodestep.stores.base import Append, Receipt, Refused, Write
from nodestep.testing import DyingStore
from tests.nesting.inside import Log, chain, says


class Held(DyingStore):
    """Holds one write back until it is let go, and says when it has come to it."""

    def __init__(self, store: SQLiteStateStore, at: int, reached: Callable[[], object]) -> None:
        super().__init__(store, at=1 << 30)
        self.held = at
        self.reached = reached
        self.let_go = threading.Event()

    def commit(self, writes: Sequence[Write | Append]) -> list[Receipt | Refused]:
        if writes and self.writes + 1 == self.held:
            self.reached()
            assert self.let_go.wait(20)
        return super().commit(writes)


def test_a_task_that_ended_while_its_call_was_cancelled_is_recorded(tmp_path: Path) -> None:
    ran: list[str] = []

    async def go() -> list[str]:
        loop, reached, ended = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        file = SQLiteStateStore(tmp_path / "threads.db")
        store = Held(file, 2, lambda: loop.call_soon_threadsafe(reached.set))

        @node
        async def beside(state: Log) -> dict[str, Any]:
            ran.append("beside")
            ended.set()
            return {"log": ["beside"]}

        first, second = chain("first", says("one", ran), says("two", ran)), chain("second", beside, says("last", ran))

        @node
        async def outer(state: Log, ctx: NodeContext) -> dict[str, Any]:
            begun = asyncio.create_task(ctx.call(first, {}, id="x"))
            await reached.wait()
            waits = asyncio.create_task(ctx.call(second, {}, id="y"))
            await ended.wait()
            if not store.let_go.is_set():
                store.let_go.set()
                raise ValueError("the first run ends while a commit waits for the one before")
            return {"log": [*(await begun).log, *(await waits).log]}

        graph = Graph(Log, state_store=store).flow(START >> outer >> END)
        with pytest.raises(ValueError, match="the first run ends"):
            await graph.ainvoke({}, thread_id="t")
        done = await graph.ainvoke(None, thread_id="t")
        file.close()
        return done.state.log

    assert asyncio.run(go()) == ["one", "two", "beside", "last"]
    assert sorted(ran) == sorted(["one", "two", "beside", "last"])


def test_a_superstep_that_was_written_while_its_call_was_cancelled_is_not_run_again_by_a_retry(tmp_path: Path) -> None:
    ran: list[str] = []
    inner = chain("inner", says("one", ran), says("two", ran), says("three", ran))

    async def go(held: int) -> Any:
        del ran[:]
        loop, reached = asyncio.get_running_loop(), asyncio.Event()
        file = SQLiteStateStore(tmp_path / f"{held}.db")
        store = Held(file, held, lambda: loop.call_soon_threadsafe(reached.set))

        @node(retry=Retry(max_attempts=2, initial_delay_s=0))
        async def outer(state: Log, ctx: NodeContext) -> dict[str, Any]:
            call = asyncio.create_task(ctx.call(inner, {}, id="x"))
            if ctx.attempt == 1:
                await reached.wait()
                store.let_go.set()
                raise ValueError("the first attempt ends while the call is being written")
            return {"log": (await call).log}

        graph = Graph(Log, state_store=store).flow(START >> outer >> says("after") >> END)
        done = await graph.ainvoke({}, thread_id="t")
        kept = await file.load("t")
        file.close()
        return done.data["log"], kept["log"]

    for held in (2, 3):
        live, stored = asyncio.run(go(held))
        assert live == stored == ["one", "two", "three", "after"]
        assert ran == ["one", "two", "three"]
