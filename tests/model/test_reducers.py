"""The reducers as functions, the way users call them in their own tests."""

from dataclasses import dataclass

import pytest

from nodestep.model.reducers import RemoveMessage, Replace, add, add_messages, merge_dict, replace


@dataclass(frozen=True)
class Note:
    id: str | None
    text: str


def test_replace_takes_the_update():
    assert replace(1, 2) == 2


def test_add_appends_and_changes_neither_list():
    current, update = ["a"], ["b"]
    assert add(current, update) == ["a", "b"]
    assert (current, update) == (["a"], ["b"])


def test_merge_dict_replaces_keys_one_level_deep():
    assert merge_dict({"a": {"x": 1}, "b": 1}, {"a": {"y": 2}}) == {"a": {"y": 2}, "b": 1}


@pytest.mark.parametrize(("reducer", "update"), [(add, ["a"]), (merge_dict, {"a": 1}), (add_messages, [{"id": "1"}])])
def test_a_field_that_is_absent_is_taken_as_empty(reducer, update):
    assert reducer(None, update) == update


def test_messages_are_appended_in_order():
    assert add_messages([{"id": "1"}], [{"id": "3"}, {"id": "2"}]) == [{"id": "1"}, {"id": "3"}, {"id": "2"}]


def test_a_message_with_a_known_id_takes_the_place_of_the_old_one():
    old = [Note("1", "a"), Note("2", "b"), Note("3", "c")]
    assert add_messages(old, [Note("2", "B")]) == [Note("1", "a"), Note("2", "B"), Note("3", "c")]
    assert old[1] == Note("2", "b")


def test_a_removed_message_is_gone_and_the_others_are_still_found():
    old = [{"id": "1"}, {"id": "2"}, {"id": "3", "n": 0}]
    assert add_messages(old, [RemoveMessage("1"), {"id": "3", "n": 1}]) == [{"id": "2"}, {"id": "3", "n": 1}]


def test_removing_an_unknown_message_does_nothing():
    assert add_messages([{"id": "1"}], [RemoveMessage("9")]) == [{"id": "1"}]


def test_a_message_removed_and_sent_again_stands_at_the_end():
    assert add_messages([{"id": "1"}, {"id": "2"}], [RemoveMessage("1"), {"id": "1"}]) == [{"id": "2"}, {"id": "1"}]


def test_messages_without_an_id_are_all_appended():
    assert add_messages([Note(None, "a")], [Note(None, "a"), Note(None, "b")]) == [
        Note(None, "a"),
        Note(None, "a"),
        Note(None, "b"),
    ]


def test_the_marks_are_values():
    assert Replace([1]) == Replace([1])
    assert RemoveMessage("1") == RemoveMessage("1")
