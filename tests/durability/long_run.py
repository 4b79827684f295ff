"""The durability tests for as long as one likes, with figures.

    python -m tests.durability.long_run [--kills N] [--rounds N] [--stale N] [--cuts N] [--flips N] [--lines STEP]
                                        [--sequences N] [--seed N]

Without a choice everything runs, in the numbers that the help tells. A part that fails says with which seed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from nodestep import InMemoryStateStore
from tests.durability.interrupting import count, interrupted
from tests.durability.killing import Threads, double_kills, points
from tests.durability.nursery import Nursery
from tests.durability.racing import Race
from tests.durability.shapes import SHAPES
from tests.durability.stale import Sleeper

MEMORY = Path("/dev/shm")
WORKERS = 2
BATCH = 10


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.exists() else None, prefix="nodestep-") as made:
        yield Path(made)


def counted(what: str, number: int) -> Iterator[int]:
    """From 0 to `number`, with a line at every tenth of the way."""
    for at in range(number):
        yield at
        if (at + 1) * 10 // number > at * 10 // number:
            print(f"  {what}: {at + 1} of {number}", flush=True)


def kills(number: int, seed: int) -> str:
    """Every write of every shape once, before and after; then so many double kills."""

    def work(part: int) -> Threads:
        with Nursery() as nursery, folder() as place:
            threads = Threads(nursery, place)
            for shape in list(SHAPES)[part::WORKERS]:
                for kill in points(threads.writes(shape)):
                    threads.survive(shape, [kill])
            for batch in counted(f"double kills by tens, worker {part}", number // WORKERS // BATCH):
                double_kills(threads, BATCH, seed + part * number + batch)
            return threads

    with ThreadPoolExecutor(WORKERS) as pool:
        parts = list(pool.map(work, range(WORKERS)))
    return "; ".join(str(part.figures) for part in parts)


def rounds(number: int, seed: int) -> str:
    """Two processes and ten that resume one paused thread at once, in both forms."""
    told = []
    for processes in (2, 10):
        for what in ("resume", "aresume"):
            with folder() as place, Race(place, processes) as race:
                for at in counted(f"rounds of {processes}, {what}", number // 2):
                    race.resume(f"t{at}", what)
                told.append(
                    f"{number // 2} rounds of {processes} by {what}: one effect each, losers {dict(race.losses)}"
                )
    return "; ".join(told)


def stale(number: int, seed: int) -> str:
    """Owners that are stopped for longer than their lease."""
    told = []
    for kind in ("plain", "once", "async", "beside"):
        with folder() as place, Sleeper(place, kind) as sleeper:
            for at in counted(f"stale owners, {kind}", number // 4):
                sleeper.round(f"t{at}")
            told.append(f"{number // 4} {kind}: {dict(sleeper.ends)}")
    return "nothing written after the lease was lost; " + "; ".join(told)


def orders(_: int, seed: int) -> str:
    """Every order of the operations of three resumes."""
    from tests.durability.racing import REFUSED
    from tests.durability.test_interleavings import Scene, outcomes

    played = 0
    for scene, results in outcomes(lambda: Scene(InMemoryStateStore()), "resume", "resume", "resume"):
        played += 1
        assert results.count("completed") == 1
        assert {*results} - {"completed"} <= REFUSED
        assert len(scene.effects) == 1
    return f"{played} orders of three resumes: one effect each"


def cuts(number: int, seed: int) -> str:
    """Power cuts of a store with traffic, each with three ways in which the disk may be left."""
    from tests.durability.disk import Disk
    from tests.durability.disk import cuts as all_cuts
    from tests.durability.test_power_cuts import Traffic, check, points, restore

    chance = random.Random(seed)
    with folder() as place:
        with Disk() as disk:
            traffic = Traffic(disk, place / "t.db", chance=chance)
            traffic.run(300)
        inner = place / "cut"
        inner.mkdir()
        played = 0
        for told, files in all_cuts(disk.deeds, points(disk, chance, number), chance):
            check(restore(inner, files), told, traffic.records)
            played += 1
    return f"{played} disks after a power cut among {len(disk.deeds)} deeds: all that was acknowledged was there"


def flips(number: int, seed: int) -> str:
    """Changed bytes all over a file with a thread for each way to stand."""
    from tests.durability.test_damaged_files import Truth, fill, flipped, spread
    from tests.stores.writing import StillClock

    chance, clock = random.Random(seed), StillClock()
    with folder() as place:
        fill(place / "t.db", clock)
        truth = Truth.of(place / "t.db", clock)
        places = spread(len(truth.content), number, chance)
        told = sum(truth.check(content) > 0 for content in flipped(truth.content, places, chance))
    return f"{len(places)} flipped bytes: {told} told, the others did no harm"


def lines(step: int, seed: int) -> str:
    """KeyboardInterrupt at every so many lines of a run."""
    from tests.durability.test_keyboard_interrupts import LOCKS

    told = []
    with Nursery() as nursery:
        for shape in ("chain", "two_pauses", "join"):
            with folder() as place:
                places = list(range(1 + seed % step, count(place / "count", shape, LOCKS, others=True), step))
                for start in range(0, len(places), 200):
                    nursery.child(interrupted, str(place), shape, places[start : start + 200], LOCKS, True)
                told.append(f"{shape} at {len(places)} lines")
    return "interrupted and continued: " + ", ".join(told)


def sequences(number: int, seed: int) -> str:
    """Random sequences of calls against the oracle."""
    from tests.durability.test_any_sequence import AnySequence

    run_state_machine_as_test(
        AnySequence,
        settings=settings(
            max_examples=number,
            stateful_step_count=50,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    return f"{number} sequences of up to 50 calls: both stores did what the oracle said"


PARTS: dict[str, tuple[Callable[[int, int], str], int]] = {
    "kills": (kills, 2000),
    "rounds": (rounds, 500),
    "stale": (stale, 100),
    "orders": (orders, 1),
    "cuts": (cuts, 400),
    "flips": (flips, 2000),
    "lines": (lines, 7),
    "sequences": (sequences, 300),
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/durability", description=__doc__.partition("\n")[0] if __doc__ else ""
    )
    for name, (work, default) in PARTS.items():
        parser.add_argument(
            f"--{name}", type=int, nargs="?", const=default, metavar="N", help=f"{work.__doc__} ({default} unless told)"
        )
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="what is drawn follows from it")
    given = vars(parser.parse_args(arguments))
    seed = given.pop("seed")
    chosen = {name: number for name, number in given.items() if number is not None}
    print(f"seed {seed}", flush=True)
    for name, number in (chosen or {name: default for name, (_, default) in PARTS.items()}).items():
        begun = time.monotonic()
        told = PARTS[name][0](number, seed)
        print(f"{name}: {told} ({time.monotonic() - begun:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
