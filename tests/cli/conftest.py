"""What the tests of the command line share."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nodestep.cli.app import run

from .driving import REFUND, Ended

Nodestep = Callable[..., Ended]


@pytest.fixture
def nodestep(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Nodestep:
    """Runs a command in this process, in a folder of its own, without a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "80")
    for variable in ("NODESTEP_STORE", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)

    def call(*arguments: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run(arguments)
        printed = capsys.readouterr()
        return Ended(code, printed.out, printed.err)

    return call


@pytest.fixture
def asks(nodestep: Nodestep) -> Callable[..., int]:
    """Makes a thread that asks one question; returns its pause."""

    def start(payload: str = '"Approve the refund?"', thread: str = "refund-1") -> int:
        ended = nodestep(
            "run", REFUND, "--store", "a.db", f"--thread={thread}", "--input", f'{{"payload": {payload}}}', "--json"
        )
        assert ended.code == 3, ended
        return int(ended.json["questions"][0]["pause"])

    return start
