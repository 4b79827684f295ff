"""A state type is read once, and everything wrong with it is told at once."""

import operator
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, NotRequired, Required, TypedDict, TypeVar

import annotated_types
import pytest
import typing_extensions
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    computed_field,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from nodestep.errors import GraphConfigError
from nodestep.model.reducers import add, add_messages, merge_dict, replace
from nodestep.model.schema import StateSchema
from nodestep.model.state import BaseState

T = TypeVar("T")
Log = typing_extensions.TypeAliasType("Log", Annotated[list[str], add])


def highest(current, update):
    return max(current or 0, update)


class Plain(TypedDict, total=False):
    n: Required[int]
    log: Annotated[NotRequired[list[str]], add]


class Strange(TypedDict):
    socket: socket.socket


class Messages(TypedDict):
    messages: Annotated[list["NoId"], add_messages]


class NoId(TypedDict):
    text: str


def problems_of(state_type):
    with pytest.raises(GraphConfigError) as caught:
        StateSchema(state_type)
    return str(caught.value)


def test_a_model_a_typed_dict_and_dict_are_state_types():
    class Model(BaseState):
        n: int

    for state_type, name, fields in (
        (Model, "Model", ["n"]),
        (Plain, "Plain", ["n", "log"]),
        (dict, "dict", []),
        (dict[str, Any], "dict", []),
    ):
        schema = StateSchema(state_type)
        assert (schema.name, list(schema.fields)) == (name, fields)


@pytest.mark.parametrize("state_type", [int, "State", None, list[int], dict[str, int], dataclass(type("D", (), {}))])
def test_anything_else_is_refused_with_what_to_write(state_type):
    assert "pydantic model (BaseState is one), a TypedDict or dict" in problems_of(state_type)


def test_the_reducer_is_the_one_callable_in_the_annotation():
    class Model(BaseState):
        a: int = 0
        b: Annotated[list[str], add] = []
        c: Annotated[dict[str, int], "a note", merge_dict, Field(description="x")] = {}
        d: Annotated[int, annotated_types.Gt(0), highest] = 1
        e: Annotated[int, AfterValidator(abs)] = 1
        f: Annotated[int, operator.add] = 1
        g: Annotated[list[int], replace, annotated_types.Len(0, 3)] = []

    reducers = {name: field.reducer for name, field in StateSchema(Model).fields.items()}
    assert reducers == {
        "a": replace,
        "b": add,
        "c": merge_dict,
        "d": highest,
        "e": replace,
        "f": operator.add,
        "g": replace,
    }


def test_a_reducer_in_a_named_type_is_found():
    class Model(BaseState):
        log: Log = []

    assert StateSchema(Model).fields["log"].reducer is add


def test_generic_models_are_state_types():
    class Box(BaseModel, Generic[T]):
        items: Annotated[list[T], add] = []

    schema = StateSchema(Box[int])
    assert schema.result(schema.first_state({"items": ["1"]})) == Box[int](items=[1])


def test_two_reducers_on_a_field_are_refused():
    class Model(BaseState):
        log: Annotated[list[str], add, highest] = []

    assert "field 'log' has 2 reducers, add, highest" in problems_of(Model)


@pytest.mark.parametrize(
    "annotation", [Annotated[list[str], add] | None, Annotated[list[str], add] | int, list[Annotated[str, add]]]
)
def test_a_reducer_inside_another_type_is_refused(annotation):
    model = type("Model", (BaseState,), {"__annotations__": {"log": annotation}})
    assert "field 'log' has the reducer add inside another type" in problems_of(model)


def test_for_a_reducer_inside_optional_the_error_says_what_to_write():
    model = type("Model", (BaseState,), {"__annotations__": {"log": Annotated[list[str], add] | None}})
    assert "write Annotated outermost: Annotated[list[str], add], with a default such as list" in problems_of(model)


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (Annotated[int, add], "the reducer add, which needs a list, not int"),
        (Annotated[list[str] | None, add], "the reducer add, which needs a list"),
        (Annotated[set[str], add], "the reducer add, which needs a list"),
        (Annotated[list[str], merge_dict], "the reducer merge_dict, which needs a dict"),
        (Annotated[dict[float, str], merge_dict], "keys of float"),
        (Annotated[dict, add_messages], "the reducer add_messages, which needs a list"),
    ],
)
def test_a_builtin_reducer_on_another_type_is_refused(annotation, told):
    model = type("Model", (BaseState,), {"__annotations__": {"x": annotation}})
    assert told in problems_of(model)


def test_messages_must_be_able_to_carry_an_id():
    class Note(BaseModel):
        text: str

    class Model(BaseState):
        notes: Annotated[list[Note], add_messages] = []

    assert "Note has no field 'id'" in problems_of(Model)
    assert "NoId has no field 'id'" in problems_of(Messages)


def test_decorators_of_the_model_are_refused_since_they_would_not_run():
    class Model(BaseState):
        n: int = 0

        @field_validator("n")
        @classmethod
        def check_n(cls, value):
            return value

        @model_validator(mode="after")
        def check_all(self):
            return self

        @field_serializer("n")
        def write_n(self, value):
            return value

        @model_serializer(mode="wrap")
        def write_all(self, handler):
            return handler(self)

        @computed_field
        def double(self) -> int:
            return 2 * self.n

        def model_post_init(self, context):
            pass

    told = problems_of(Model)
    for name in ("check_n", "check_all", "write_n", "write_all", "double"):
        assert f"{name!r} would not run" in told
    assert "model_post_init would not run" in told


def test_private_attributes_and_plain_properties_are_welcome():
    class Model(BaseState):
        n: int = 1
        _seen: list = []

        @property
        def double(self):
            return 2 * self.n

    schema = StateSchema(Model)
    assert schema.view(schema.first_state({"n": 2})).double == 4


def test_extra_fields_excluded_fields_and_root_models_are_refused():
    class Extra(BaseState):
        model_config = ConfigDict(extra="allow")

    class Excluded(BaseState):
        secret: str = Field("", exclude=True)

    class Root(RootModel[list[int]]):
        pass

    assert 'extra="allow"' in problems_of(Extra)
    assert "field 'secret' is excluded" in problems_of(Excluded)
    assert "RootModel" in problems_of(Root)


def test_a_type_that_cannot_be_stored_is_refused():
    assert "field 'socket' has a type that cannot be validated and stored" in problems_of(Strange)


def test_a_default_that_does_not_fit_is_refused():
    class Model(BaseState):
        n: int = None  # type: ignore[assignment]
        f: Callable[[], int] = lambda: 1

    told = problems_of(Model)
    assert "the default of field 'n' does not fit its annotation: Input should be a valid integer" in told
    assert "the default of field 'f' does not fit" in told


def test_every_problem_is_told_in_one_error():
    class Model(BaseState):
        model_config = ConfigDict(extra="allow")
        a: Annotated[int, add] = 0
        b: Annotated[int, highest, max] = 0
        c: int = Field(0, exclude=True)

    told = problems_of(Model)
    assert told.startswith("The state type 'Model' cannot be used:\n- ")
    assert told.count("\n- ") == 4


def test_fields_know_their_type_and_whether_they_must_be_given():
    class Model(BaseState):
        must: int
        may: list[int] = []

    fields = StateSchema(Model).fields
    assert (fields["must"].required, fields["must"].annotation) == (True, int)
    assert (fields["may"].required, fields["may"].annotation) == (False, list[int])
    assert not StateSchema(Plain).fields["n"].required


def test_the_schema_tells_which_fields_a_node_may_write():
    assert StateSchema(Plain).has_field("n")
    assert not StateSchema(Plain).has_field("m")
    assert StateSchema(dict).has_field("anything")
