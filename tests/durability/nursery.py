"""A warm process that bears children by fork: a child costs milliseconds, and starts with no store open.

    python -m tests.durability.nursery

reads one line of JSON for each child, a function and its arguments, and says how the child ended.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.durability.protections import switch_off

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60
WARM = ("tests.durability.lives",)
"""What children need, loaded before the first is born."""
WITHOUT: str | None = None
"""A protection that children do without; see `protections.py`."""


@dataclass(frozen=True)
class End:
    """How a child ended: its exit status, negative for a signal, and the error that it ended with."""

    code: int
    error: str = ""

    @property
    def killed(self) -> bool:
        return self.code in (137, -signal.SIGKILL)


class Nursery(AbstractContextManager["Nursery"]):
    """The warm process, seen from the test."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.durability.nursery", *([WITHOUT] if WITHOUT else [])],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def __exit__(self, *_: object) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait(PATIENCE_S)

    def child(self, function: Callable[..., Any], *args: Any) -> End:
        """Run a function of a module in a child. Fails if the child does, unless it was killed."""
        where = f"{function.__module__}:{function.__qualname__}"
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([where, args]), file=self._process.stdin, flush=True)
        end = End(*json.loads(self._process.stdout.readline()))
        assert end.code == 0 or end.killed, f"{where}{args}: ended with {end.code}\n{end.error}"
        return end


def bear(where: str, args: list[Any]) -> tuple[int, str]:
    """Run the function in a forked child; returns its exit status and what it raised."""
    module, _, name = where.partition(":")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(PATIENCE_S)  # a child that hangs ends
        code = 0
        try:
            getattr(importlib.import_module(module), name)(*args)
        except BaseException:
            os.write(writing, traceback.format_exc()[-30_000:].encode())
            code = 1
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        error = pipe.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), error.decode(errors="replace")


def main() -> None:
    for module in WARM:
        importlib.import_module(module)
    for protection in sys.argv[1:]:
        switch_off(protection)
    for line in sys.stdin:
        print(json.dumps(bear(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
