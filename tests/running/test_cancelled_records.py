"""A call that is cancelled while its commits are under way keeps what had finished."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from nodestep import END, START, Command, NodeContext, SQLiteStateStore
from tests.watching import Watched

from .making import Log, does, forever, of, run, says, soon


class Gate:
    """Holds back the first commit that has a fact of this kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.reached = threading.Event()
        self.open = threading.Event()

    def __call__(self, facts: list[Any]) -> None:
        if any(type(fact).__name__ == self.kind for fact in facts):
            self.reached.set()
            soon(self.open)


async def turns(n: int = 50) -> None:
    """Let everything in the loop that can go on do so."""
    for _ in range(n):
        await asyncio.sleep(0)


async def cancel(call: asyncio.Task[Any], gate: Gate, when: Callable[[], Any]) -> None:
    """Cancel a call while a commit is held back, then let the commit go."""
    await when()
    await turns()
    call.cancel()
    gate.open.set()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_a_task_that_finished_while_another_recorded_is_kept(tmp_path):
    gate = Gate("OnceRecorded")
    ran: list[str] = []
    finished = asyncio.Event()

    async def a(state: Log):
        ran.append("a")
        await asyncio.to_thread(soon, gate.reached)
        finished.set()
        return {"log": ["a"]}

    async def pay():
        return 1

    async def b(state: Log, ctx: NodeContext):
        await ctx.aonce("pay", pay)
        if not ran.count("again"):
            await forever()
        return {"log": ["b"]}

    _check(tmp_path, gate, [does("a", a), does("b", b)], finished.wait, lambda: ran.append("again"))
    assert ran.count("a") == 1


def test_a_task_whose_record_is_under_way_is_kept(tmp_path):
    gate = Gate("TaskRecorded")
    ran: list[str] = []

    async def b(state: Log):
        if not gate.open.is_set():
            await forever()
        return {"log": ["b"]}

    _check(tmp_path, gate, [says("a", ran), does("b", b)], lambda: asyncio.to_thread(soon, gate.reached))
    assert ran == ["a"]


def _check(
    tmp_path, gate: Gate, nodes: list[Any], when: Callable[[], Any], between: Callable[[], Any] = lambda: None
) -> None:
    with SQLiteStateStore(tmp_path / "threads.db") as inner:
        graph = of(START >> nodes >> says("c") >> END, state_store=Watched(inner, gate))

        async def start() -> None:
            await cancel(asyncio.ensure_future(graph.ainvoke({}, thread_id="t")), gate, when)

        run(start())
        between()
        assert run(graph.ainvoke(None, thread_id="t")).state.log == ["a", "b", "c"]


def test_a_superstep_whose_commit_is_under_way_is_not_repeated(tmp_path):
    gate = Gate("SuperstepCompleted")
    ran: list[str] = []
    with SQLiteStateStore(tmp_path / "threads.db") as inner:
        graph = of(START >> says("a", ran) >> says("b", ran) >> END, state_store=Watched(inner, gate))

        async def start() -> None:
            call = asyncio.ensure_future(graph.ainvoke({}, thread_id="t"))
            await cancel(call, gate, lambda: asyncio.to_thread(soon, gate.reached))

        run(start())

        assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]
    assert ran == ["a", "b"]


def test_a_claim_that_is_under_way_is_given_back(tmp_path):
    gate = Gate("Started")
    with SQLiteStateStore(tmp_path / "threads.db") as inner:
        graph = of(START >> says("a") >> END, state_store=Watched(inner, gate))

        async def start() -> None:
            call = asyncio.ensure_future(graph.ainvoke({}, thread_id="t"))
            await cancel(call, gate, lambda: asyncio.to_thread(soon, gate.reached))

        run(start())
        assert graph.invoke(None, thread_id="t").state.log == ["a"]


def test_outcomes_that_were_committed_with_their_superstep_do_not_come_back_in_the_next(tmp_path):
    gate = Gate("SuperstepCompleted")
    ran: list[str] = []

    def round_and_round(name: str):
        def body(state: Log):
            ran.append(name)
            return Command(
                update={"log": [f"{name}{state.log.count(f'{name}0')}"]}, goto=name if len(state.log) < 2 else END
            )

        return does(name, body, goto=[name])

    with SQLiteStateStore(tmp_path / "threads.db") as inner:
        graph = of(START >> [round_and_round("a"), round_and_round("b")], state_store=Watched(inner, gate))

        async def start() -> None:
            call = asyncio.ensure_future(graph.ainvoke({}, thread_id="t"))
            await cancel(call, gate, lambda: asyncio.to_thread(soon, gate.reached))

        run(start())

        assert run(graph.ainvoke(None, thread_id="t")).state.log == ["a0", "b0", "a1", "b1"]
    assert sorted(ran) == ["a", "a", "b", "b"]


def test_the_loop_goes_on_while_a_cancelled_call_waits_for_its_commit(tmp_path):
    gate = Gate("SuperstepCompleted")
    with SQLiteStateStore(tmp_path / "threads.db") as inner:
        graph = of(START >> says("a") >> says("b") >> END, state_store=Watched(inner, gate))

        async def start() -> None:
            call = asyncio.ensure_future(graph.ainvoke({}, thread_id="t"))
            await asyncio.to_thread(soon, gate.reached)
            call.cancel()
            await turns()  # while the commit is held back
            assert not call.done()
            gate.open.set()
            with pytest.raises(asyncio.CancelledError):
                await call

        run(start())
