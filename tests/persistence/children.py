"""Other processes: programs that a test starts, talks to over pipes, stops and kills."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE_S = 20.0


class Child:
    """A program of `tests/persistence/programs` at work. It says one thing per line and is told one thing per line."""

    def __init__(self, program: str, *args: object) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"tests.persistence.programs.{program}", *map(str, args)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(PATIENCE_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def hears(self) -> str:
        """The next thing it says; empty once it has ended."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def tell(self, line: str = "") -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def stop(self) -> None:
        """Let it run no further, until `wake`."""
        self._process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def interrupt(self) -> None:
        """As Control-C does."""
        self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End it as a power cut would, and wait until it is gone."""
        self._process.kill()
        self._process.wait(PATIENCE_S)

    def ended(self) -> int:
        """How it ended, once it has."""
        return self._process.wait(PATIENCE_S)
