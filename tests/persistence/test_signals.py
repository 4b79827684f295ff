"""Control-C in a process that runs a thread: the program hears of it, and the thread can be continued."""

from __future__ import annotations

import pytest

from nodestep import SQLiteStateStore

from .children import Child
from .programs.holder import build


@pytest.mark.parametrize("kind", ["plain", "async", "beside"])
def test_an_interrupted_program_gives_the_thread_back(kind, tmp_path):
    path = tmp_path / "threads.db"
    with Child("holder", path, kind, 3600) as holder:
        assert holder.hears() == "inside"
        holder.interrupt()
        heard = holder.hears()
        assert heard == "cancelled" if kind == "async" else heard == "KeyboardInterrupt"
        holder.ended()

    with SQLiteStateStore(path) as store:
        head = store.head("t", "main")
        assert head is not None
        assert (head.live, head.status) == (False, "failed")
        assert build(store, "other", beside=kind == "beside").invoke(None, thread_id="t").state.log == [
            "first of holder",
            "work of other",
            "last of other",
        ]
