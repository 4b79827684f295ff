"""Where a turn begins: defaults, input, the whole state; and what a Send lays over it."""

import uuid
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, Field

from nodestep.errors import StateStoreError, StateUpdateError
from nodestep.model.reducers import Replace, add, add_messages
from nodestep.model.schema import StateSchema
from nodestep.model.state import BaseState


def total(current, update):
    return (current or 0) + update


class Order(BaseState):
    customer: str
    amount: float = 0.0
    log: Annotated[list[str], add] = ["made"]
    sum: Annotated[int, total] = 10
    messages: Annotated[list[dict[str, Any]], add_messages] = []


class Loose(TypedDict):
    n: int
    log: Annotated[list[str], add]


ORDER = StateSchema(Order)
LOOSE = StateSchema(Loose)


def test_a_first_turn_begins_with_defaults_under_the_input():
    values = ORDER.first_state({"customer": "ada", "log": ["paid"], "sum": 5})
    assert ORDER.result(values) == Order(customer="ada", log=["made", "paid"], sum=15)


def test_defaults_are_fresh_each_time():
    class Model(BaseState):
        id: str = Field(default_factory=lambda: uuid.uuid4().hex)
        items: list[int] = []

    schema = StateSchema(Model)
    first, second = schema.initial(), schema.initial()
    assert first["id"] != second["id"]
    assert first["items"] is not second["items"]


def test_a_default_may_be_made_from_the_fields_before_it():
    class Model(BaseState):
        name: str = "ada"
        mail: str = Field(default_factory=lambda data: f"{data['name']}@example.org")

    assert StateSchema(Model).initial() == {"name": "ada", "mail": "ada@example.org"}


def test_a_default_factory_whose_value_does_not_fit_is_refused():
    class Model(BaseState):
        n: int = Field(default_factory=lambda: "many")  # type: ignore[assignment]

    with pytest.raises(StateUpdateError, match="The default of field 'n' of Model was refused"):
        StateSchema(Model).initial()


def test_a_field_that_must_be_given_and_is_not_is_named():
    with pytest.raises(StateUpdateError, match="Order needs 'customer', which the input does not give"):
        ORDER.first_state({"amount": 1})
    with pytest.raises(StateUpdateError, match="Order needs 'customer'"):
        ORDER.first_state(None)


def test_the_input_is_a_writer_like_any_other():
    with pytest.raises(StateUpdateError, match="Field 'amount' refused the value from the input"):
        ORDER.first_state({"customer": "ada", "amount": "much"})
    with pytest.raises(StateUpdateError, match="which the input wrote"):
        ORDER.first_state({"customre": "ada"})


@pytest.mark.parametrize("value", ["ada", 5, ["customer"], LOOSE])
def test_an_input_of_another_kind_is_refused(value):
    with pytest.raises(StateUpdateError, match="Pass a dict of fields, or an Order"):
        ORDER.first_state(value)
    with pytest.raises(StateUpdateError, match=r"Pass a dict of fields\."):
        LOOSE.first_state(value)


def test_an_instance_of_the_model_is_the_whole_state():
    given = Order(customer="ada", log=["x"], sum=1)
    values = ORDER.first_state(given)
    assert ORDER.result(values) == given
    assert ORDER.result(values) is not given
    given.log.append("y")
    assert ORDER.result(values).log == ["x"]
    later, patch = ORDER.next_state(values, Order(customer="bob"))
    assert ORDER.result(later) == Order(customer="bob")
    assert patch["set"] == ORDER.dump(later)


def test_an_instance_is_validated_as_well():
    with pytest.raises(StateUpdateError, match="Field 'amount' refused the value from the input"):
        ORDER.first_state(Order.model_construct(customer="ada", amount="much"))
    with pytest.raises(StateUpdateError, match="Order needs 'customer'"):
        ORDER.first_state(Order.model_construct())


def test_an_instance_of_a_subclass_loses_no_fields_in_silence():
    class Larger(Order):
        extra: int = 1

    class Same(Order):
        pass

    with pytest.raises(
        StateUpdateError, match="A Larger has fields that Order does not have, so the input cannot be one"
    ):
        ORDER.first_state(Larger(customer="ada"))
    assert ORDER.result(ORDER.first_state(Same(customer="ada"))) == Order(customer="ada")


def test_a_later_input_is_laid_over_the_state_and_told_as_a_patch():
    values = ORDER.first_state({"customer": "ada"})
    later, patch = ORDER.next_state(values, {"amount": 2, "log": ["more"], "sum": 5})
    assert ORDER.result(later) == Order(customer="ada", amount=2.0, log=["made", "more"], sum=15)
    assert patch == {"set": {"amount": 2.0, "sum": 15}, "append": {"log": ["more"]}}
    assert ORDER.result(values) == Order(customer="ada")


@pytest.mark.parametrize("nothing", [{}, None])
def test_an_empty_input_changes_nothing(nothing):
    values = ORDER.first_state({"customer": "ada"})
    assert ORDER.next_state(values, nothing) == (values, {})


def test_messages_of_each_input_are_new_messages():
    values = ORDER.first_state({"customer": "ada", "messages": [{"text": "hi"}]})
    for _ in range(2):
        values, _ = ORDER.next_state(values, {"messages": [{"text": "hi"}]})
    assert len(ORDER.data(values)["messages"]) == 3


def test_absent_keys_of_a_typed_dict_stay_absent():
    assert LOOSE.first_state(None) == {}
    values, _ = LOOSE.next_state({}, {"log": ["a"]})
    assert LOOSE.data(values) == {"log": ["a"]}


def test_an_edit_names_its_own_writer():
    with pytest.raises(StateUpdateError, match="Field 'amount' refused the value from update_state"):
        ORDER.next_state(ORDER.first_state({"customer": "ada"}), {"amount": "much"}, writer="update_state")


def test_a_payload_is_laid_over_without_reducers():
    values, stored = ORDER.take_payload({"log": ["only"], "amount": "2", "sum": 1}, "the Send of node 'x'")
    assert values == {"log": ["only"], "amount": 2.0, "sum": 1}
    assert stored == {"log": ["only"], "amount": 2.0, "sum": 1}
    assert ORDER.payload_from_json(stored) == values


def test_a_payload_is_validated():
    for payload, error, told in (
        ({"amuont": 1}, StateUpdateError, "Did you mean 'amount'"),
        ({"amount": "much"}, StateUpdateError, "Field 'amount' refused the value from the Send of node 'x'"),
        ({"log": Replace(["a"])}, StateUpdateError, "Field 'log'"),
        (["log"], StateUpdateError, "the Send of node 'x' gave a list"),
    ):
        with pytest.raises(error, match=told):
            ORDER.take_payload(payload, "the Send of node 'x'")  # type: ignore[arg-type]
    with pytest.raises(StateStoreError, match="Field 'a'"):
        StateSchema(dict).take_payload({"a": (1,)}, "the Send of node 'x'")


def test_a_state_model_need_not_be_a_base_state():
    class Plain(BaseModel):
        n: int = 1

    schema = StateSchema(Plain)
    assert schema.result(schema.first_state(Plain(n=2))) == Plain(n=2)
