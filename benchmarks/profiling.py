"""Where the time of a workload goes: a sample of the stack for every millisecond of CPU, and the calls of one unit.

Samples cost what runs hardly anything, so their shares are true; the counts come from a second pass under `cProfile`. Only
the main thread is seen. Knows workloads, and not what they measure.
"""

from __future__ import annotations

import cProfile
import pstats
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from types import CodeType, FrameType
from typing import Final

from harness import Clock, Row, Workload

SAMPLE_S: Final = 0.001
SAMPLES: Final = 3000
MOST_PASSES: Final = 300
LINES: Final = 28
_HERE: Final = PurePath(__file__).parent


class _Sampler:
    """Counts where the main thread stands, by function: on top of the stack, and anywhere on it."""

    def __init__(self) -> None:
        self.own: Counter[CodeType] = Counter()
        self.within: Counter[CodeType] = Counter()
        self.samples = 0

    def begin(self) -> None:
        signal.signal(signal.SIGPROF, self._take)
        signal.setitimer(signal.ITIMER_PROF, SAMPLE_S, SAMPLE_S)

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _take(self, _: int, frame: FrameType | None) -> None:
        if frame is None:
            return
        self.samples += 1
        self.own[frame.f_code] += 1
        self.within.update(set(_codes(frame)))


def _codes(frame: FrameType | None) -> Iterator[CodeType]:
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back


class _Calls:
    """Counts calls, those into C as well."""

    def __init__(self) -> None:
        self.profiler = cProfile.Profile()

    def begin(self) -> None:
        self.profiler.enable()

    def end(self) -> None:
        self.profiler.disable()


def profile(name: str, workload: Workload) -> None:
    """Print the profile of a workload."""
    sampler, units, cpu_s = _Sampler(), 0, 0.0
    rows = _rows(workload)  # a first pass, to warm up
    Clock.watcher = sampler
    for _ in range(MOST_PASSES):
        rows = _rows(workload)
        units += sum(row["n"] for row in rows)
        cpu_s += sum(row["cpu_s"] for row in rows)
        if sampler.samples >= SAMPLES:
            break
    if not sampler.samples:
        print(f"{name} does its work in other processes, which are not seen from here.", file=sys.stderr)
        return
    unit_us = cpu_s / units * 1e6
    print(f"{name}: {unit_us:.1f} us of CPU a unit, {units} units, {sampler.samples} samples\n")
    _print("self", sampler.own, sampler.samples, unit_us)
    print()
    _print("with what it calls", sampler.within, sampler.samples, unit_us)
    print()
    _print_calls(workload)
    Clock.watcher = None


def _rows(workload: Workload) -> list[Row]:
    rows = workload()
    return rows if isinstance(rows, list) else [rows]


def _print(title: str, counts: Counter[CodeType], samples: int, unit_us: float) -> None:
    print(f" share    us  {title}")
    for code, count in counts.most_common(LINES):
        share = count / samples
        print(f"{share:6.1%} {share * unit_us:5.1f}  {_shown(code.co_filename, code.co_firstlineno, code.co_qualname)}")


def _print_calls(workload: Workload) -> None:
    calls = Clock.watcher = _Calls()
    units = sum(row["n"] for row in _rows(workload))
    stats = pstats.Stats(calls.profiler)
    print(f"{stats.total_calls / units:.1f} calls a unit, those into C counted; the most frequent:\n")  # type: ignore[attr-defined]
    found = sorted(stats.stats.items(), key=lambda item: -item[1][1])  # type: ignore[attr-defined]
    for (file, line, function), (_, count, *_times) in found[:LINES]:
        print(f"{count / units:7.2f}  {_shown(file, line, function)}")


def _shown(file: str, line: int, function: str) -> str:
    path = PurePath(file)
    if "nodestep" in path.parts:
        place = str(PurePath(*path.parts[path.parts.index("nodestep") + 1 :]))
    elif path.is_relative_to(_HERE):
        place = str(path.relative_to(_HERE.parent))
    else:
        place = path.name
    return function if file == "~" else f"{place}:{line} {function}"
