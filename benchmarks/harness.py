"""What a script of workloads needs: a registry, a clock, the arguments, and a JSON line per result.

A line has the fields of the side-by-side run: `peer, version, workload, n, seconds, per_s, cpu_s, bytes?, ..., fs, calib_s`.
`cpu_s` is user and system time of the whole process; `calib_s` the time of a fixed loop just before, so that a slow moment
of the machine shows. Knows no library.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

Row = dict[str, Any]
Workload = Callable[[], Row | list[Row]]

WORKLOADS: dict[str, Workload] = {}


def workload(name: str) -> Callable[[Workload], Workload]:
    """Register a function that does a workload once and returns a row for each of its results."""

    def register(function: Workload) -> Workload:
        WORKLOADS[name] = function
        return function

    return register


# measuring


class Watcher(Protocol):
    """What wants to know when the measured stretch begins and ends, such as a profiler."""

    def begin(self) -> None: ...

    def end(self) -> None: ...


class Clock:
    """Wall and CPU seconds of the block under `with`."""

    watcher: Watcher | None = None
    """Set for a profile; nothing else sets it."""

    def __enter__(self) -> Self:
        gc.collect()
        if Clock.watcher is not None:
            Clock.watcher.begin()
        self._cpu_s = cpu_s()
        self._wall_s = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._wall_s
        self.cpu_s = cpu_s() - self._cpu_s
        if Clock.watcher is not None:
            Clock.watcher.end()

    def row(self, n: int, **more: Any) -> Row:
        return {"n": n, "seconds": self.seconds, "cpu_s": self.cpu_s, **more}


def cpu_s(who: int = resource.RUSAGE_SELF) -> float:
    """User and system time so far, of this process or of its children that have ended."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


class Marks:
    """The instants at which steps began, to tell whether they get slower. Call it at the beginning of each step."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def __call__(self) -> None:
        self.wall.append(time.perf_counter())
        self.cpu.append(time.process_time())

    def growth(self, steps: int = 50) -> Row:
        """The mean time of the first and of the last steps, and their ratio; by CPU as well, which is steadier."""
        first = self.wall[steps] - self.wall[0]
        last = self.wall[-1] - self.wall[-1 - steps]
        return {
            f"first{steps}_ms": round(first / steps * 1e3, 4),
            f"last{steps}_ms": round(last / steps * 1e3, 4),
            "growth": round(last / first, 2),
            "growth_cpu": round((self.cpu[-1] - self.cpu[-1 - steps]) / (self.cpu[steps] - self.cpu[0]), 2),
        }


def quantiles(seconds: Sequence[float]) -> Row:
    """The median and the 99th percentile of many calls."""
    ordered = sorted(seconds)
    return {
        "p50_ms": round(median(ordered) * 1e3, 3),
        "p99_ms": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1e3, 3),
    }


def median(values: Sequence[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def file_bytes(path: str) -> int:
    """The bytes of a SQLite database with its log."""
    return sum(os.path.getsize(path + end) for end in ("", "-wal", "-journal") if os.path.exists(path + end))


# the script


class Options(argparse.Namespace):
    only: list[str]
    skip: list[str]
    tmp: str
    pg: str | None
    profile: str | None


def _parsed(arguments: Sequence[str] | None) -> Options:
    def names(text: str) -> list[str]:
        return [name for name in text.split(",") if name]

    parser = argparse.ArgumentParser(description="Runs workloads once each and prints a JSON line per result.")
    parser.add_argument("--only", type=names, default=[], help="workloads by the beginning of their names: W1,W5.sync")
    parser.add_argument("--skip", type=names, default=[])
    parser.add_argument("--tmp", default="/tmp", help="a directory on a disk, or on a tmpfs such as /dev/shm")
    parser.add_argument("--pg", help="accepted for the side-by-side run, and not used")
    parser.add_argument("--profile", metavar="NAME", help="say where the time of one workload goes, and print no line")
    return parser.parse_args(arguments, Options())


_folder = tempfile.gettempdir()


def new_path(name: str = "threads.db") -> str:
    """The path of a new file in a folder of its own, on the file system that is measured."""
    return os.path.join(tempfile.mkdtemp(dir=_folder), name)


def main(peer: str, version: str, arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments select, each once; 1 if one of them failed."""
    global _folder
    options = _parsed(arguments)
    _folder = tempfile.mkdtemp(dir=options.tmp, prefix="bench-")
    try:
        if options.profile is not None:
            return _profile(options.profile)
        selected = [name for name in sorted(WORKLOADS, key=_number) if _is_selected(name, options)]
        origin = {"peer": peer, "version": version}
        done = [_run(name, origin, options.tmp) for name in selected]
        return 0 if all(done) else 1
    finally:
        shutil.rmtree(_folder, ignore_errors=True)


def _number(name: str) -> int:
    return int(name.partition(".")[0].removeprefix("W"))


def _is_selected(name: str, options: Options) -> bool:
    def hit(beginnings: list[str]) -> bool:
        return any(name == beginning or name.startswith(beginning + ".") for beginning in beginnings)

    return (not options.only or hit(options.only)) and not hit(options.skip)


def _run(name: str, origin: Row, file_system: str) -> bool:
    pace = {"fs": file_system, "calib_s": round(_pace_s(), 4)}
    try:
        rows = WORKLOADS[name]()
    except Exception as error:
        traceback.print_exc()
        print(json.dumps({**origin, "workload": name, "error": f"{type(error).__name__}: {error}"[:300]}), flush=True)
        return False
    for row in rows if isinstance(rows, list) else [rows]:
        seconds = row["seconds"]
        row = {**origin, "workload": row.pop("workload", name), **row, "per_s": round(row["n"] / seconds, 2), **pace}
        row["seconds"] = round(seconds, 6)
        if "cpu_s" in row:
            row["cpu_s"] = round(row["cpu_s"], 6)
        print(json.dumps(row), flush=True)
    return True


def _pace_s() -> float:
    """CPU seconds of a fixed loop of plain Python: how fast this core is just now."""
    begun, total, seen = time.process_time(), 0, {}
    for number in range(300_000):
        total += number
        seen[number & 63] = (total, number)
    return time.process_time() - begun


def _profile(name: str) -> int:
    from profiling import profile

    if name not in WORKLOADS:
        print(f"There is no workload {name!r}. There are: {', '.join(WORKLOADS)}.", file=sys.stderr)
        return 2
    profile(name, WORKLOADS[name])
    return 0
