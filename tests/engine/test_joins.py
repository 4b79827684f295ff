"""Joins: one mark per source, and the target once all have arrived."""

from __future__ import annotations

import pytest

from nodestep import END, START, GraphExecutionError
from nodestep.engine.replay import Checkpoint, advance, snapshot_from_bytes, snapshot_to_bytes
from nodestep.model.event import Fact, SuperstepCompleted, fact_from_json, fact_to_json
from nodestep.model.outcome import Target

from .making import follow, frame, graph, names, position, step, steps


def diamond():
    """`b` arrives at once, `c` a superstep later by way of `x`."""
    a, b, c, d, x = steps("a b c d x")
    return graph(START >> a >> [b, x], x >> c, [b, c] >> d, d >> END)


def test_a_source_that_arrives_leaves_a_mark():
    routed = follow(diamond(), frame("b", "x"))

    assert names(routed.due) == ["c"]
    assert routed.marks == {"d": ("b",)}


def test_the_join_runs_after_the_last_mark_and_clears_them():
    routed = follow(diamond(), frame("c", marks={"d": ("b",)}))

    assert names(routed.due) == ["d"]
    assert routed.marks == {}


def test_sources_that_arrive_together_need_no_mark():
    b, c, d = steps("b c d")
    routed = follow(graph(START >> [b, c] >> d >> END), frame("b", "c"))

    assert (names(routed.due), routed.marks) == (["d"], {})


def test_a_source_that_arrives_again_counts_once():
    b, c, d, x = steps("b c d x")
    blueprint = graph(START >> [b, x], x >> c, [b, c] >> d, d >> END)
    routed = follow(blueprint, frame("b", "x", marks={"d": ("b",)}))

    assert routed.marks == {"d": ("b",)}


@pytest.mark.parametrize("due", [["b", ("b", {}), "c"], ["b", "c", ("c", {})], ["c", ("b", {}), ("b", {}), ("c", {})]])
def test_several_arrivals_of_a_source_in_one_superstep_count_once(due):
    b, c, d = steps("b c d")
    routed = follow(graph(START >> [b, c] >> d >> END), frame(*due))

    assert (names(routed.due), routed.marks) == (["d"], {})


def test_a_second_task_of_the_last_source_leaves_no_mark_behind():
    b, c, d = steps("b c d")
    routed = follow(graph(START >> [b, c] >> d >> END), frame(("c", {}), ("c", {}), marks={"d": ("b",)}))

    assert (names(routed.due), routed.marks) == (["d"], {})


def test_a_source_that_jumps_leaves_no_mark():
    b, c, d, e = step("b", goto=["e"]), *steps("c d e")
    blueprint = graph(START >> [b, c] >> d >> END, e >> END)

    routed = follow(blueprint, frame("b", "c"), {"b": (Target("e"),)})

    assert (names(routed.due), routed.marks) == (["e"], {"d": ("c",)})


@pytest.mark.parametrize("target", [Target("d"), Target("d", {"total": 1})], ids=["goto", "send"])
def test_going_to_a_join_neither_needs_nor_touches_marks(target):
    a, b, c, d = step("a", goto=["d"]), *steps("b c d")
    blueprint = graph(START >> [a, b], a >> c, [b, c] >> d, d >> END)

    routed = follow(blueprint, frame("a", "b"), {"a": (target,)})

    assert names(routed.due) == ["d"]
    assert routed.marks == {"d": ("b",)}


def test_two_joins_of_one_source_are_marked_apart():
    b, c, d, e, f = steps("b c d e f")
    blueprint = graph(START >> [b, c, e], [b, c] >> d, [b, e] >> f, d >> END, f >> END)

    assert names(follow(blueprint, frame("b", "c", "e")).due) == ["d", "f"]
    late = follow(blueprint, frame("c", marks={"d": ("b",), "f": ("b",)}))
    assert (names(late.due), late.marks) == (["d"], {"f": ("b",)})


def test_a_run_that_would_end_with_a_half_marked_join_names_what_is_missing():
    b, c, d, e = steps("b c d e")
    b = step("b", goto=[END])
    blueprint = graph(START >> [b, c, e] >> d >> END)

    with pytest.raises(GraphExecutionError, match="'d' still waits for 'b'") as caught:
        follow(blueprint, frame("b", "c", "e"), {"b": ()})
    assert "goto" in str(caught.value)


def test_marks_that_wait_while_something_is_due_are_no_error():
    b, c, d = step("b", goto=["b"]), *steps("c d")
    routed = follow(graph(START >> [b, c] >> d >> END), frame("b", "c"), {"b": (Target("b"),)})

    assert (names(routed.due), routed.marks) == (["b"], {"d": ("c",)})


def stored(fact: SuperstepCompleted) -> Fact:
    """A fact as it comes back from a store."""
    return fact_from_json(fact_to_json(fact))


def test_marks_survive_the_stored_form_of_a_superstep():
    routed = follow(diamond(), frame("b", "x"))
    after = advance(position(frame("b", "x")), stored(SuperstepCompleted(routed.due, {}, routed.marks)), None, 0)

    assert after.root.marks == {"d": ("b",)}
    assert names(after.root.due) == ["c"]


def test_a_superstep_that_says_nothing_of_marks_keeps_them_and_an_empty_mapping_clears_them():
    before = position(frame("x", marks={"d": ("b",)}))

    kept = advance(before, stored(SuperstepCompleted((), {}, None)), None, 0)
    cleared = advance(before, stored(SuperstepCompleted((), {}, {})), None, 0)

    assert kept.root.marks == {"d": ("b",)}
    assert cleared.root.marks == {}


def test_marks_survive_a_snapshot():
    before = position(frame("x", marks={"d": ("b", "c"), "f": ("b",)}))

    assert snapshot_from_bytes(snapshot_to_bytes(Checkpoint({}, before))).position == before
