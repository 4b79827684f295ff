"""Cases of kind serialization, as a thread meets them: written by a node, kept over a pause, read after a restart."""

from __future__ import annotations

import asyncio
import collections
import datetime
import decimal
import enum
import fractions
import pathlib
import socket
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, SecretStr, field_validator

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    GraphChangedError,
    GraphConfigError,
    LimitExceededError,
    NodestepError,
    Resume,
    StateStoreError,
    StateUpdateError,
    interrupt,
    node,
)
from tests.asking import kept


def holding(annotation: Any, value: Any, store, seen: list[Any]) -> Graph:
    """A graph that writes `value` into a field of this type, pauses, and shows what it then holds."""
    state = type("Holding", (BaseState,), {"__annotations__": {"value": annotation | None}, "value": None})

    @node
    def write(state):
        return {"value": value}

    @node
    def ask(state):
        interrupt("Go on?", id="a")
        seen.append(state.value)

    return Graph(state, state_store=store).flow(START >> write >> ask >> END)


def after_a_pause(annotation: Any, value: Any, store, reopened) -> Any:
    seen: list[Any] = []
    holding(annotation, value, store, seen).invoke({}, thread_id="t")
    done = holding(annotation, value, reopened(), seen).invoke(None, thread_id="t", resume=Resume("yes"))
    assert seen == [done.state.value]
    return seen[0]


class Order(BaseModel):
    class Colour(enum.Enum):
        RED = "red"

    class Word(enum.StrEnum):
        YES = "yes"

    class Level(enum.IntEnum):
        HIGH = 3

    colour: Colour
    word: Word
    level: Level


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Order, Order(colour=Order.Colour.RED, word=Order.Word.YES, level=Order.Level.HIGH)),
        (Order.Colour, Order.Colour.RED),
        (Order.Word, Order.Word.YES),
        (Order.Level, Order.Level.HIGH),
    ],
)
def test_se_01_enums_come_back_as_themselves(store, reopened, annotation, value):
    back = after_a_pause(annotation, value, store, reopened)
    assert (back, type(back)) == (value, type(value))
    if isinstance(back, Order):
        assert (type(back.colour), type(back.word), type(back.level)) == (Order.Colour, Order.Word, Order.Level)


@dataclass
class Derived:
    amount: int
    doubled: int = field(init=False)

    def __post_init__(self) -> None:
        self.doubled = self.amount * 2


def test_se_02_a_dataclass_with_a_field_beside_its_constructor_is_kept(store, reopened):
    back = after_a_pause(Derived, Derived(4), store, reopened)
    assert (back, type(back)) == (Derived(4), Derived)


CONTAINERS: list[tuple[Any, Any]] = [
    (set[int], {1, 2}),
    (frozenset[str], frozenset({"a"})),
    (tuple[int, str], (1, "a")),
    (collections.deque[int], collections.deque([1, 2])),
    (collections.defaultdict[str, int], collections.defaultdict(int, a=1)),
    (collections.Counter[str], collections.Counter("aab")),
    (collections.OrderedDict[str, int], collections.OrderedDict(b=1, a=2)),
    (dict[int, str], {1: "a", 2: "b"}),
]


@pytest.mark.parametrize(("annotation", "value"), CONTAINERS, ids=lambda item: type(item).__name__)
def test_se_03_containers_come_back_as_their_annotation_says(store, reopened, annotation, value):
    back = after_a_pause(annotation, value, store, reopened)
    assert (back, type(back)) == (value, type(value))
    assert list(back) == list(value)


def test_se_03_a_container_that_the_annotation_does_not_name_is_refused(store):
    graph = holding(Any, {"inner": (1, 2)}, store, [])
    with pytest.raises(StateStoreError, match=r"'value'.*'write'.*tuple"):
        graph.invoke({}, thread_id="t")


def test_se_03_a_bounded_deque_which_would_lose_its_bound_is_refused(store):
    graph = holding(collections.deque[int], collections.deque([1, 2], maxlen=2), store, [])
    with pytest.raises(StateStoreError, match=r"'value'.*'write'.*deque"):
        graph.invoke({}, thread_id="t")


EXACT: list[tuple[Any, Any]] = [
    (decimal.Decimal, decimal.Decimal("0.10")),
    (datetime.datetime, datetime.datetime(2025, 3, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))),
    (datetime.timedelta, datetime.timedelta(days=1, microseconds=1)),
    (uuid.UUID, uuid.UUID(int=7)),
    (pathlib.PurePosixPath, pathlib.PurePosixPath("/a/b")),
    (bytes, b"text"),
    (int, 2**53 + 1),
    (int, 2**63 - 1),
    (float, 0.1),
]


@pytest.mark.parametrize(("annotation", "value"), EXACT, ids=lambda item: type(item).__name__)
def test_se_04_exact_values_come_back_equal(store, reopened, annotation, value):
    back = after_a_pause(annotation, value, store, reopened)
    assert (back, type(back), str(back)) == (value, type(value), str(value))


LOST: list[tuple[Any, Any, type[NodestepError]]] = [
    (Any, fractions.Fraction(1, 3), StateStoreError),
    (Any, complex(1, 2), StateStoreError),
    (Any, decimal.Decimal("0.10"), StateStoreError),
    (bytes, b"\xff", StateStoreError),
    (float, float("nan"), LimitExceededError),
    (float, float("inf"), LimitExceededError),
    (int, 2**63, LimitExceededError),
    (Any, {(1, 2): "a"}, StateStoreError),
]


@pytest.mark.parametrize(("annotation", "value", "error"), LOST, ids=lambda item: type(item).__name__)
def test_se_04_what_would_be_lost_is_refused_on_every_store_alike(store, annotation, value, error):
    for kept_in in (store, None):
        graph = holding(annotation, value, kept_in, [])
        with pytest.raises(error, match=r"'value'.*'write'") as refused:
            graph.invoke({}, thread_id="t")
        assert type(refused.value) is error


class Animal(BaseModel):
    name: str


class Dog(Animal):
    tricks: int


def test_se_05_a_subclass_with_more_fields_is_refused(store):
    graph = holding(list[Animal], [Dog(name="Rex", tricks=3)], store, [])
    with pytest.raises(StateStoreError, match=r"'value'.*'write'"):
        graph.invoke({}, thread_id="t")


def test_se_05_a_subclass_that_the_annotation_names_comes_back(store, reopened):
    value = [Dog(name="Rex", tricks=3), Animal(name="Tom")]
    back = after_a_pause(list[Dog | Animal], value, store, reopened)
    assert (back, [type(animal) for animal in back]) == (value, [Dog, Animal])


def renamed(class_name: str, **fields: Any) -> type[BaseModel]:
    return type(class_name, (BaseModel,), {"__annotations__": fields})


def test_se_06_a_renamed_class_of_the_same_shape_goes_on(store, reopened):
    """No class name is stored, so a new name alone changes nothing."""
    old, new = renamed("Old", name=str), renamed("New", name=str)
    seen: list[Any] = []
    holding(old, old(name="a"), store, seen).invoke({}, thread_id="t")
    holding(new, None, reopened(), seen).invoke(None, thread_id="t", resume=Resume("yes"))
    assert seen == [new(name="a")]


def test_se_06_a_class_of_another_shape_is_an_error_that_names_the_field_and_leaves_the_thread(store):
    old, new = renamed("Old", name=str), renamed("New", title=str)
    holding(old, old(name="hunter2"), store, []).invoke({}, thread_id="t")
    before = kept(store)
    with pytest.raises(GraphChangedError, match="'value'") as refused:
        holding(new, None, store, []).invoke(None, thread_id="t", resume=Resume("yes"))
    assert "hunter2" not in str(refused.value)
    assert kept(store) == before


def test_se_07_a_secret_is_refused_and_not_told(store):
    graph = holding(SecretStr, SecretStr("hunter2"), store, [])
    with pytest.raises(StateUpdateError, match=r"'value'.*'write'.*secret") as refused:
        graph.invoke({}, thread_id="t")
    assert "hunter2" not in str(refused.value)
    assert asyncio.run(graph.load("t")) == {"value": None}


def test_se_07_an_excluded_field_is_refused_when_the_graph_is_made():
    class Login(BaseState):
        password: str = Field(default="", exclude=True)

    with pytest.raises(GraphConfigError, match="'password'"):
        Graph(Login)


@pytest.mark.parametrize("kind", ["lambda", "socket"])
def test_se_08_a_callback_in_the_state_is_refused_when_it_is_written(store, kind):
    with socket.socket() as opened:
        graph = holding(Any, (lambda: 1) if kind == "lambda" else opened, store, [])
        with pytest.raises(StateStoreError, match=r"'value'.*'write'"):
            graph.invoke({}, thread_id="t")
    assert asyncio.run(graph.load("t")) == {"value": None}


def test_se_09_a_validator_that_changes_what_it_has_validated_is_refused(store):
    graph = holding(Annotated[str, AfterValidator(lambda text: text + "!")], "hey", store, [])
    with pytest.raises(StateUpdateError, match=r"'value'.*'write'.*validator"):
        graph.invoke({}, thread_id="t")


def test_se_09_a_validator_that_leaves_its_own_result_alone_runs_once(store, reopened):
    shout = Annotated[str, AfterValidator(lambda text: text.rstrip("!") + "!")]
    assert after_a_pause(shout, "hey", store, reopened) == "hey!"


def test_se_09_a_validator_decorator_is_refused_when_the_graph_is_made():
    class Loud(BaseState):
        text: str = ""

        @field_validator("text")
        @classmethod
        def shout(cls, text: str) -> str:
            return text + "!"

    with pytest.raises(GraphConfigError, match="'shout'"):
        Graph(Loud)
