"""JSON that never changes: it behaves as a dict or a list in every reading way, and copies of values share it."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep import END, START, BaseState, Graph, node
from nodestep.chat import AIMessage, ToolCall
from nodestep.model.copying import own_copy
from nodestep.model.frozen import frozen
from nodestep.model.limits import own_json, to_json

VALUE = {"a": {"b": [1, {"c": None}]}, "d": "text"}

values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("aü", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("aü", max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text("aü", max_size=3), values, max_size=3))
def test_it_equals_prints_and_encodes_like_what_it_was_made_of(value):
    held = frozen(value)
    assert held == value
    assert repr(held) == repr(value)
    assert json.dumps(held) == json.dumps(value)
    assert own_json(held) == to_json(held, "it") == value
    assert type(own_json({"x": held})["x"]) is dict


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.update(x=1),
        lambda held: held.__setitem__("a", 1),
        lambda held: held.__delitem__("a"),
        lambda held: held.pop("a"),
        lambda held: held.popitem(),
        lambda held: held.clear(),
        lambda held: held.setdefault("x", 1),
        lambda held: held.__ior__({"x": 1}),
        lambda held: held["a"].update(x=1),
        lambda held: held["a"]["b"].append(1),
        lambda held: held["a"]["b"].__setitem__(0, 2),
        lambda held: held["a"]["b"].__iadd__([1]),
        lambda held: held["a"]["b"].__imul__(2),
        lambda held: held["a"]["b"].__delitem__(0),
        lambda held: held["a"]["b"].extend([1]),
        lambda held: held["a"]["b"].insert(0, 1),
        lambda held: held["a"]["b"].pop(),
        lambda held: held["a"]["b"].remove(1),
        lambda held: held["a"]["b"].reverse(),
        lambda held: held["a"]["b"].sort(),
        lambda held: held["a"]["b"].clear(),
        lambda held: held["a"]["b"][1].update(c=2),
    ],
)
def test_it_refuses_to_be_changed_at_every_level(change):
    held = frozen(VALUE)
    with pytest.raises(TypeError, match="messages never change"):
        change(held)
    assert held == VALUE


def test_copies_are_itself_and_a_pickle_is_equal():
    held = frozen(VALUE)
    assert own_copy(held) is copy.copy(held) is copy.deepcopy(held) is held
    back = pickle.loads(pickle.dumps(held))
    assert (back, type(back), type(back["a"]["b"])) == (held, type(held), type(held["a"]["b"]))


def test_a_message_with_calls_is_shared_by_its_copies():
    message = AIMessage(tool_calls=(ToolCall(id="a", name="look", arguments=VALUE),))
    assert own_copy(message) is message
    assert message.tool_calls[0].model_dump()["arguments"] == VALUE
    assert type(message.tool_calls[0].model_dump()["arguments"]) is dict


def test_what_a_call_was_made_of_may_change_without_it():
    arguments: dict[str, Any] = {"n": [1]}
    call = ToolCall(id="a", name="look", arguments=arguments)
    arguments["n"].append(2)
    assert call.arguments == {"n": [1]}


def test_the_arguments_of_a_call_may_be_written_to_a_field_of_plain_json():
    class State(BaseState):
        seen: dict[str, Any] = {}

    @node
    def see(state: State) -> dict:
        return {"seen": ToolCall(id="a", name="look", arguments=VALUE).arguments}

    seen = Graph(State).flow(START >> see >> END).invoke({}).state.seen
    assert (seen, type(seen), type(seen["a"])) == (VALUE, dict, dict)
