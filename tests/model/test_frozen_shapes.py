"""Frozen models of plain JSON are taken without pydantic, and never differently."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, PlainSerializer, PrivateAttr, computed_field, field_validator

from nodestep.chat import AIMessage, HumanMessage, Message, SystemMessage, ToolCall, ToolMessage
from nodestep.model.converters import Converter
from nodestep.model.copying import same
from nodestep.model.frozen import FrozenDict, FrozenList, frozen
from nodestep.model.frozen_shapes import frozen_shape_of
from nodestep.model.limits import NotJson, Unfit

MESSAGES: Any = list[Message]


class Price(BaseModel, frozen=True):
    amount: float
    currency: Literal["EUR", "USD"] = "EUR"


class Order(BaseModel, frozen=True):
    id: str | None = None
    price: Price | None = None
    prices: tuple[Price, ...] = ()


def json_values(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner), max_leaves=4
    )


ODD = st.sampled_from([float("nan"), 2**64, "\0", "\ud800", ("t",), b"b", {1: 2}, "ü"])
arguments = st.dictionaries(st.sampled_from("ab"), json_values(st.none() | st.integers(0, 2) | st.floats(0, 1) | ODD))
texts = st.sampled_from(["", "hello", "grüße", "a\0b", "\ud800"])
ids = st.none() | st.sampled_from(["1", "2"])
calls = st.builds(ToolCall, id=st.just("c"), name=st.just("look"), arguments=arguments | arguments.map(FrozenDict))
messages = st.one_of(
    st.builds(HumanMessage, content=texts, id=ids),
    st.builds(AIMessage, content=texts, tool_calls=st.lists(calls, max_size=2).map(tuple)),
    st.builds(ToolMessage, content=texts, name=st.just("look"), tool_call_id=st.just("c"), arguments=arguments),
    st.builds(AIMessage.model_construct, content=st.sampled_from(["x", 1, None]), role=st.sampled_from(["user", 1])),
    st.builds(lambda call: AIMessage.model_construct(tool_calls=[call]), calls),
    st.just({"role": "user", "content": "as a dict"}),
)


def taken_by(converter: Converter, value: Any) -> Any:
    try:
        return converter.take(value)
    except Unfit:
        return None


@given(st.lists(messages, max_size=3))
def test_messages_are_taken_as_pydantic_would_leave_them(value):
    with_shape, without = Converter(MESSAGES, []), Converter(MESSAGES, [])
    without.__dict__["_frozen"] = None
    taken, expected = taken_by(with_shape, value), taken_by(without, value)
    assert same(taken, expected)
    if taken is not None:
        for message, other in zip(taken[0], expected[0], strict=True):
            assert message.model_dump(exclude_unset=True) == other.model_dump(exclude_unset=True)


def test_messages_that_are_what_they_should_be_are_kept_as_they_are():
    call = ToolCall(id="c", name="look", arguments={"n": [1]}, arguments_error=None)
    shape = frozen_shape_of(tuple[ToolCall, ...])
    assert shape is not None
    (kept,), [stored] = shape.take((call,))
    assert kept is call
    assert stored == {"id": "c", "name": "look", "arguments": {"n": [1]}, "arguments_error": None}
    assert type(stored["arguments"]) is dict


def test_what_was_not_set_is_set_once_it_is_kept_as_it_is_when_it_is_read_back():
    (kept,), _ = Converter(MESSAGES, []).take([HumanMessage(content="hello")])
    assert kept.model_fields_set == {"role", "id", "content"}


def test_a_list_inside_a_frozen_dict_that_can_change_is_not_kept():
    inner = [1]
    call = ToolCall.model_construct(id="c", name="look", arguments=FrozenDict({"n": inner}), arguments_error=None)
    kept, _ = Converter(ToolCall, []).take(call)
    inner.append(2)
    assert kept.arguments == {"n": [1]}
    assert type(kept.arguments["n"]) is FrozenList


def test_a_message_of_another_class_is_none_of_the_shape():
    class Loud(HumanMessage):
        pass

    shape = frozen_shape_of(MESSAGES)
    assert shape is not None
    with pytest.raises(NotJson):
        shape.take([Loud(content="hello")])


def test_the_models_of_a_user_have_a_shape_as_well():
    shape = frozen_shape_of(list[Order])
    assert shape is not None
    order = Order(id="A-1", price=Price(amount=8.0), prices=(Price(amount=1.5, currency="USD"),))
    kept, stored = shape.take([order])
    assert kept == [order]
    assert stored == [order.model_dump(mode="json")]


class Changing(BaseModel):
    n: int = 0


class Listing(BaseModel, frozen=True):
    items: list[int]


class Bounded(BaseModel, frozen=True):
    n: Annotated[int, Field(gt=0)]


class Excluding(BaseModel, frozen=True):
    n: int = Field(0, exclude=True)


class Shown(BaseModel, frozen=True):
    n: Annotated[int, PlainSerializer(str)]


class Open(BaseModel, frozen=True, extra="allow"):
    n: int = 0


class Hiding(BaseModel, frozen=True):
    n: int = 0
    _private: int = PrivateAttr(0)


class Computing(BaseModel, frozen=True):
    n: int = 0

    @computed_field
    def twice(self) -> int:
        return 2 * self.n


class Validating(BaseModel, frozen=True):
    n: int = 0

    @field_validator("n")
    @classmethod
    def _checked(cls, n: int) -> int:
        return abs(n)


class Starting(BaseModel, frozen=True):
    n: int = 0

    def model_post_init(self, _context: Any) -> None:
        object.__setattr__(self, "n", 1)


class Nested(BaseModel, frozen=True):
    inner: Nested | None = None


@pytest.mark.parametrize(
    "annotation",
    [
        Changing,
        Listing,
        Bounded,
        Excluding,
        Shown,
        Open,
        Hiding,
        Computing,
        Validating,
        Starting,
        Nested,
        dict[str, Any],
        Annotated[dict[str, Any], AfterValidator(dict)],
        list[Price] | tuple[Price, ...] | Annotated[dict[str, Any], AfterValidator(len)],
        Price | Annotated[Price, AfterValidator(len)],
        tuple[Price, Price],
    ],
    ids=lambda annotation: re.sub(r" at 0x[0-9a-f]+", "", str(annotation)),
)
def test_an_annotation_that_says_more_has_none(annotation):
    assert frozen_shape_of(annotation) is None


def test_these_have_a_shape():
    annotations: list[Any] = [Price | None, list[Price | Order], tuple[Order, ...], list[Price] | Order, SystemMessage]
    assert [each for each in annotations if frozen_shape_of(each) is None] == []


def test_the_depth_counts_the_models_around():
    def nested(levels: int) -> Any:
        return {} if levels == 1 else {"a": nested(levels - 1)}

    shape = frozen_shape_of(MESSAGES)
    assert shape is not None

    def message(levels: int) -> ToolMessage:
        return ToolMessage(content="", name="look", tool_call_id="c", arguments=frozen(nested(levels)))

    shape.take([message(98)])
    with pytest.raises(Unfit):
        shape.take([message(99)])
