"""Many processes that do the same thing to one thread at once, round after round.

    python -m tests.durability.racing STORE EFFECTS COUNT SHAPE

forks so many racers before any store is open and keeps them alive. A line `<what> <thread>` goes to all of them; the
answer is one line with what each came to.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path

from nodestep import Graph, NodestepError, Resume, SQLiteStateStore
from tests.durability.nursery import PATIENCE_S, ROOT
from tests.persistence.programs import racer
from tests.persistence.programs.effects import Effects, say, told

REFUSED = {"ThreadBusyError", "ResumeError"}
"""What a loser may hear."""


class Race(AbstractContextManager["Race"]):
    """The racers, seen from the test, which has a store of its own on the same file."""

    def __init__(self, folder: Path, count: int, shape: str = "flat") -> None:
        self.count = count
        self.effects = Effects(folder / "effects")
        self.store = SQLiteStateStore(folder / "threads.db")
        self.graph = racer.build(self.store, self.effects, shape)
        self.losses: Counter[str] = Counter()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.durability.racing",
                folder / "threads.db",
                self.effects.path,
                str(count),
                shape,
            ],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert self._answer() == ["ready"] * count

    def __exit__(self, *_: object) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait(PATIENCE_S)
        self.store.close()

    def resume(self, thread: str, what: str = "resume") -> None:
        """One round: a thread pauses, all resume it. Fails unless there is one effect, of the answer that is kept, and
        every loser was told."""
        self.graph.invoke({"thread": thread}, thread_id=thread)
        results = Counter(self.all(what, thread))
        lost = results - Counter(["completed"])
        assert results["completed"] == 1, f"{results}"
        assert set(lost) <= REFUSED, f"{lost}"
        self.losses += lost
        (effect,) = (effect for effect in self.effects.done() if effect.startswith(f"{thread}:"))
        (decision,) = asyncio.run(self.store.audit(thread)).items
        assert effect == f"{thread}:{decision.value}"
        events = asyncio.run(self.store.history(thread)).events
        assert Counter(event.type for event in events)["answered"] == 1

    def all(self, what: str, thread: str) -> list[str]:
        """What every racer came to."""
        assert self._process.stdin is not None
        print(what, thread, file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> list[str]:
        assert self._process.stdout is not None
        answers: list[str] = json.loads(self._process.stdout.readline())
        return answers


def run(path: str, effects: str, who: int, shape: str) -> None:
    """One racer: does what it reads, says what came of it."""
    with SQLiteStateStore(path) as store:
        graph = racer.build(store, Effects(effects), shape)
        say("ready")
        for line in told():
            what, thread = line.split()
            say(attempt(graph, what, thread, f"racer-{who}"))


def attempt(graph: Graph[dict], what: str, thread: str, who: str) -> str:
    if what != "aresume":
        return racer.attempt(graph, what, thread, who)
    try:
        return asyncio.run(graph.ainvoke(None, thread_id=thread, resume=Resume(who))).status
    except NodestepError as error:
        return type(error).__name__


def fork_racers(path: str, effects: str, count: int, shape: str) -> list[tuple[int, int]]:
    """The pipes to and from each."""
    pipes = []
    for who in range(count):
        (its_input, to_it), (from_it, its_output) = os.pipe(), os.pipe()
        if os.fork() == 0:
            try:
                os.dup2(its_input, 0)
                os.dup2(its_output, 1)
                os.closerange(3, 1000)
                run(path, effects, who, shape)
            finally:
                os._exit(0)
        os.close(its_input)
        os.close(its_output)
        pipes.append((to_it, from_it))
    return pipes


def main(path: str, effects: str, count: str, shape: str) -> None:
    pipes = fork_racers(path, effects, int(count), shape)
    readers = [os.fdopen(from_it) for _, from_it in pipes]
    print(json.dumps([reader.readline().strip() for reader in readers]), flush=True)
    for line in sys.stdin:
        for to_it, _ in pipes:
            os.write(to_it, line.encode())
        print(json.dumps([reader.readline().strip() for reader in readers]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
