"""From the outcomes of a superstep to the next state."""

from __future__ import annotations

import pytest

from nodestep import InvalidUpdateError, Replace, StateUpdateError
from nodestep.engine.merge import merge
from nodestep.model.position import Frame

from .making import SCHEMA, frame, update


def merged(at: Frame, **updates):
    """The fields after a merge; updates are by task id, with `_` for the bracket of a number."""
    return SCHEMA.data(merge(SCHEMA, SCHEMA.initial(), at, updates)[0])


def test_a_superstep_that_wrote_nothing_keeps_the_state():
    values = SCHEMA.initial()

    assert merge(SCHEMA, values, frame("a", "b"), {}) == (values, {})


def test_merging_leaves_the_state_before_as_it_was():
    values = SCHEMA.initial()
    merge(SCHEMA, values, frame("a"), {"a": update("a", total=5, log=["x"])})

    assert SCHEMA.data(values) == {"total": 0, "log": [], "notes": {}}


def test_updates_merge_by_node_name_whatever_was_scheduled_first():
    at = frame("zeta", "alpha", "mid")

    after = merged(at, zeta=update("zeta", log=["z"]), alpha=update("alpha", log=["a"]), mid=update("mid", log=["m"]))

    assert after["log"] == ["a", "m", "z"]


def test_tasks_of_one_node_merge_in_scheduling_order():
    at = frame(("b", {}), ("a", {}), ("b", {}), ("b", {}))
    updates = {"b[2]": update("b", log=["3"]), "b": update("b", log=["1"]), "b[1]": update("b", log=["2"])}

    assert merged(at, **updates, a=update("a", log=["0"]))["log"] == ["0", "1", "2", "3"]


def test_a_merging_field_takes_the_writes_of_every_node():
    after = merged(frame("a", "b"), a=update("a", notes={"k": "a", "l": "a"}), b=update("b", notes={"k": "b"}))

    assert after["notes"] == {"k": "b", "l": "a"}


def test_two_nodes_that_write_one_value_are_a_conflict_that_names_field_nodes_and_superstep():
    with pytest.raises(InvalidUpdateError) as caught:
        merged(frame("b", "c", "a", superstep=7), b=update("b", total=1), a=update("a", total=1, log=["x"]))

    assert (caught.value.field, caught.value.nodes, caught.value.superstep) == ("total", ("a", "b"), 7)
    assert "'total'" in str(caught.value)
    assert "'a', 'b'" in str(caught.value)


def test_nodes_that_write_different_fields_do_not_conflict():
    assert merged(frame("a", "b"), a=update("a", total=3), b=update("b", log=["x"]))["total"] == 3


def test_of_several_sends_of_one_node_the_last_wins_a_field_of_one_value():
    at = frame(("item", {}), ("item", {}), ("item", {}))
    updates = {"item[1]": update("item", total=2), "item": update("item", total=1)}

    assert merged(at, **updates)["total"] == 2


def test_sends_of_one_node_beside_another_writer_are_a_conflict():
    at = frame(("item", {}), ("item", {}), "other")
    updates = {"item": update("item", total=1), "item[1]": update("item", total=2), "other": update("other", total=3)}

    with pytest.raises(InvalidUpdateError, match="'item', 'other'"):
        merged(at, **updates)


def test_replace_beside_another_writer_is_a_conflict():
    with pytest.raises(InvalidUpdateError) as caught:
        merged(frame("a", "b"), a=update("a", log=Replace(["new"])), b=update("b", log=["more"]))

    assert (caught.value.field, caught.value.nodes) == ("log", ("a", "b"))


def test_replace_among_sends_of_one_node_counts_in_their_order():
    at = frame(("item", {}), ("item", {}), ("item", {}))
    updates = {
        "item": update("item", log=["lost"]),
        "item[1]": update("item", log=Replace(["new"])),
        "item[2]": update("item", log=["more"]),
    }

    assert merged(at, **updates)["log"] == ["new", "more"]


def test_a_lone_replace_bypasses_the_reducer():
    assert merged(frame("a"), a=update("a", log=Replace(["only"])))["log"] == ["only"]


def test_the_first_field_by_name_is_told_where_several_conflict():
    both = {"a": update("a", total=1, log=Replace([])), "b": update("b", total=2, log=[])}
    with pytest.raises(InvalidUpdateError) as caught:
        merged(frame("a", "b"), **both)

    assert caught.value.field == "log"


def test_a_conflict_is_a_state_update_error():
    assert issubclass(InvalidUpdateError, StateUpdateError)
