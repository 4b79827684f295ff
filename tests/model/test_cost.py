"""What a superstep costs depends on the fields it touches, never on the size of the rest of the state."""

import time
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from nodestep.model.reducers import add, add_messages
from nodestep.model.schema import StateSchema
from nodestep.model.state import BaseState


class Loose(TypedDict, total=False):
    n: int
    rows: list[dict[str, Any]]
    log: Annotated[list[str], add]
    messages: Annotated[list[dict[str, Any]], add_messages]


class Model(BaseState):
    n: int = 0
    rows: list[dict[str, Any]] = []
    log: Annotated[list[str], add] = []
    messages: Annotated[list[dict[str, Any]], add_messages] = []


def superstep_s(state_type, size, update):
    """The least time that one superstep of one node took, with fields of `size` items beside what it reads."""
    schema = StateSchema(state_type)
    values = schema.first_state(
        {
            "n": 0,
            "rows": [{"a": n, "b": ["x"]} for n in range(size)],
            "log": ["x"] * size,
            "messages": [{"id": str(n)} for n in range(size)],
        }
    )
    values, _ = schema.merge(values, [schema.take_update({"log": ["x"], "messages": [{"id": "x"}]}, "node 'x'")], str)
    times = []
    for step in range(200):
        begun = time.perf_counter()
        view = schema.view(values)
        _ = view["n"] if isinstance(view, dict) else view.n
        assert schema.changes(view, values) == {}
        taken = schema.take_update(update, "node 'x'", str(step))
        values, _ = schema.merge(values, [taken], str)
        times.append(time.perf_counter() - begun)
    return min(times)


UPDATES = {
    "a number": {"n": 1},
    "an item": {"log": ["y"]},
    "a message": {"messages": [{"role": "user"}]},
}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("state_type", [Loose, Model])
def test_a_large_state_costs_a_superstep_no_more_than_a_small_one(state_type, update):
    small = superstep_s(state_type, 100, UPDATES[update])
    large = superstep_s(state_type, 20_000, UPDATES[update])
    assert large < 3 * small


def test_in_a_plain_dict_as_well():
    small = superstep_s(dict, 100, {"n": 1})
    assert superstep_s(dict, 20_000, {"n": 1}) < 3 * small
