"""W10: a counter beside a field of 1 MB that is never touched, in a SQLite file."""

from __future__ import annotations

import work
from graphs import SQLiteStateStore, counting_beside_a_blob
from harness import Clock, Row, file_bytes, new_path, workload


@workload("W10.sync")
def untouched() -> Row:
    path, blob = new_path(), work.blob()
    with SQLiteStateStore(path) as store:
        graph = counting_beside_a_blob(work.BLOB_STEPS, store)
        with Clock() as clock:
            result = graph.invoke({"counter": 0, "blob": blob}, thread_id="t")
        assert result.data["counter"] == work.BLOB_STEPS
    return clock.row(work.BLOB_STEPS, bytes=file_bytes(path))
