"""Processes that are started to be measured: a cold resume, imports, and programs."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness import Row, cpu_s, file_bytes, median, new_path
from this_checkout import BENCHMARKS, environment

REPEATS: Final = 3
_RSS_PROBE: Final = "import os; print(int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE'))"


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that has ended well, and what it cost."""

    wall_s: float
    cpu_s: float
    output: str
    errors: str


def run(arguments: Sequence[str]) -> Ended:
    """Run a Python program to its end. Raises RuntimeError with what it printed if it failed."""
    cpu, wall = cpu_s(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment(), cwd="/")
    wall = time.perf_counter() - wall
    if ended.returncode:
        raise RuntimeError(f"{arguments} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return Ended(wall, cpu_s(resource.RUSAGE_CHILDREN) - cpu, ended.stdout, ended.stderr)


def cold_resume(make: Callable[[str], None], steps: int, variant: str) -> Row:
    """Resume a copy of what `make` leaves at a path, each time in a new process."""
    path = new_path()
    make(path)
    walls: list[float] = []
    cpus: list[float] = []
    seconds: list[float] = []
    inside: list[float] = []
    for repeat in range(REPEATS + 1):
        folder = tempfile.mkdtemp(dir=Path(path).parent)
        for name in os.listdir(Path(path).parent):
            if os.path.isfile(source := os.path.join(Path(path).parent, name)):
                shutil.copy(source, folder)
        program = str(BENCHMARKS / "cold_resume.py")
        ended = run([program, os.path.join(folder, Path(path).name), str(steps), variant])
        shutil.rmtree(folder)
        if not repeat:  # the first one warms the page cache and the compiled modules
            continue
        told = json.loads(ended.output)
        walls.append(ended.wall_s)
        cpus.append(ended.cpu_s)
        seconds.append(told["seconds"])
        inside.append(told["cpu_s"])
    return {
        "n": 1,
        "seconds": median(seconds),
        "cpu_s": median(inside),
        "process_s": round(median(walls), 4),
        "process_cpu_s": round(median(cpus), 4),
        "bytes": file_bytes(path),
    }


def import_costs(statements: Mapping[str, str]) -> list[Row]:
    """Each statement in an interpreter of its own, less a bare interpreter; they take turns."""
    every = {"": "pass", **statements}
    measured: dict[str, list[tuple[Ended, int]]] = {name: [] for name in every}
    for repeat in range(REPEATS + 3):
        for name, statement in every.items():
            ended = run(["-c", f"{statement}\n{_RSS_PROBE}"])
            if repeat:  # the first pass warms as well
                measured[name].append((ended, int(ended.output)))

    def of(name: str) -> tuple[float, float, float]:
        runs = measured[name]
        return (
            median([ended.wall_s for ended, _ in runs]),
            min(ended.cpu_s for ended, _ in runs),
            median([rss for _, rss in runs]),
        )

    bare_s, bare_cpu_s, bare_rss = of("")
    rows: list[Row] = []
    for name in statements:
        wall_s, cpu, rss = of(name)
        rows.append(
            {
                "workload": f"W9.{name}",
                "n": 1,
                "seconds": wall_s - bare_s,
                "cpu_s": cpu - bare_cpu_s,
                "bytes": int(rss),
                "rss_over_bare": int(rss - bare_rss),
                "bare_s": round(bare_s, 4),
            }
        )
    return rows
