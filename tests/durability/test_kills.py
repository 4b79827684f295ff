"""The process is killed before and after every write of eight graph shapes, and another goes on to the end: the state is
that of an uninterrupted run, no recorded task runs again, no answered question is asked again, and none is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.durability.killing import Threads, double_kills, points
from tests.durability.lives import Kill
from tests.durability.nursery import Nursery
from tests.durability.shapes import SHAPES


@pytest.fixture
def threads(nursery: Nursery, quick: Path) -> Iterator[Threads]:
    made = Threads(nursery, quick)
    yield made
    print(made.figures)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_thread_survives_a_kill_before_and_after_every_write(shape, threads):
    writes = threads.writes(shape)
    assert writes >= 5
    for kill in points(writes):
        threads.survive(shape, [kill])
    assert threads.figures.kills == 2 * writes


@pytest.mark.parametrize("part", range(4))
def test_threads_survive_two_kills_at_random_writes(part, threads):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    double_kills(threads, 25, seed)
    assert threads.figures.kills > 25


@pytest.mark.parametrize("shape", SHAPES)
def test_a_thread_survives_many_processes_that_die_early(shape, threads):
    """Some do no more than claim it, the others end one superstep."""
    threads.survive(shape, [Kill(2, after=number % 2 == 1) for number in range(6)])
    assert threads.figures.kills >= 5
