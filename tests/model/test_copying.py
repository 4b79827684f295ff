"""Own copies, and when two values are the same."""

import collections
import copy
import datetime
import decimal
import enum
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, PrivateAttr
from pydantic.dataclasses import dataclass as pydantic_dataclass

from nodestep.model.copying import copy_json, own_copy, same, same_json


class Color(enum.IntEnum):
    RED = 1


class Point(NamedTuple):
    x: int
    y: list[int]


@dataclass
class Pair:
    left: int
    right: list[int] = field(default_factory=list, compare=False)


@pydantic_dataclass
class Checked:
    n: int
    items: list[int]


class Model(BaseModel):
    n: int = 0
    items: list[Any] = []
    _seen: list[int] = PrivateAttr(default_factory=list)


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)
    n: int = 0
    items: tuple[Any, ...] = ()


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")


VALUES = [
    None,
    5,
    [1, [2]],
    {"a": [1], (1, 2): {"b": 3}},
    (1, [2]),
    (1, (2, "a")),
    {1, 2},
    frozenset({(1, 2)}),
    Point(1, [2]),
    Pair(1, [2]),
    Checked(1, [2]),
    Model(n=1, items=[Model(), {"a": [1]}]),
    Frozen(n=1, items=(1, 2)),
    Frozen(n=1, items=([1],)),
    Extra.model_validate({"a": [1]}),
    collections.deque([[1]], maxlen=3),
    collections.defaultdict(list, a=[1]),
    collections.OrderedDict(a=[1]),
    collections.Counter("aab"),
    Color.RED,
    datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
    bytearray(b"a"),
    Model,
]


def changeable_parts(value):
    """The ids of everything inside a value that can change."""
    parts = (
        {id(value)}
        if isinstance(value, list | dict | set | collections.deque | bytearray | Model | Extra | Pair | Checked)
        else set()
    )
    if isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset | collections.deque):
        inner = list(value)
    elif isinstance(value, BaseModel):
        inner = [*value.__dict__.values(), value.__pydantic_extra__, value.__pydantic_private__]
    elif isinstance(value, Pair | Checked):
        inner = list(vars(value).values())
    else:
        inner = []
    return parts.union(*map(changeable_parts, inner))


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_copy_is_the_same_and_shares_nothing_that_can_change(value):
    made = own_copy(value)
    assert same(made, value)
    assert not changeable_parts(made) & changeable_parts(value)


def test_what_cannot_change_is_shared():
    for value in ((1, (2, "a")), Frozen(n=1, items=(1, (2,))), "text", Color.RED, decimal.Decimal(1)):
        assert own_copy(value) is value


def test_the_copy_of_a_model_knows_which_fields_were_set():
    value = Model(n=1)
    assert own_copy(value).model_fields_set == {"n"}
    value._seen.append(1)
    assert own_copy(value)._seen == [1]


def test_a_models_own_way_of_copying_is_kept():
    class Counted(BaseModel):
        n: int = 0

        def __deepcopy__(self, memo=None):
            return Counted(n=self.n + 1)

    assert own_copy([Counted()]) == [Counted(n=1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        (1, Color.RED),
        (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
        ([1], [1.0]),
        ([1], (1,)),
        ([1], [1, 2]),
        ({"a": 1}, {"a": True}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: "a"}, {True: "a"}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1}),
        ({1}, {True}),
        (Pair(1, [2]), Pair(1, [3])),
        (Point(1, [2]), (1, [2])),
        (Model(n=1), Model(n=True).model_copy(update={"n": True})),
        (Model(), Frozen()),
        (collections.deque([1]), collections.deque([1], maxlen=3)),
        (collections.defaultdict(int), collections.defaultdict(list)),
        (collections.Counter("a"), {"a": 1}),
        (
            datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC),
            datetime.datetime(2024, 1, 1, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
        ),
        (float("nan"), float("nan")),
    ],
)
def test_values_that_a_reader_could_tell_apart_are_not_the_same(one, other):
    assert not same(one, other)
    assert not same(other, one)
    assert not same([one], [other])


def test_private_attributes_count():
    one, other = Model(), Model()
    assert same(one, other)
    other._seen.append(1)
    assert not same(one, other)


def test_an_object_that_cannot_be_compared_is_the_same_as_itself_alone():
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]

    odd = Odd()
    assert same(odd, odd)
    assert not same(odd, Odd())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, -0.0, 1.0]) | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(JSON)
def test_json_is_copied_as_anything_else_is(value):
    made = copy_json(value)
    assert same(made, value)
    assert same_json(made, value)
    assert not changeable_parts(made) & changeable_parts(value)


@given(JSON, JSON)
def test_json_is_compared_as_anything_else_is(one, other):
    other = copy.deepcopy(other)
    assert same_json(one, other) == same(one, other) == (repr(one) == repr(other))
