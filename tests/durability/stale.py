"""A process that is stopped in the middle of its work for longer than its lease lasts, and woken, thread after thread.

    python -m tests.durability.stale STORE plain|async|once|beside LEASE_S WORDS

runs a thread for each line it reads, and holds it inside a node until a line comes from the file descriptor WORDS.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path

from nodestep import SQLiteStateStore
from nodestep.stores.base import StateStore
from tests.asking import kept
from tests.durability.nursery import PATIENCE_S, ROOT
from tests.persistence.programs.effects import say
from tests.persistence.programs.holder import build
from tests.watching import until

LEASE_S = 0.15


class Sleeper(AbstractContextManager["Sleeper"]):
    """The process, seen from the test, which takes over what it holds."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.kind = kind
        self.ends: Counter[str] = Counter()
        self.store = SQLiteStateStore(folder / "threads.db", lease_s=LEASE_S)
        words, self._words = os.pipe()
        command = [sys.executable, "-m", "tests.durability.stale", folder / "threads.db", kind, LEASE_S, words]
        self._process = subprocess.Popen(
            [*map(str, command)],
            cwd=ROOT,
            pass_fds=(words,),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        os.close(words)

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(PATIENCE_S)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        os.close(self._words)
        self.store.close()

    def round(self, thread: str) -> None:
        """Fails if the process writes a thing after it was woken, or is not told that its lease is gone."""
        self._tell(thread)
        assert self._hears() == "inside"
        self._process.send_signal(signal.SIGSTOP)
        until(lambda: not live(self.store, thread))
        done = build(self.store, "other", beside=self.kind == "beside").invoke(None, thread_id=thread)
        after = kept(self.store, thread)

        self._process.send_signal(signal.SIGCONT)
        if self.kind == "async":
            assert self._hears() == "cancelled"
        else:
            os.write(self._words, b"\n")
        self.ends[self._hears()] += 1

        assert self.ends.keys() == {"LeaseLostError"}, self.ends
        assert kept(self.store, thread) == after
        assert done.state.log == ["first of holder", "work of other", "last of other"]

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        print(line, file=self._process.stdin, flush=True)

    def _hears(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def live(store: StateStore, thread: str) -> bool:
    head = store.head(thread, "main")
    return head is not None and head.live


def main(path: str, kind: str, lease_s: str, words: str) -> None:
    commands = os.fdopen(os.dup(0))
    os.dup2(int(words), 0)  # a node that was left behind still waits for its word there
    with SQLiteStateStore(path, lease_s=float(lease_s)) as store:
        graph = build(store, "holder", kind, beside=kind == "beside")
        for line in commands:
            thread = line.strip()
            try:
                say(graph.invoke({}, thread_id=thread).status)
            except Exception as error:
                say(type(error).__name__)


if __name__ == "__main__":
    main(*sys.argv[1:])
