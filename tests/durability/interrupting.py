"""KeyboardInterrupt at any line of the package: a run that is interrupted there, and what can be done after it."""

from __future__ import annotations

import linecache
import os
import shutil
import signal
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import nodestep
from nodestep import SQLiteStateStore
from tests.durability.lives import Life, finish
from tests.durability.shapes import LOGS, SHAPES
from tests.persistence.programs.effects import Effects
from tests.stores.writing import StillClock

PACKAGE = os.path.dirname(nodestep.__file__) + os.sep
HANGS_S = 8.0
LEASE_MS = 30_000


class Interrupting:
    """A trace function that raises KeyboardInterrupt at the `at`-th line that this thread comes to in the package, or in
    these files of it. (The end of a `with` block is left out: no signal is handled there.)"""

    def __init__(self, at: int, files: Iterable[str] = (), *, others: bool = False) -> None:
        self.at = at
        self.lines = 0
        self.where = ""
        self._files = tuple(PACKAGE + file for file in files)
        self._others = others
        self._entered: dict[int, set[int]] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE) or (self._files and (file in self._files) == self._others):
            return None
        self._entered.pop(id(frame), None)
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and not self._leaves_with(frame):
            self.lines += 1
            if self.lines == self.at:
                self.where = f"{frame.f_code.co_filename.removeprefix(PACKAGE)}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self._line

    def _leaves_with(self, frame: FrameType) -> bool:
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
        if not text.startswith(("with ", "async with ")):
            return False
        entered = self._entered.setdefault(id(frame), set())
        if frame.f_lineno in entered:
            return True
        entered.add(frame.f_lineno)
        return False


def run(folder: Path, shape: str, interrupting: Interrupting) -> None:
    """A thread whose life is interrupted once. Then another process, by its clock a lease later, takes it to its end."""
    path, effects, clock = folder / "t.db", Effects(folder / "effects"), StillClock()
    with SQLiteStateStore(path, clock=clock) as store:
        sys.settrace(interrupting)
        try:
            finish(SHAPES[shape](store, effects), store, effects)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        Life(store, effects).breaks()  # what was interrupted can still be asked
    with SQLiteStateStore(path, clock=clock) as store:
        life = Life(store, effects)
        life.breaks()
        clock.forward(LEASE_MS)
        finish(SHAPES[shape](store, effects), store, effects)
        life.ends(LOGS[shape])


def interrupted(folder: str, shape: str, places: list[int], files: list[str], others: bool) -> None:
    """A thread for each of these places, in a process that is killed when one hangs."""
    for place in places:
        interrupting = Interrupting(place, files, others=others)
        inner = Path(folder) / str(place)
        inner.mkdir()
        signal.signal(signal.SIGALRM, partial(_hangs, interrupting))
        signal.setitimer(signal.ITIMER_REAL, HANGS_S)
        try:
            run(inner, shape, interrupting)
        except BaseException as error:
            error.add_note(f"interrupted at {interrupting.where}, line {place} of its run")
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        shutil.rmtree(inner)


def _hangs(interrupting: Interrupting, *_: object) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(2)  # in case the way out hangs as well
    sys.exit(f"hangs after {interrupting.where}")


def count(folder: Path, shape: str, files: Iterable[str] = (), *, others: bool = False) -> int:
    """How many places there are."""
    counting = Interrupting(0, files, others=others)
    folder.mkdir()
    run(folder, shape, counting)
    return counting.lines
