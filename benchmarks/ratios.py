"""The targets, and how a side-by-side run meets them: `python benchmarks/ratios.py results.jsonl` prints a Markdown table.

A figure is the median over the repetitions of one run. Times are CPU time for each unit, which is steadier than wall time;
the ratio by wall time stands beside it.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median
from typing import Any, Final

Results = dict[tuple[str, str, str], list[dict[str, Any]]]
"""Rows by peer, workload and file system."""

DISK, TMPFS = "disk", "tmpfs"
CPU, WALL = "cpu", "wall"
SPREAD: Final = "p99/p50"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of one row: `cpu` and `wall` are microseconds for each unit, anything else is the row's own field. `fs` is
    `None` where it does not matter."""

    peer: str
    workload: str
    field: str = CPU
    fs: str | None = None

    def of(self, results: Results) -> float | None:
        places = (self.fs,) if self.fs else (DISK, TMPFS)
        rows = next((rows for fs in places if (rows := results.get((self.peer, self.workload, fs)))), [])
        values = [value for row in rows if (value := self._read(row)) is not None]
        return median(values) if values else None

    def _read(self, row: dict[str, Any]) -> float | None:
        match self.field:
            case "cpu":
                return float(row["cpu_s"] / row["n"] * 1e6) if "cpu_s" in row else None
            case "wall":
                return float(row["seconds"] / row["n"] * 1e6)
            case "p99/p50":
                return float(row["p99_ms"] / row["p50_ms"])
            case field:
                return row.get(field)


@dataclass(frozen=True, slots=True)
class Target:
    """`ours` divided by `theirs` is at most `at_most`; without `theirs`, `ours` itself is."""

    what: str
    ours: Figure
    theirs: Figure | None
    at_most: float
    unit: str = "us"


def _peers(what: str, workload: str, fs: str | None, bars: dict[str, float], field: str = CPU) -> Iterator[Target]:
    """The same workload of ours and of others."""
    for peer, at_most in bars.items():
        ours = Figure("ours", workload, field, fs)
        yield Target(what, ours, replace(ours, peer=peer), at_most)


def _size(what: str, workload: str, fs: str, at_most: float, field: str = "bytes", unit: str = "bytes") -> Target:
    return Target(what, Figure("ours", workload, field, fs), None, at_most, unit)


def _own(what: str, workload: str, other: str, at_most: float, field: str = CPU) -> Target:
    return Target(what, Figure("ours", workload, field), Figure("ours", other, field), at_most)


TARGETS: Final = [
    *_peers("chain, sync", "W1.sync", None, {"langgraph": 1 / 20}),
    *_peers("chain, async", "W1.async", None, {"langgraph": 1 / 30, "teff": 1.5}),
    *_peers("memory store, sync", "W2.sync", None, {"langgraph": 1 / 30, "burr": 1}),
    *_peers("memory store, async", "W2.async", None, {"langgraph": 1 / 30, "burr": 1}),
    *_peers("SQLite, sync", "W3.sync", TMPFS, {"langgraph": 1 / 13, "floor": 3}),
    *_peers("SQLite, async", "W3.async", TMPFS, {"langgraph": 1 / 16}),
    *_peers("SQLite, sync", "W3.sync", DISK, {"floor": 1.4}, WALL),
    _size("SQLite: commits in 300 supersteps", "W3.sync", DISK, 301, "commits", "commits"),
    _size("SQLite: 300 supersteps beyond an empty store", "W3.sync", TMPFS, 45_000, "beyond_empty"),
    _size("SQLite: an empty store", "W3.empty", TMPFS, 80_000),
    *_peers("chat of 500", "W5.sync", TMPFS, {"langgraph": 1 / 14}),
    *_peers("chat of 500, `add_messages`", "W5.sync.add_messages", TMPFS, {"langgraph": 1 / 48}),
    _size("chat of 500 beyond an empty store", "W5.sync", TMPFS, 400_000, "beyond_empty"),
    _size("chat of 500, `add_messages`, beyond an empty store", "W5.sync.add_messages", TMPFS, 400_000, "beyond_empty"),
    _size("chat of 500: last 50 / first 50", "W5.sync", TMPFS, 1.3, "growth_cpu", ""),
    _size("chat of 5,000: last 50 / first 50", "W5.sync.5000", TMPFS, 1.3, "growth_cpu", ""),
    _size(
        "chat of 5,000, `add_messages`: last 50 / first 50", "W5.sync.add_messages.5000", TMPFS, 1.3, "growth_cpu", ""
    ),
    *_peers("fan-out, sync", "W6.none.sync", None, {"langgraph": 1 / 10}),
    *_peers("fan-out, async", "W6.none.async", None, {"langgraph": 1 / 18, "teff": 1.5}),
    *_peers("fan-out, SQLite, sync", "W6.sqlite.sync", TMPFS, {"langgraph": 1 / 9}),
    *_peers("fan-out, SQLite, async", "W6.sqlite.async", TMPFS, {"langgraph": 1 / 9}),
    *_peers("pause", "W7.pause.sync", TMPFS, {"langgraph": 1 / 25, "burr": 1}),
    *_peers("resume", "W7.resume.sync", TMPFS, {"langgraph": 1 / 19, "burr": 1}),
    *_peers("pause: p99 / p50", "W7.pause.sync", TMPFS, {"floor": 1.5}, SPREAD),
    *_peers("resume: p99 / p50", "W7.resume.sync", TMPFS, {"floor": 1.5}, SPREAD),
    _own("a pause three graphs deep / flat", "W7.pause.nested", "W7.pause.sync", 1.6),
    _own("a resume three graphs deep / flat", "W7.resume.nested", "W7.resume.sync", 1.6),
    _own("commits of a pause three graphs deep / flat", "W7.pause.nested", "W7.pause.sync", 1.0, "commits"),
    _own("commits of a resume three graphs deep / flat", "W7.resume.nested", "W7.resume.sync", 1.0, "commits"),
    *(target for h in (10, 1000, 1099) for target in _peers("cold resume", f"W8.h{h}", TMPFS, {"burr": 1.5})),
    _own("cold resume after 1,000 steps / after 10", "W8.h1000", "W8.h10", 1.3),
    _own("cold resume after 1,099 steps / after 10", "W8.h1099", "W8.h10", 1.3),
    *(_own("cold resume three graphs deep / flat", f"W8.h{h}.nested", f"W8.h{h}", 1.6) for h in (10, 1000)),
    _size("cold resume, whole process, seconds", "W8.h1000", TMPFS, 0.5, "process_s", "s"),
    _own("imports of the first example / of what it stands on", "W9.graph", "W9.base", 1.25),
    *_peers("1 MB untouched", "W10.sync", TMPFS, {"langgraph": 1 / 55}),
    _size("1 MB untouched: file", "W10.sync", TMPFS, 1_250_000),
    *_peers("1,000 threads at once", "W11.none", None, {"langgraph": 1 / 18, "teff": 1.2}),
    _size(
        "200 durable threads at once: commits for each superstep", "W12.async", DISK, 0.1, "commits_per_superstep", ""
    ),
    *_peers("an agent's turns, one call each", "W14.turns", None, {"langgraph": 1 / 5}),
    *_peers("an agent's turns, ten calls each", "W14.calls", None, {"langgraph": 1 / 5}),
    *_peers("an agent's turns, one call each, memory store", "W14.turns.memory", None, {"langgraph": 1 / 5}),
    *_peers("an agent's turns, ten calls each, memory store", "W14.calls.memory", None, {"langgraph": 1 / 5}),
    _own("a page of open questions / the bare query", "W13.pending.first", "W13.pending.sql", 5),
    _own("`nodestep pending` / its imports", "W13.cli.pending", "W13.cli.imports", 2),
    _own("fork after 10,000 steps / after 200", "W13.fork.h10000", "W13.fork.h200", 1.3),
    _own(
        "bytes of a fork after 10,000 steps / after 200",
        "W13.fork.h10000",
        "W13.fork.h200",
        1.0,
        "bytes_per_fork",
    ),
]


def read(path: str) -> Results:
    results: Results = defaultdict(list)
    with open(path) as lines:
        for line in lines:
            row = json.loads(line)
            if "error" not in row:
                fs = TMPFS if row["fs"].startswith("/dev/shm") else DISK
                results[row["peer"], row["workload"], fs].append(row)
    return results


def print_table(results: Results) -> None:
    print("| workload | | ours | theirs | ratio | by wall | at most | |")
    print("|---|---|---|---|---|---|---|---|")
    for _, targets in groupby(TARGETS, key=lambda target: target.ours.workload.partition(".")[0]):
        for target in targets:
            print(_line(target, results))


def _line(target: Target, results: Results) -> str:
    figure, theirs = target.ours, target.theirs
    ours = figure.of(results)
    than = None if theirs is None else theirs.of(results)
    place = f" ({figure.fs})" if figure.fs == TMPFS else ""
    name = f"{figure.workload}{place}"
    if ours is None or (theirs is not None and than is None):
        return f"| {name} | {target.what} | not measured | | | | | |"
    if theirs is None or than is None:
        bar = f"{_plain(target.at_most)} {target.unit}".strip()
        return f"| {name} | {target.what} | {_plain(ours)} | | | | {bar} | {_verdict(ours <= target.at_most)} |"
    ratio = ours / than
    other = theirs.peer if theirs.peer != "ours" else theirs.workload
    return (
        f"| {name} | {target.what} | {_plain(ours)} | {other} {_plain(than)} | {_ratio(ratio)} | "
        f"{_by_wall(target, results)} | {_ratio(target.at_most)} | {_verdict(ratio <= target.at_most)} |"
    )


def _by_wall(target: Target, results: Results) -> str:
    if target.theirs is None or target.ours.field != CPU:
        return ""
    ours = replace(target.ours, field=WALL).of(results)
    theirs = replace(target.theirs, field=WALL).of(results)
    return "" if ours is None or theirs is None else _ratio(ours / theirs)


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value > 0.5 else f"1/{1 / value:.1f}".removesuffix(".0")


def _plain(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _verdict(met: bool) -> str:
    return "met" if met else "**not met**"


if __name__ == "__main__":
    print_table(read(sys.argv[1]))
