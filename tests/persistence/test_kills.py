"""A process is killed at a given point, and another goes on: recorded work is not repeated, and nothing is lost."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from nodestep import SQLiteStateStore

from .children import Child
from .programs.effects import Effects
from .programs.orders import build, finish

EVERY = ["take", "pack", "price", "offer", "approved:yes", "charge", "ship"]
# The point, and what had its effect but was not recorded yet, so that it is done again.
POINTS = {
    "before take": [],
    "after take": ["take"],
    "beside pack": [],
    "paused": [],
    "answered": [],
    "after the effect": ["approved:yes"],
    "after once": [],
    "in the router": [],
    "in the last node": ["ship"],
}


def done(effects: Effects) -> Counter[str]:
    return Counter(re.sub(":[0-9a-f]{32}", "", effect) for effect in effects.done())


@pytest.mark.parametrize("point", POINTS)
def test_what_was_recorded_is_not_done_again_and_nothing_is_lost(point, tmp_path):
    path, effects = tmp_path / "threads.db", Effects(tmp_path / "effects")
    with Child("orders", path, effects.path, point) as child:
        assert child.hears() == "inside"
        child.kill()

    with SQLiteStateStore(path) as store:
        order = finish(build(store, effects))

    assert order.log == ["take", "pack", "price", "approved yes", "pay", "ship"]
    assert done(effects) == Counter([*EVERY, *POINTS[point]])


def test_the_idempotency_key_is_the_same_before_and_after_a_kill(tmp_path):
    path, effects = tmp_path / "threads.db", Effects(tmp_path / "effects")
    with Child("orders", path, effects.path, "in the last node") as child:
        child.hears()
        child.kill()
    with SQLiteStateStore(path) as store:
        finish(build(store, effects))

    keys = [effect for effect in effects.done() if effect.startswith("ship:")]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_a_thread_may_be_killed_again_and_again(tmp_path):
    path, effects = tmp_path / "threads.db", Effects(tmp_path / "effects")
    points = ["before take", "beside pack", "answered", "after once", "in the router"]
    for point in points:
        with Child("orders", path, effects.path, point) as child:
            assert child.hears() == "inside", point
            child.kill()

    with SQLiteStateStore(path) as store:
        assert finish(build(store, effects)).log[-1] == "ship"
    assert done(effects) == Counter(EVERY)


def test_an_answer_given_to_a_process_that_was_killed_is_not_asked_for_again(tmp_path):
    path, effects = tmp_path / "threads.db", Effects(tmp_path / "effects")
    with Child("orders", path, effects.path, "answered") as child:
        child.hears()
        child.kill()

    with SQLiteStateStore(path) as store:
        graph = build(store, effects)
        assert graph.invoke(None, thread_id="order-1").status == "completed"
