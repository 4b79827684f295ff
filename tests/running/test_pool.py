"""Functions in threads: whose turn it is, and what becomes of those whose caller is gone."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable

import pytest

from nodestep.runtime import pool as pools
from nodestep.runtime.pool import Pool

from .making import PATIENCE_S, run, soon


async def turns(n: int = 10) -> None:
    """Let everything in the loop that can go on do so."""
    for _ in range(n):
        await asyncio.sleep(0)


def test_a_function_gets_the_callers_context_and_its_result_comes_back():
    pool = Pool("test", limit=1)

    assert run(_waits_for(pool, divmod, 7, 2)) == (3, 1)


def test_what_a_function_raises_comes_back():
    def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run(_waits_for(Pool("test", limit=1), fails))


def test_a_function_that_raises_stop_iteration_ends_no_coroutine():
    def stops() -> None:
        raise StopIteration

    with pytest.raises(RuntimeError):
        run(_waits_for(Pool("test", limit=1), stops))


def test_what_comes_beyond_the_limit_waits_its_turn_in_order():
    pool, go, ran = Pool("test", limit=1), threading.Event(), list[int]()

    async def calls() -> None:
        first = asyncio.ensure_future(_waits_for(pool, soon, go))
        others = [asyncio.ensure_future(_waits_for(pool, ran.append, number)) for number in range(5)]
        await turns()
        go.set()
        await asyncio.gather(first, *others)

    run(calls())
    assert ran == [0, 1, 2, 3, 4]


def test_a_function_that_another_one_waits_for_is_not_held_back_by_the_limit():
    pool = Pool("test", limit=1)

    def outer() -> int:
        return asyncio.run(_waits_for(pool, int, "5"))

    async def calls() -> list[int]:
        return await asyncio.gather(_waits_for(pool, outer), _waits_for(pool, outer))

    assert run(calls()) == [5, 5]


def test_a_function_that_waits_for_a_thread_is_dropped_with_its_caller():
    pool, go, ran = Pool("test", limit=1), threading.Event(), list[str]()

    async def calls() -> None:
        first = asyncio.ensure_future(_waits_for(pool, soon, go))
        second = asyncio.ensure_future(_waits_for(pool, ran.append, "second"))
        await turns()
        second.cancel("too long")
        with pytest.raises(asyncio.CancelledError):
            await second
        go.set()
        await first
        await _waits_for(pool, ran.append, "third")

    run(calls())
    assert ran == ["third"]


def test_a_caller_who_is_cancelled_does_not_wait_for_the_function():
    pool, begun, go, ended = Pool("test", limit=1), threading.Event(), threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        soon(go)
        ended.set()

    async def calls() -> None:
        call = asyncio.ensure_future(_waits_for(pool, slow))
        await asyncio.to_thread(soon, begun)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert not ended.is_set()
        go.set()

    run(calls())
    soon(ended)


def test_who_finds_no_thread_is_told():
    class Full(Pool):
        def submit(self, job: pools.Job) -> None:
            raise RuntimeError("can't start new thread")

    with pytest.raises(RuntimeError, match="can't start new thread"):
        run(_waits_for(Full("test", limit=1), int))


def test_calls_that_follow_one_another_share_a_thread():
    pool = Pool("test", limit=8)

    async def calls() -> set[int]:
        return {await _waits_for(pool, threading.get_ident) for _ in range(50)}

    assert len(run(calls())) == 1


def test_a_thread_that_lives_on_holds_nothing_of_its_first_function():
    class Given:
        """What a function is called with."""

    pool = Pool("test", limit=1)

    async def calls() -> weakref.ref[Given]:
        given = Given()
        await pool.run(id, given)
        return weakref.ref(given)

    async def then_another() -> Given | None:
        first = await asyncio.create_task(calls())
        await pool.run(int, "5")
        gc.collect()
        return first()

    assert run(then_another()) is None


def test_a_thread_that_is_idle_for_long_ends(monkeypatch):
    monkeypatch.setattr(pools, "IDLE_S", 0.0)
    pool = Pool("test", limit=1)
    for _ in range(3):
        thread = run(_waits_for(pool, threading.current_thread))
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


async def _waits_for(pool: Pool, function: Callable[..., object], *args: object):
    return await pool.run(function, *args)
