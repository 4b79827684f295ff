"""What the first page of `nodestep pending` costs, beside an interpreter that only imports the packages it uses.

    python benchmarks/command_start.py --questions 10000

Both are processes of their own, taken in turns; the figure is the median of their user and system time. The packages are
those of others that the command has loaded at its end, down to each module. One JSON line; `ratio` is the figure to look
at. With `--modules` it tells what the imports of nodestep cost, the dearest first.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

import this_checkout

from nodestep import SQLiteStateStore
from nodestep.engine.replay import record_to_bytes
from nodestep.model.event import Started
from nodestep.model.position import Task
from nodestep.stores.base import New, QuestionRow, Status, Write

BATCH: Final = 500
SHOWN_MODULES: Final = 25

LOADED: Final = """
import sys
from nodestep.cli.app import run
run(sys.argv[1:])
ours = {"nodestep", "__main__", "sitecustomize", "_distutils_hack"} | set(sys.stdlib_module_names)
names = [name for name in sys.modules if name.split(".")[0] not in ours and not name.startswith("_sysconfigdata")]
print("\\n".join(name for name in names if getattr(sys.modules[name], "__spec__", None) is not None), file=sys.stderr)
"""
"""Runs the command and prints the modules of other packages that it has loaded."""


def fill(path: Path, questions: int) -> None:
    """Make a store of threads with a question each."""
    record = record_to_bytes([Started("run", {"set": {"amount": 80}}, (Task("review", "review"),))])
    with SQLiteStateStore(path) as store:
        for first in range(0, questions, BATCH):
            names = [f"refund-{number}" for number in range(first, min(first + BATCH, questions))]
            opens = (QuestionRow("review:approve", "approve", "review", "review", "Approve the refund of 80.00?"),)
            store.commit(
                [Write(name, "main", New("refunds"), Status.INTERRUPTED, record, opens=opens) for name in names]
            )


def command(path: Path) -> list[str]:
    """The arguments of Python for the command."""
    return ["-m", "nodestep.cli", "pending", "--store", str(path)]


def modules(path: Path) -> list[str]:
    """The modules of others that the command loads, in the order loaded."""
    ended = run(["-c", LOADED, "pending", "--store", str(path)])
    return ended.stderr.split()


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """A process to its end."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=this_checkout.environment(),
        capture_output=True,
        text=True,
        check=True,
    )


def cpu_ms(arguments: list[str]) -> float:
    """User and system time of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def import_costs(path: Path, rounds: int) -> list[tuple[str, float]]:
    """What each module of ours costs to import without those it imports, in milliseconds; the least of some rounds."""
    least: Counter[str] = Counter()
    for _ in range(rounds):
        for line in run(["-X", "importtime", *command(path)]).stderr.splitlines():
            own, _, name = (part.strip() for part in line.removeprefix("import time:").split("|"))
            if name.startswith("nodestep"):
                least[name] = min(least.get(name, int(own)), int(own))
    return [(name, own_us / 1000) for name, own_us in least.most_common()]


def measure(path: Path, rounds: int) -> dict[str, object]:
    """The medians of both, taken in turns."""
    imports = "import " + ", ".join(modules(path))
    processes = {"bare": ["-c", "pass"], "packages": ["-c", imports], "pending": command(path)}
    taken: dict[str, list[float]] = {name: [] for name in processes}
    for number in range(rounds + 1):
        for name, arguments in processes.items():
            cost = cpu_ms(arguments)
            if number:  # the first round warms the caches
                taken[name].append(cost)
    median = {name: round(statistics.median(costs), 1) for name, costs in taken.items()}
    return {
        "workload": "pending, first page",
        "rounds": rounds,
        "bare_ms": median["bare"],
        "packages_ms": median["packages"],
        "pending_ms": median["pending"],
        "ratio": round(median["pending"] / median["packages"], 2),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--modules", action="store_true", help="tell what the imports cost as well")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "threads.db"
        fill(path, given.questions)
        print(json.dumps({"questions": given.questions, **measure(path, given.rounds)}))
        if given.modules:
            costs = import_costs(path, 5)
            print(f"{sum(cost for _, cost in costs):7.1f} ms  all of nodestep, {len(costs)} modules")
            for name, cost in costs[:SHOWN_MODULES]:
                print(f"{cost:7.1f} ms  {name}")


if __name__ == "__main__":
    main()
