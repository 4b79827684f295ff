"""What must not grow, counted and not timed. Ids are those of the collection of cases."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    SQLiteStateStore,
    interrupt,
    node,
    when,
)
from nodestep.stores.base import New, Status
from nodestep.testing.writes import question, write
from tests.running.making import Log, does, of, run

MEGABYTE = 1 << 20


def test_pf_01_what_comes_before_twenty_questions_in_a_row_runs_once():
    ran = {"expensive": 0, "passes": 0}

    def body(state: Log, ctx: NodeContext) -> Any:
        ran["passes"] += 1
        if "found" not in ctx.cache:
            ran["expensive"] += 1
            ctx.cache["found"] = "found"
        return {"log": [ctx.cache["found"], *(interrupt(n, id=f"q{n}") for n in range(20))]}

    store = InMemoryStateStore()
    graph = of(START >> does("ask", body) >> END, state_store=store)
    result = graph.invoke({}, thread_id="t")
    while result.interrupts:
        result = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert result.state.log == ["found", *["yes"] * 20]
    assert ran == {"expensive": 1, "passes": 21}


class Big(BaseState):
    book: str = ""
    n: int = 0


def test_pf_03_a_state_of_five_megabytes_is_not_written_again_with_each_step(tmp_path: Path):
    """One copy is that of the input, one at most that of a snapshot."""

    def step(state: Big) -> Any:
        if state.n % 10 == 9:
            interrupt(state.n, id="go")
        return {"n": state.n + 1}

    path = tmp_path / "threads.db"
    count = node(step, name="count")
    with SQLiteStateStore(path) as store:
        graph = Graph(Big, state_store=store, max_steps=60).flow(
            START >> count >> when(lambda state: state.n < 50, count, otherwise=END)
        )
        result = graph.invoke({"book": "x" * (5 * MEGABYTE)}, thread_id="t")
        pauses = 0
        while result.interrupts:
            pauses += 1
            result = graph.invoke(None, thread_id="t", resume=Resume("go"))
        assert (result.state.n, pauses) == (50, 5)
        first, *rest = store.records("t", "main", limit=1000)
        assert len(first.body) > 5 * MEGABYTE
        assert max(len(record.body) for record in rest) < 1000
    assert path.stat().st_size < 11 * MEGABYTE


class Counting:
    """A store that notes what it is asked to do."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        if not callable(found) or name == "now_ms":
            return found

        def ask(*args: Any, **options: Any) -> Any:
            self.asked.append(name)
            return found(*args, **options)

        return ask


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_pf_04_a_page_of_what_waits_over_ten_thousand_threads_loads_no_state(kind: str, tmp_path: Path):
    store: Any = InMemoryStateStore() if kind == "memory" else SQLiteStateStore(tmp_path / "threads.db")
    with store:
        for start in range(0, 10_000, 1000):
            store.commit(
                [
                    write(New("g"), Status.INTERRUPTED, f"t{n}", record=b"[]", opens=(question(),))
                    if n % 50 == 0
                    else write(New("g"), Status.COMPLETED, f"t{n}", record=b"[]")
                    for n in range(start, start + 1000)
                ]
            )
        counting = Counting(store)
        pages = [run(of(START >> does("a", lambda state: None) >> END).pending(limit=20, state_store=counting))]
        assert [item.thread_id for item in pages[0].items] == [f"t{n}" for n in range(0, 1000, 50)]
        while (after := pages[-1].next) is not None:
            pages.append(asyncio.run(store.pending(limit=20, after=after)))
        assert sum(len(page.items) for page in pages) == 200
        assert counting.asked == ["questions"]
