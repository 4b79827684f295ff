"""Many processes on one file: nothing lost, no lock errors, and a killed owner's thread is taken over at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from nodestep.stores.base import Receipt, Status
from nodestep.stores.owner import this_process
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import bodies, done, refused, seen, unchanged, write

OWNER = """
import sys
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import begin, go_on

store = SQLiteStateStore(sys.argv[1])
receipt = begin(store, record=b"1")
for number in range(2, 6):
    receipt = go_on(store, receipt, record=b"%d" % number)
print(receipt.no, receipt.epoch, receipt.sequence, receipt.at_ms, flush=True)
sys.stdin.read()
"""

TRAFFIC = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from nodestep.stores.base import Status
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import done, go_on, pause, unchanged, write

path, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
store = SQLiteStateStore(path)

def thread(number):
    thread = f"{name}-{number}"
    asked = pause(store, "a:x", "b:y", thread=thread)
    claimed = done(store, write(unchanged(asked), thread=thread, closes=("a:x", "b:y")))
    go_on(store, go_on(store, claimed, thread=thread), Status.COMPLETED, thread)

with ThreadPoolExecutor(8) as pool:
    list(pool.map(thread, range(50)))
store.close()
print("done")
"""


def child(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextmanager
def owner_of(path: Path) -> Iterator[tuple[subprocess.Popen[str], Receipt]]:
    """A process that holds the thread `t`, of five records, until it is killed."""
    with child(OWNER, path) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr and process.stderr.read()
        try:
            yield process, Receipt(*map(int, line.split()))
        finally:
            process.kill()


knows_the_dead = pytest.mark.skipif(this_process(1).started is None, reason="this platform tells no start times")


def test_another_process_that_lives_keeps_its_lease(path: Path):
    with owner_of(path) as (_, held), SQLiteStateStore(path) as store:
        assert seen(store).head.live
        refused(store, write(unchanged(held)))


@knows_the_dead
def test_the_thread_of_a_killed_process_is_taken_over_at_once(path: Path):
    with owner_of(path) as (process, held), SQLiteStateStore(path) as store:
        process.kill()
        process.wait()
        head = seen(store).head
        assert (head.status, head.live) == (Status.RUNNING, False)
        taken = done(store, write(unchanged(held), record=b"6"))
        assert (taken.epoch, taken.sequence) == (held.epoch + 1, 6)


def test_what_a_killed_process_committed_is_all_there(path: Path):
    with owner_of(path) as (process, _):
        process.kill()
        process.wait()
        with SQLiteStateStore(path) as store:
            assert bodies(seen(store)) == [b"1", b"2", b"3", b"4", b"5"]


def test_processes_and_threads_that_start_together_get_on(path: Path):
    """PE-03: four processes of fifty threads each, from the first start on a file that is not there yet."""
    names = ["a", "b", "c", "d"]
    with ExitStack() as running:
        processes = [running.enter_context(child(TRAFFIC, path, name)) for name in names]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        ends = [(*process.communicate(timeout=120), process.returncode) for process in processes]
    assert ends == [("done\n", "", 0)] * 4
    with SQLiteStateStore(path) as store:
        assert store.questions() == ()
        heads = [seen(store, f"{name}-{number}").head for name in names for number in range(50)]
        assert {(head.status, head.sequence) for head in heads} == {(Status.COMPLETED, 5)}
        assert sorted(head.no for head in heads) == list(range(1, 201))
        pauses = [record.pause for name in names for n in range(50) for record in store.records(f"{name}-{n}", "main")]
        given = [number for number in pauses if number is not None]
        assert sorted(given) == list(range(1, 201))
