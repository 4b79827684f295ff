"""Clocks that jump by a day, forwards or backwards, between any two commits: no order and no exclusion depends on them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from nodestep import END, START, Graph, InMemoryStateStore, SQLiteStateStore, interrupt, node
from tests.durability.lives import Life, finish
from tests.durability.shapes import LOGS, SHAPES, THREAD
from tests.persistence.programs.effects import Effects
from tests.stores.writing import StillClock

DAY_MS = 86_400_000
JUMPS = {"forwards": DAY_MS, "backwards": -DAY_MS}


class Jumping:
    """Lets a clock jump before the `at`-th commit of a store, or before each."""

    def __init__(self, store: Any, clock: StillClock, jump_ms: int, at: int | None = None) -> None:
        self.store = store
        self.clock = clock
        self.jump_ms = jump_ms
        self.at = at
        self.commits = 0

    def commit(self, writes: Any) -> Any:
        self.commits += 1
        if self.at in (None, self.commits):
            self.clock.wall += self.jump_ms
            if self.at is None:
                self.jump_ms = -self.jump_ms * 2
        return self.store.commit(writes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


def opened(kind: str, path: Any, clock: StillClock) -> Any:
    return InMemoryStateStore(clock=clock) if kind == "memory" else SQLiteStateStore(path, clock=clock)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_thread_comes_to_its_end_whenever_the_clock_jumps(shape, jump, kind, quick):
    for at in count(1):
        clock, effects = StillClock(), Effects(quick / f"effects {at}")
        with opened(kind, quick / f"{at}.db", clock) as inner:
            store = Jumping(inner, clock, JUMPS[jump], at)
            finish(SHAPES[shape](store, effects), store, effects)
            Life(inner, effects).ends(LOGS[shape])
            sequences = [event.sequence for event in asyncio.run(inner.history(THREAD)).events]
            assert sequences == sorted(sequences)
        if store.commits < at:
            return


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_with_a_clock_that_jumps_at_every_commit_all_lists_keep_the_order_of_the_commits(kind, quick):
    @node
    def ask(state: dict[str, Any]) -> Any:
        return {"answer": interrupt(state["n"], id="ok")}

    clock, threads = StillClock(), [f"t{n}" for n in range(8)]
    with opened(kind, quick / "t.db", clock) as inner:
        store = Jumping(inner, clock, DAY_MS)
        graph = Graph(dict, state_store=store).flow(START >> ask >> END)
        for n, thread in enumerate(threads):
            graph.invoke({"n": n}, thread_id=thread)
        assert [item.thread_id for item in asyncio.run(inner.pending()).items] == threads
        for thread in threads:
            asyncio.run(graph.answer(thread, {"ask:ok": thread}))
        assert [item.value for item in asyncio.run(inner.audit()).items] == threads
        assert [item.thread_id for item in asyncio.run(inner.threads()).items] == threads[::-1]
        assert asyncio.run(inner.pending()).items == ()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("jump", JUMPS)
def test_a_lease_is_held_whenever_the_wall_clock_jumps(jump, kind, quick):
    """The lease is counted by another clock, which nobody can set."""
    from nodestep import ThreadBusyError

    clock = StillClock()
    with opened(kind, quick / "t.db", clock) as store:
        refused: list[str] = []

        @node
        def work(state: dict[str, Any]) -> None:
            clock.wall += JUMPS[jump]
            try:
                graph.invoke(None, thread_id="t")
            except ThreadBusyError as error:
                refused.append(str(error))

        graph = Graph(dict, state_store=store).flow(START >> work >> END)
        graph.invoke({}, thread_id="t")
    assert len(refused) == 1


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_only_a_deadline_is_read_from_the_clock_and_its_passing_is_recorded_as_such(kind, quick):
    @node
    def ask(state: dict[str, Any]) -> Any:
        kept = interrupt("for ever", id="kept")
        return {"answers": [kept, interrupt("soon", id="soon", expires=timedelta(hours=1), default="too late")]}

    clock = StillClock()
    with opened(kind, quick / "t.db", clock) as store:
        graph = Graph(dict, state_store=store).flow(START >> ask >> END)
        graph.invoke({}, thread_id="t")
        clock.wall += 1000 * DAY_MS
        assert [item.id for item in asyncio.run(store.pending()).items] == ["kept"]
        asyncio.run(graph.answer("t", {"ask:kept": "late"}))
        assert graph.invoke(None, thread_id="t").status == "interrupted"
        clock.wall += DAY_MS
        assert asyncio.run(store.pending()).items == ()
        assert graph.invoke(None, thread_id="t").data == {"answers": ["late", "too late"]}
        assert [item.source for item in asyncio.run(store.audit()).items] == ["api", "expiry"]
