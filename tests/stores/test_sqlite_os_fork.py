"""`os.fork` with an open store: both sides go on, each as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import seen

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")

FORKING = """
import os, sys, threading, warnings
from nodestep.stores.base import Status
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import begin, done, go_on, refused, seen, unchanged, write

warnings.simplefilter("ignore", DeprecationWarning)
store = SQLiteStateStore(sys.argv[1])
held = begin(store, "parent")
stop = threading.Event()

def traffic(name):
    receipt = begin(store, name)
    while not stop.is_set():
        receipt = go_on(store, receipt, thread=name)
        assert seen(store, name).head.sequence == receipt.sequence

threads = [threading.Thread(target=traffic, args=(f"{sys.argv[2]}{n}",)) for n in range(int(sys.argv[2]))]
for thread in threads:
    thread.start()

children = []
for number in range(5):
    child = os.fork()
    if child == 0:
        assert seen(store, "parent").head.live
        refused(store, write(unchanged(held), thread="parent"))
        mine = begin(store, f"child {number}")
        for _ in range(20):
            mine = go_on(store, mine, thread=f"child {number}")
        store.close()
        os._exit(0)
    children.append(child)
    held = go_on(store, held, thread="parent")

codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
stop.set()
for thread in threads:
    thread.join()
store.close()
assert codes == [0] * 5, codes
"""


@pytest.mark.parametrize("threads", [0, 3])
def test_parent_and_children_go_on_after_a_fork(path: Path, threads: int):
    done = subprocess.run(
        [sys.executable, "-c", FORKING, str(path), str(threads)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with SQLiteStateStore(path) as store:
        assert seen(store, "parent").head.sequence == 6
        for number in range(5):
            assert seen(store, f"child {number}").head.sequence == 21


def test_a_child_that_ends_leaves_its_threads_to_be_taken_over(path: Path):
    """The child is another owner than its parent, so what it held is free once it is gone."""
    script = """
import os, sys
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import begin, done, seen, unchanged, write

store = SQLiteStateStore(sys.argv[1])
if (child := os.fork()) == 0:
    begin(store, "t")
    os._exit(0)
os.waitpid(child, 0)
head = seen(store).head
assert not head.live
print(done(store, write(unchanged(head))).epoch)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr
