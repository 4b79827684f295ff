"""What a node may write: fields, types, errors that name field and writer and never the value."""

import datetime
import enum
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import pytest
from annotated_types import Gt, MaxLen
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from nodestep.errors import LimitExceededError, StateStoreError, StateUpdateError
from nodestep.model.reducers import RemoveMessage, Replace, add, add_messages, merge_dict
from nodestep.model.schema import StateSchema
from nodestep.model.state import BaseState

HIDDEN = "hunter2"


class Color(enum.Enum):
    RED = "red"


class Address(BaseModel):
    street: str
    number: int


class Order(BaseModel):
    id: int
    address: Address


class Refund(BaseState):
    amount: float = 0.0
    approved: bool = False
    count: int = 0
    note: str | None = None
    day: datetime.date | None = None
    color: Color = Color.RED
    order: Order | None = None
    log: Annotated[list[str], add] = []
    options: Annotated[dict[str, Any], merge_dict] = {}
    kind: Literal["a", "b"] = "a"
    by_mail: dict[str, int] = {}
    short: Annotated[str, MaxLen(3)] = ""


class Loose(TypedDict):
    n: int
    anything: Any


REFUND = StateSchema(Refund)
WRITER = "node 'x'"


def take(update, schema=REFUND):
    return schema.take_update(update, WRITER)


def refused(update, schema=REFUND, error=StateUpdateError):
    with pytest.raises(error) as caught:
        schema.take_update(update, WRITER)
    text = str(caught.value)
    assert HIDDEN not in text
    cause = caught.value.__cause__ or caught.value.__context__
    while cause is not None:
        assert HIDDEN not in str(cause)
        cause = cause.__cause__ or cause.__context__
    return text


def test_scalars_are_taken_as_they_are_and_told_as_set():
    update = take({"amount": 1.5, "approved": True, "count": 3, "note": None})
    assert update.values == {"amount": 1.5, "approved": True, "count": 3, "note": None}
    assert update.patch == {"set": {"amount": 1.5, "approved": True, "count": 3, "note": None}}


def test_values_are_converted_as_pydantic_does_by_default():
    update = take({"amount": 80, "count": "3", "day": "2024-02-29", "color": "red"})
    assert update.values == {"amount": 80.0, "count": 3, "day": datetime.date(2024, 2, 29), "color": Color.RED}
    assert type(update.values["amount"]) is float
    assert update.patch == {"set": {"amount": 80.0, "count": 3, "day": "2024-02-29", "color": "red"}}


def test_a_strict_model_converts_nothing():
    class Strict(BaseState):
        model_config = ConfigDict(strict=True)
        count: int = 0
        day: datetime.date | None = None
        pair: tuple[int, int] = (0, 0)

    schema = StateSchema(Strict)
    day = datetime.date(2024, 2, 29)
    assert take({"count": 3, "day": day, "pair": (1, 2)}, schema).values == {"count": 3, "day": day, "pair": (1, 2)}
    for update in ({"count": "3"}, {"count": True}, {"day": "2024-02-29"}, {"pair": [1, 2]}):
        refused(update, schema)


def test_the_models_other_settings_count():
    class Stripped(BaseState):
        model_config = ConfigDict(str_strip_whitespace=True, use_enum_values=True)
        text: str = ""
        color: Color | None = None

    update = take({"text": " a ", "color": Color.RED}, StateSchema(Stripped))
    assert update.values == {"text": "a", "color": "red"}


def test_an_update_is_told_by_what_its_reducer_does():
    update = take({"log": ["a"], "options": {"k": [1]}, "count": 1})
    assert update.patch == {"set": {"count": 1}, "append": {"log": ["a"]}, "merge": {"options": {"k": [1]}}}


def test_replace_bypasses_the_reducer():
    update = take({"log": Replace(["a"]), "count": Replace(2)})
    assert update.values == {"log": Replace(["a"]), "count": 2}
    assert update.patch == {"set": {"log": ["a"], "count": 2}}


def test_an_update_is_the_schemas_own_copy():
    options, log, order = {"k": [1]}, ["a"], Order(id=1, address=Address(street="s", number=1))
    update = take({"options": options, "log": log, "order": order})
    options["k"].append(2)
    log.append("b")
    order.address.street = "t"
    assert update.values["options"] == {"k": [1]}
    assert update.values["log"] == ["a"]
    assert update.values["order"].address.street == "s"


def test_models_are_given_as_instances_or_as_dicts():
    order = Order(id=1, address=Address(street="s", number=2))
    for given in (order, {"id": 1, "address": {"street": "s", "number": "2"}}):
        update = take({"order": given})
        assert update.values == {"order": order}
        assert update.patch == {"set": {"order": {"id": 1, "address": {"street": "s", "number": 2}}}}


def test_an_empty_update_writes_nothing():
    assert take({}).patch == {}


def test_an_unknown_field_is_refused_with_the_known_ones():
    text = refused({"amuont": HIDDEN})
    assert "Refund has no field 'amuont', which node 'x' wrote" in text
    assert "Did you mean 'amount'?" in text


@pytest.mark.parametrize("update", [["log"], "log", 5, Refund()])
def test_an_update_is_a_mapping(update):
    assert "node 'x' gave a" in refused(update)


def test_a_key_that_is_no_text_is_refused():
    assert "key of type int" in refused({1: 2})
    assert "key of type int" in refused({1: 2}, StateSchema(dict))


@pytest.mark.parametrize(
    ("update", "told"),
    [
        ({"count": HIDDEN}, "Input should be a valid integer"),
        ({"amount": [HIDDEN]}, "Input should be a valid number"),
        ({"day": HIDDEN}, "Input should be a valid date"),
        ({"color": HIDDEN}, "Input should be 'red'"),
        ({"kind": HIDDEN}, "Input should be 'a' or 'b'"),
        (
            {"order": {"id": 1, "address": {"street": HIDDEN, "number": HIDDEN}}},
            "address.number: Input should be a valid int",
        ),
        ({"order": {"id": 1, HIDDEN: 2}}, "address: Field required"),
        ({"log": ["a", 5]}, "[1]: Input should be a valid string"),
        ({"log": HIDDEN}, "with the reducer add, return a list of the items to append"),
        ({"options": [HIDDEN]}, "with the reducer merge_dict, return a dict of the keys to set"),
        ({"by_mail": {HIDDEN: "many"}}, "[...]: Input should be a valid integer"),
        ({"short": HIDDEN}, "String should have at most 3 characters"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_naming_field_writer_and_place(update, told):
    [name] = update
    text = refused(update)
    assert text.startswith(f"Field {name!r} refused the value from node 'x': ")
    assert told in text


def test_many_findings_are_told_in_short():
    text = refused({"log": [1] * 50})
    assert "[2]:" in text
    assert "[3]" not in text
    assert "and 47 more" in text


def test_what_a_validator_says_is_not_shown():
    def check(value):
        raise ValueError(f"{value} is no good")

    class Model(BaseState):
        name: Annotated[str, AfterValidator(check)] | None = None

    assert "a validator refused it (value_error)" in refused({"name": HIDDEN}, StateSchema(Model))


def test_the_tag_of_a_union_is_not_shown():
    class Cat(BaseModel):
        kind: Literal["cat"]

    class Dog(BaseModel):
        kind: Literal["dog"]

    class Model(BaseState):
        pet: Cat | Dog | None = Field(None, discriminator="kind")

    schema = StateSchema(Model)
    assert take({"pet": {"kind": "dog"}}, schema).values == {"pet": Dog(kind="dog")}
    refused({"pet": {"kind": HIDDEN}}, schema)


def test_a_validator_that_breaks_passes_its_error_with_a_note():
    def check(value):
        raise KeyError("oops")

    class Model(BaseState):
        name: Annotated[str, BeforeValidator(check)] | None = None

    with pytest.raises(KeyError) as caught:
        take({"name": "a"}, StateSchema(Model))
    assert caught.value.__notes__ == ["raised while field 'name' took the value from node 'x'"]


def test_constraints_on_a_field_are_checked():
    class Model(BaseState):
        n: Annotated[int, Gt(0)] = 1
        m: int = Field(1, lt=10)

    schema = StateSchema(Model)
    assert take({"n": 5, "m": 9}, schema).values == {"n": 5, "m": 9}
    assert "Input should be greater than 0" in refused({"n": 0}, schema)
    assert "Input should be less than 10" in refused({"m": 10}, schema)


def test_a_typed_dict_is_validated_field_by_field():
    schema = StateSchema(Loose)
    assert take({"n": "1"}, schema).values == {"n": 1}
    refused({"n": HIDDEN}, schema)
    refused({"m": 1}, schema)


def test_a_plain_dict_takes_any_key_with_a_json_value():
    schema = StateSchema(dict)
    update = take({"a": 1, "b": {"c": [None, 1.5]}}, schema)
    assert update.patch == {"set": {"a": 1, "b": {"c": [None, 1.5]}}}
    for value in ((1, 2), {1: 2}, datetime.date(2024, 1, 1), Order):
        refused({"a": value}, schema, StateStoreError)


@pytest.mark.parametrize("schema", [StateSchema(dict), StateSchema(Loose)])
@pytest.mark.parametrize(
    "value", [2**63, float("nan"), float("inf"), "a\0", "\ud800", [float("nan")], {"k": [2**64]}, {"\0": 1}]
)
def test_what_no_store_keeps_is_beyond_a_limit_in_memory_as_well(schema, value):
    assert "'anything'" in refused({"anything": value}, schema, LimitExceededError)


def test_a_state_has_at_most_100_mebibytes():
    for value in ("x" * (100 << 20), ["x" * (60 << 20), "x" * (60 << 20)]):
        assert "The update from node 'x' has 1" in refused({"a": value}, StateSchema(dict), LimitExceededError)


class Message(BaseModel):
    id: str | None = None
    text: str


@dataclass
class Note:
    text: str
    id: str = ""


class Chat(BaseState):
    messages: Annotated[list[Message], add_messages] = []
    raw: Annotated[list[dict[str, Any]], add_messages] = []


CHAT = StateSchema(Chat)


def test_messages_are_told_as_data_and_removals_by_id():
    update = take({"messages": [Message(id="1", text="a"), RemoveMessage("0"), {"id": "2", "text": "b"}]}, CHAT)
    assert update.values == {
        "messages": [Message(id="1", text="a"), RemoveMessage("0"), Message(id="2", text="b")],
    }
    assert update.patch == {"messages": {"messages": [{"id": "1", "text": "a"}, "0", {"id": "2", "text": "b"}]}}


def test_removals_among_plain_dicts_are_told_by_id_as_well():
    update = take({"raw": [{"id": "1"}, RemoveMessage("0"), {"id": "2"}]}, CHAT)
    assert update.values == {"raw": [{"id": "1"}, RemoveMessage("0"), {"id": "2"}]}
    assert update.patch == {"messages": {"raw": [{"id": "1"}, "0", {"id": "2"}]}}


def test_the_id_of_a_removal_is_text_that_can_be_stored():
    refused({"raw": [RemoveMessage(1)]}, CHAT)  # type: ignore[arg-type]
    refused({"raw": [RemoveMessage("\0")]}, CHAT, LimitExceededError)


def test_a_message_without_an_id_gets_one_from_its_task_and_place():
    def ids(seed):
        update = CHAT.take_update({"messages": [{"text": "a"}, {"text": "a"}], "raw": [{"role": "user"}]}, WRITER, seed)
        return [m.id for m in update.values["messages"]] + [m["id"] for m in update.values["raw"]]

    assert ids("1/x") == ids("1/x")
    assert len({*ids("1/x"), *ids("2/x"), *ids("1/y")}) == 9


def test_the_message_object_of_the_node_keeps_no_derived_id():
    message = Message(text="a")
    take({"messages": [message]}, CHAT)
    assert message.id is None


def test_without_a_seed_derived_ids_never_meet():
    first, second = (take({"raw": [{"role": "user"}]}, CHAT).values["raw"][0]["id"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize("update", [{"raw": {"id": "1"}}, {"raw": [{"id": 1}]}, {"raw": [5]}, {"messages": "hi"}])
def test_messages_are_a_list_of_items_with_text_ids(update):
    refused(update, CHAT)


def test_replaced_messages_get_ids_and_lose_doubles():
    update = CHAT.take_update({"raw": Replace([{"id": "1", "n": 1}, {"n": 2}, {"id": "1", "n": 3}])}, WRITER, "1/x")
    first, second = update.values["raw"].value
    assert first == {"id": "1", "n": 3}
    assert second["n"] == 2
    assert len(second["id"]) == 32
    assert update.patch["set"]["raw"] == [first, second]


def test_remove_message_belongs_into_a_field_of_messages():
    refused({"log": [RemoveMessage("1")]})
    refused({"raw": Replace([RemoveMessage("1")])}, CHAT)
