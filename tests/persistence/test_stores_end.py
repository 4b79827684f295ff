"""A store that nobody uses any more is let go."""

from __future__ import annotations

import gc
import weakref

import pytest

from nodestep import END, START, InMemoryStateStore, SQLiteStateStore
from tests.running.making import of, run, says
from tests.watching import until


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_store_is_freed_with_its_last_user(kind, asynchronous, tmp_path):
    graph = of(START >> [says("a"), says("b")] >> says("c") >> END)
    store = InMemoryStateStore(lease_s=0.3) if kind == "memory" else SQLiteStateStore(tmp_path / "t.db", lease_s=0.3)
    if asynchronous:
        run(graph.ainvoke({}, thread_id="t", state_store=store))
    else:
        graph.invoke({}, thread_id="t", state_store=store)
    if isinstance(store, SQLiteStateStore):
        store.close()

    gone = weakref.ref(store)
    del store

    def is_gone() -> bool:
        gc.collect()
        return gone() is None

    until(is_gone)
