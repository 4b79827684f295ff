"""The lease of a run in this process."""

from __future__ import annotations

import asyncio
import threading

import pytest

from nodestep import END, START, InMemoryStateStore, LeaseLostError, SQLiteStateStore, ThreadBusyError
from nodestep.engine.replay import record_to_bytes
from nodestep.model.event import Continued
from nodestep.stores.base import Receipt, StateStore, Status, Unchanged, Write
from tests.watching import until

from .making import Log, does, forever, of, run, says


def short(kind: str, path, lease_s: float = 0.15) -> InMemoryStateStore | SQLiteStateStore:
    return InMemoryStateStore(lease_s=lease_s) if kind == "memory" else SQLiteStateStore(path / "t.db", lease_s=lease_s)


STORES = pytest.mark.parametrize("kind", ["memory", "sqlite"])


@STORES
@pytest.mark.parametrize("form", ["plain", "async that blocks its loop", "async"])
def test_a_run_keeps_its_lease_whatever_its_node_does(kind, form, tmp_path):
    with short(kind, tmp_path, lease_s=0.6) as store:
        seen = []

        def blocks(state: Log):
            ends = store.now_ms() + 1300
            until(lambda: not _live(store) or store.now_ms() > ends)
            seen.append(_live(store))

        async def blocks_loop(state: Log):
            blocks(state)

        async def waits(state: Log):
            await asyncio.to_thread(blocks, state)

        body = {"plain": blocks, "async": waits}.get(form, blocks_loop)
        of(START >> does("a", body) >> END, state_store=store).invoke({}, thread_id="t")

    assert seen == [True]


def _live(store: StateStore) -> bool:
    head = store.head("t", "main")
    return head is not None and head.live


def steal(store: StateStore) -> None:
    """Take the thread over as another process would, once its lease has ended."""
    head = store.head("t", "main")
    assert head is not None
    guard = Unchanged(head.no, head.epoch, head.sequence)
    record = record_to_bytes([Continued("thief")])
    (answer,) = store.commit([Write("t", "main", guard, Status.RUNNING, record)])
    assert isinstance(answer, Receipt)


class Forgotten:
    """A store whose leases nobody renews, until `renewing` is set."""

    def __init__(self, store) -> None:
        self.store = store
        self.renewing = threading.Event()

    def renew(self, held):
        return self.store.renew(held) if self.renewing.is_set() else [True] * len(held)

    def __getattr__(self, name: str):
        return getattr(self.store, name)


@STORES
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside another"])
def test_a_run_that_lost_its_lease_writes_nothing_more(kind, alone, tmp_path):
    with short(kind, tmp_path) as inner:
        store = Forgotten(inner)

        def body(state: Log):
            until(lambda: not _live(inner))
            steal(inner)

        work = does("work", body)
        graph = of(START >> ([work] if alone else [work, says("x")]) >> says("z") >> END, state_store=store)
        with pytest.raises(LeaseLostError, match="'t'"):
            graph.invoke({}, thread_id="t")

        facts = inner.records("t", "main")
        assert facts[-1].body == record_to_bytes([Continued("thief")])


@STORES
def test_a_run_that_finds_its_lease_lost_cancels_its_tasks(kind, tmp_path):
    cancelled = []
    with short(kind, tmp_path) as inner:
        store = Forgotten(inner)

        async def waits(state: Log):
            try:
                await forever()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

        graph = of(START >> does("w", waits) >> END, state_store=store)

        async def call() -> None:
            task = asyncio.ensure_future(graph.ainvoke({}, thread_id="t"))
            await asyncio.to_thread(until, lambda: inner.head("t", "main") is not None)
            await asyncio.to_thread(until, lambda: not _live(inner))
            steal(inner)
            store.renewing.set()
            with pytest.raises(LeaseLostError):
                await task

        run(call())
    assert cancelled == [True]


@STORES
def test_the_callers_task_is_not_left_cancelled_by_a_lost_lease(kind, tmp_path):
    with short(kind, tmp_path) as inner:
        store = Forgotten(inner)
        inside = asyncio.Event()

        async def waits(state: Log):
            inside.set()
            await forever()

        graph = of(START >> does("w", waits) >> END, state_store=store)

        async def thief() -> None:
            await inside.wait()
            await asyncio.to_thread(until, lambda: not _live(inner))
            steal(inner)
            store.renewing.set()

        async def call() -> int:
            stealing = asyncio.ensure_future(thief())
            with pytest.raises(LeaseLostError):
                await graph.ainvoke({}, thread_id="t")
            await stealing
            task = asyncio.current_task()
            assert task is not None
            return task.cancelling()

        assert run(call()) == 0


def test_a_node_that_calls_its_own_thread_is_told_that_it_is_busy(store):
    def calls(state: Log):
        with pytest.raises(ThreadBusyError, match="'t'"):
            graph.invoke({}, thread_id="t")
        return {"n": 1}

    graph = of(START >> does("a", calls) >> END, state_store=store)

    assert graph.invoke({}, thread_id="t").state.n == 1
