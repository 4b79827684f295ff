"""Patches as data: what applying one does to a state kept as JSON."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep.model.patch import apply, followed_by, without_reduce


def applied(state, *patches, positions=None):
    for patch in patches:
        apply(state, patch, positions)
    return state


def test_set_puts_the_value_in_place():
    assert applied({"n": 1}, {"set": {"n": 2, "m": [1]}}) == {"n": 2, "m": [1]}


def test_append_extends_the_list_or_begins_it():
    assert applied({"log": ["a"]}, {"append": {"log": ["b"], "new": ["c"]}}) == {"log": ["a", "b"], "new": ["c"]}


def test_merge_sets_keys_of_the_dict_or_begins_it():
    assert applied({"d": {"a": 1}}, {"merge": {"d": {"b": 2}, "e": {"c": 3}}}) == {"d": {"a": 1, "b": 2}, "e": {"c": 3}}


def test_messages_are_appended_edited_and_removed():
    state = {"m": [{"id": "1"}, {"id": "2"}, {"id": "3"}]}
    assert applied(state, {"messages": {"m": ["1", {"id": "3", "x": 1}, {"id": "4"}]}}) == {
        "m": [{"id": "2"}, {"id": "3", "x": 1}, {"id": "4"}]
    }


def test_what_a_users_reducer_was_called_with_is_left_out():
    assert applied({"n": 1}, {"reduce": {"n": 5}}) == {"n": 1}


def test_an_unknown_operation_is_refused():
    with pytest.raises(ValueError, match="unknown operation 'drop'"):
        apply({}, {"drop": {"n": 1}})


def test_nothing_of_a_patch_becomes_part_of_the_state():
    patches = [
        {
            "set": {"a": [[1]]},
            "append": {"b": [{"x": [1]}]},
            "merge": {"c": {"k": [1]}},
            "messages": {"d": [{"id": "1"}]},
        }
    ]
    before = copy.deepcopy(patches)
    state = applied({}, *patches)
    state["a"][0].append(2)
    state["b"][0]["x"].append(2)
    state["c"]["k"].append(2)
    state["d"][0]["y"] = 1
    apply(state, {"append": {"a": [3]}})
    assert patches == before


EDITS = st.lists(
    st.lists(st.sampled_from("abcde") | st.sampled_from("abcde").map(lambda id: {"id": id}), max_size=4), max_size=8
)


@given(EDITS)
def test_positions_kept_between_patches_change_no_result(batches):
    patches = [{"messages": {"m": batch}} for batch in batches]
    assert applied({}, *patches, positions={}) == applied({}, *patches)


def test_positions_are_forgotten_when_the_list_is_set_anew():
    positions: dict = {}
    state = applied({}, {"messages": {"m": [{"id": "1"}, {"id": "2"}]}}, positions=positions)
    applied(state, {"set": {"m": [{"id": "2"}]}}, {"messages": {"m": [{"id": "2", "x": 1}]}}, positions=positions)
    assert state == {"m": [{"id": "2", "x": 1}]}


def test_two_patches_become_one_with_the_second_last():
    assert followed_by({"set": {"a": 1}, "append": {"l": [1]}}, {"set": {"b": 2}}) == {
        "set": {"a": 1, "b": 2},
        "append": {"l": [1]},
    }


def test_a_patch_can_leave_out_what_only_a_reducer_reads():
    assert without_reduce({"set": {"a": 1}, "reduce": {"b": 2}}) == {"set": {"a": 1}}
