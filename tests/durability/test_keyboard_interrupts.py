"""Control-C at any line of a blocking run: it comes out, and the thread goes on with nothing lost and nothing twice."""

from __future__ import annotations

import random

import pytest

from tests.durability.interrupting import count, interrupted

LOCKS = ["stores/group.py", "stores/sqlite_file.py", "runtime/log.py"]
PLACES = 40


@pytest.mark.parametrize("shape", ["chain", "two_pauses", "join"])
def test_a_run_that_is_interrupted_at_any_line_can_be_continued(shape, nursery, quick):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    lines = count(quick / "count", shape, LOCKS, others=True)
    places = random.Random(seed).sample(range(1, lines), PLACES)
    nursery.child(interrupted, str(quick), shape, places, LOCKS, True)


def test_a_run_that_is_interrupted_while_it_takes_a_lock_can_be_continued(nursery, quick):
    lines = count(quick / "count", "chain", LOCKS)
    nursery.child(interrupted, str(quick), "chain", list(range(1, lines)), LOCKS, False)
