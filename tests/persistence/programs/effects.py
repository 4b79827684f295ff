"""What the programs share: effects that outlive the process, and words to the test that started it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


class Effects:
    """A file with a line for each thing that was really done, by whichever process."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def do(self, what: str) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, f"{what}\n".encode())
        os.close(file)

    def done(self) -> list[str]:
        return self.path.read_text().split() if self.path.exists() else []


def say(what: str) -> None:
    """Tell the test."""
    print(what, flush=True)


def told() -> Iterator[str]:
    """What the test says, line by line."""
    while True:
        try:
            yield input()
        except EOFError:
            return


def wait() -> None:
    """Until the test says something."""
    while os.read(0, 1) not in (b"\n", b""):
        continue
