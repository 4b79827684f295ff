"""What is stored of a state, and what becomes of it when the schema has changed (PE-12, DX-03, SE-06, SE-09)."""

import datetime
import enum
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, create_model

from nodestep.errors import GraphChangedError
from nodestep.model.canonical import decode, encode
from nodestep.model.reducers import add, add_messages, merge_dict
from nodestep.model.schema import StateSchema
from nodestep.model.state import BaseState

HIDDEN = "hunter2"


class Color(enum.Enum):
    RED = "red"


class Item(BaseModel):
    id: str
    price: float = 0.0


class Model(BaseState):
    n: int = 0
    day: datetime.date | None = None
    color: Color = Color.RED
    items: Annotated[list[Item], add_messages] = []
    log: Annotated[list[str], add] = []
    options: Annotated[dict[str, Any], merge_dict] = {}


class Loose(TypedDict, total=False):
    n: int
    log: Annotated[list[str], add]


SCHEMA = StateSchema(Model)
FULL = {
    "n": 5,
    "day": datetime.date(2024, 2, 29),
    "items": [{"id": "a", "price": 1}],
    "log": ["x"],
    "options": {"k": [1]},
}


def model(**fields):
    return StateSchema(create_model("Model", __base__=BaseState, **fields))


def changed(stored, **fields):
    with pytest.raises(GraphChangedError) as caught:
        model(**fields).load(stored)
    assert HIDDEN not in str(caught.value)
    return str(caught.value)


def test_every_field_is_stored_and_comes_back():
    values = SCHEMA.first_state(FULL)
    stored = SCHEMA.dump(values)
    assert stored == {
        "n": 5,
        "day": "2024-02-29",
        "color": "red",
        "items": [{"id": "a", "price": 1.0}],
        "log": ["x"],
        "options": {"k": [1]},
    }
    assert SCHEMA.result(SCHEMA.load(decode(encode(stored)))) == SCHEMA.result(values)


def test_what_is_loaded_is_an_own_copy():
    stored = decode(encode(SCHEMA.dump(SCHEMA.first_state(FULL))))
    loaded = SCHEMA.load(stored)
    stored["options"]["k"].append(2)
    stored["log"].append("y")
    assert SCHEMA.data(loaded)["options"] == {"k": [1]}
    assert SCHEMA.data(loaded)["log"] == ["x"]


def test_fields_that_no_node_touched_are_all_there():
    values = SCHEMA.first_state({})
    for update in ({"log": ["a"]}, {"n": 1}):
        values, _ = SCHEMA.merge(values, [SCHEMA.take_update(update, "node 'x'")], str)
    assert SCHEMA.result(SCHEMA.load(SCHEMA.dump(values))) == Model(n=1, log=["a"])


def test_a_new_field_gets_its_default_and_an_old_one_is_left_out():
    schema = model(n=(int, 0), added=(list[int], Field(default_factory=lambda: [7])))
    values = schema.load({"n": 3, "removed": 1})
    assert values == {"n": 3, "added": [7]}


def test_a_new_field_that_must_be_given_is_named():
    assert "Model needs 'must', which the stored state does not have" in changed({"n": 1}, n=(int, 0), must=(int, ...))


@pytest.mark.parametrize("annotation", [int, list[str], datetime.date, Color, Item, dict[str, int]])
def test_a_field_that_no_longer_fits_is_named_and_not_shown(annotation):
    text = changed({"x": HIDDEN}, x=(annotation, ...))
    assert "What is stored of field 'x' does not fit Model any more" in text


def test_a_type_that_was_renamed_or_moved_still_fits_if_its_fields_do():
    class Renamed(BaseModel):
        id: str
        price: float = 0.0

    class Other(BaseModel):
        name: str

    stored = {"items": [{"id": "a", "price": 1.0}]}
    assert model(items=(list[Renamed], [])).load(stored)["items"] == [Renamed(id="a", price=1.0)]
    assert "items" in changed(stored, items=(list[Other], []))


def test_a_wider_type_takes_what_was_stored():
    assert model(x=(float, 0.0)).load({"x": 3}) == {"x": 3.0}
    assert model(x=(int | str, 0)).load({"x": 3}) == {"x": 3}


def test_loading_again_and_again_changes_nothing():
    schema = model(
        text=(Annotated[str, AfterValidator(lambda text: text.rstrip("!") + "!")], ""),
        n=(Annotated[int, BeforeValidator(int)], 0),
    )
    values = schema.first_state({"text": "a", "n": "5"})
    for _ in range(3):
        values = schema.load(decode(encode(schema.dump(values))))
    assert values == {"text": "a!", "n": 5}


def test_absent_keys_of_a_typed_dict_stay_absent():
    schema = StateSchema(Loose)
    assert schema.load({"n": 1, "other": 2}) == {"n": 1}


def test_a_plain_dict_loads_every_key():
    schema = StateSchema(dict)
    assert schema.load({"a": {"b": [1]}}) == {"a": {"b": [1]}}


def test_a_recorded_update_leaves_out_fields_that_are_gone():
    update = model(n=(int, 0)).update_from_patch({"set": {"n": 1, "removed": 2}, "append": {"log": ["a"]}})
    assert update.values == {"n": 1}


def test_a_recorded_update_whose_reducer_changed_is_refused():
    with pytest.raises(GraphChangedError, match="field 'log' does not fit Model any more"):
        model(log=(list[str], [])).update_from_patch({"append": {"log": ["a"]}})


def test_a_stored_payload_that_no_longer_fits_is_refused():
    with pytest.raises(GraphChangedError, match="field 'n'"):
        model(n=(int, 0)).payload_from_json({"n": HIDDEN, "removed": 1})
