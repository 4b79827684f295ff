"""W12 with no engine: 200 durable threads of 5 steps at once, written by straight-line code to a log in one SQLite file.

    python benchmarks/crowd_floor.py [--only W12] [--tmp /tmp]

Every step waits until its row is committed. One thread writes; what has come while it committed goes into its next
transaction (WAL, synchronous=FULL).
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import threading
from queue import SimpleQueue
from typing import Any

import work
from harness import Clock, Row, file_bytes, main, new_path, workload

TABLE = "CREATE TABLE log (thread TEXT, step INTEGER, data TEXT, PRIMARY KEY (thread, step)) WITHOUT ROWID"
INSERT = "INSERT INTO log VALUES (?, ?, ?)"
Entry = tuple[asyncio.Future[None], tuple[str, int, str]]


class Writer:
    """Commits rows in a thread of its own, all that wait together."""

    def __init__(self, path: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._path = path
        self._entries: SimpleQueue[Entry | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        self.commits = 0

    async def write(self, *row: Any) -> None:
        done = self._loop.create_future()
        self._entries.put((done, row))
        await done

    def close(self) -> None:
        self._entries.put(None)
        self._thread.join()

    def _work(self) -> None:
        database = sqlite3.connect(self._path, isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute(TABLE)
        while (entry := self._entries.get()) is not None:
            batch = [entry]
            while not self._entries.empty() and (entry := self._entries.get()) is not None:
                batch.append(entry)
            database.execute("BEGIN IMMEDIATE")
            database.executemany(INSERT, [row for _, row in batch])
            database.execute("COMMIT")
            self.commits += 1
            self._loop.call_soon_threadsafe(_tell, [done for done, _ in batch])
        database.close()


def _tell(waiting: list[asyncio.Future[None]]) -> None:
    for done in waiting:
        done.set_result(None)


async def thread(name: str, writer: Writer) -> dict[str, Any]:
    state = work.small_input()
    await writer.write(name, 0, json.dumps(state))
    for number in range(1, work.CROWD_STEPS + 1):
        await asyncio.sleep(work.CROWD_SLEEP_S)
        update = work.small_step(state["counter"], state["total"])
        state |= update
        await writer.write(name, number, json.dumps(update))
    return state


async def run(path: str) -> Row:
    writer = Writer(path)
    with Clock() as clock:
        states = await asyncio.gather(*(thread(f"t{number}", writer) for number in range(work.DURABLE_CROWD)))
    for state in states:
        work.check_small(state, work.CROWD_STEPS)
    writer.close()
    return clock.row(work.DURABLE_CROWD * work.CROWD_STEPS, commits=writer.commits)


@workload("W12.async")
def crowd() -> Row:
    path = new_path()
    row = asyncio.run(run(path))
    return {**row, "commits_per_superstep": round(row["commits"] / row["n"], 4), "bytes": file_bytes(path)}


if __name__ == "__main__":
    sys.exit(main("floor", f"sqlite{sqlite3.sqlite_version}"))
