"""How the tests of the command line drive it: in this process, as a process of its own, and at a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GRAPHS = Path(__file__).parent / "graphs"
REFUND = str(GRAPHS / "refund.py")
RELEASE = str(GRAPHS / "release.py")
PATIENCE_S = 60

# The first program takes the terminal it was given as its own, so that Ctrl-C reaches the command.
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


@dataclass(frozen=True)
class Ended:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    @property
    def told(self) -> str:
        """Everything printed, as one line with single blanks."""
        return " ".join((self.out + " " + self.err).split())


def environment(**more: str) -> dict[str, str]:
    """An environment that is the same wherever the tests run."""
    own = {key: value for key, value in os.environ.items() if key not in ("NODESTEP_STORE", "FORCE_COLOR", "COLUMNS")}
    return {**own, "PYTHONWARNINGS": "error", "COLUMNS": "80", "TERM": "dumb", **more}


def command(*arguments: str) -> list[str]:
    """The command line of a process."""
    return [sys.executable, "-m", "nodestep.cli", *arguments]


def process(*arguments: str, folder: Path, stdin: str = "", **env: str) -> Ended:
    """Run a command as a process of its own, without a terminal."""
    ended = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(**env),
        input=stdin.encode(),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def shell(line: str, *, folder: Path) -> Ended:
    """Run a line of bash in which `nodestep` is the command."""
    function = f'nodestep() {{ "{sys.executable}" -m nodestep.cli "$@"; }}\n'
    ended = subprocess.run(
        ["bash", "-c", function + line],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def typed(line: str) -> list[str]:
    """The arguments that nodestep gets when a person types this line into bash."""
    ended = subprocess.run(
        ["bash", "-c", f"nodestep() {{ printf '%s\\0' \"$@\"; }}\n{line}"],
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return ended.stdout.decode().split("\0")[:-1]


class Terminal:
    """A command at a terminal, and the person who sits there."""

    def __init__(self, master: int, running: subprocess.Popen[bytes]) -> None:
        self._master = master
        self._running = running
        self._at = 0
        self.screen = ""

    def sees(self, text: str) -> None:
        """Wait until the text comes on the screen, after what was seen before."""
        while text not in self.screen[self._at :]:
            assert self._read(), f"the command ended, and never showed {text!r}:\n{self.screen}"
        self._at = self.screen.index(text, self._at) + len(text)

    def types(self, text: str) -> None:
        """Type a line."""
        os.write(self._master, text.encode() + b"\n")

    def presses(self, keys: bytes) -> None:
        """Press control keys."""
        os.write(self._master, keys)

    def stops(self) -> None:
        """Press Ctrl-C. CPython's readline can miss a signal that comes just before it waits, so press again if nothing
        happens, as a person would."""
        for _ in range(10):
            os.write(self._master, b"\x03")
            if select.select([self._master], [], [], PATIENCE_S / 20)[0]:
                return

    def ends(self) -> int:
        """Wait for the end; the exit code."""
        while self._read():
            pass
        return self._running.wait(PATIENCE_S)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE_S)
        assert ready, f"nothing happened for {PATIENCE_S} s:\n{self.screen}"
        try:
            read = os.read(self._master, 65536)
        except OSError:  # the other end is closed
            return False
        self.screen += read.decode(errors="replace").replace("\r\n", "\n")
        return bool(read)


@contextlib.contextmanager
def terminal(*arguments: str, folder: Path, **env: str) -> Iterator[Terminal]:
    """A command at a terminal of 80 columns."""
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", TAKE_TERMINAL, *command(*arguments)],
        cwd=folder,
        env=environment(**env),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(master, running)
    finally:
        if running.poll() is None:
            running.kill()
            running.wait()
        os.close(master)
