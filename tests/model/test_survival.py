"""A value must come back from its JSON as it was, or be refused when it is written (cases SE-01 to SE-09)."""

import collections
import datetime
import decimal
import enum
import ipaddress
import uuid
import zoneinfo
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainSerializer,
    PrivateAttr,
    SecretBytes,
    SecretStr,
    SerializeAsAny,
    computed_field,
    create_model,
    field_validator,
)
from typing_extensions import TypedDict

from nodestep.errors import StateStoreError, StateUpdateError
from nodestep.model.canonical import decode, encode
from nodestep.model.copying import same
from nodestep.model.schema import StateSchema
from nodestep.model.state import BaseState


class Outer(BaseModel):
    class Level(enum.Enum):
        LOW = 1
        HIGH = "high"

    level: Level


class Color(enum.StrEnum):
    RED = "red"


class Rank(enum.IntEnum):
    TOP = 1


class Flags(enum.Flag):
    A = 1
    B = 2


class Animal(BaseModel):
    name: str


class Dog(Animal):
    tricks: list[str] = []


class Pen(BaseModel):
    animals: list[Animal]


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Stamp:
    text: str
    seen: int = field(init=False, default=0)


@dataclass
class Pair:
    left: int
    right: list[int] = field(default_factory=list, compare=False)


class Aliased(BaseModel):
    order_id: int = Field(alias="orderId")
    line: str = Field(validation_alias="in", serialization_alias="out")


class Doubled(BaseModel):
    n: int

    @computed_field
    def double(self) -> int:
        return 2 * self.n


class Movie(TypedDict, total=False):
    title: str
    year: int


def schema_of(annotation, **config):
    base = type("Base", (BaseState,), {"model_config": config})
    return StateSchema(create_model("Model", __base__=base, x=(annotation, ...)))


def kept(annotation, value, **config):
    """What a node reads after it wrote the value, checked to be the same after storing and loading."""
    schema = schema_of(annotation, **config)
    update = schema.take_update({"x": value}, "node 'x'")
    values, _ = schema.merge({}, [update], lambda _: "node 'x'")
    stored = decode(encode(schema.dump(values)))
    assert stored == update.patch["set"]
    assert same(schema.load(stored), values)
    assert same(dict(schema.update_from_patch(update.patch).values), dict(update.values))
    return schema.result(values).x


BERLIN = datetime.datetime(2024, 3, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Outer, Outer(level=Outer.Level.HIGH)),
        (list[Outer.Level], [Outer.Level.LOW, Outer.Level.HIGH]),
        (Color, Color.RED),
        (Rank, Rank.TOP),
        (dict[Color, Rank], {Color.RED: Rank.TOP}),
        (Flags, Flags.A | Flags.B),
        (set[int], {1, 2}),
        (frozenset[str], frozenset({"a"})),
        (tuple[int, ...], (1, 2)),
        (tuple[int, str], (1, "a")),
        (Point, Point(1, 2)),
        (collections.deque[int], collections.deque([1, 2])),
        (collections.defaultdict[str, int], collections.defaultdict(int, a=1)),
        (collections.Counter[str], collections.Counter("aab")),
        (collections.OrderedDict[str, int], collections.OrderedDict(b=1, a=2)),
        (dict[int, str], {1: "a"}),
        (dict[int, dict[tuple[int, int], str]], {}),
        (decimal.Decimal, decimal.Decimal("0.10")),
        (Fraction, Fraction(1, 3)),
        (datetime.datetime, BERLIN),
        (datetime.datetime, datetime.datetime.fromisoformat("2024-03-01T12:00:00.000001")),
        (datetime.date, datetime.date(1, 1, 1)),
        (datetime.time, datetime.time(23, 59, 59, 999999)),
        (datetime.timedelta, datetime.timedelta(days=-1, microseconds=1)),
        (uuid.UUID, uuid.UUID(int=5)),
        (Path, Path("/a/b")),
        (PurePosixPath, PurePosixPath("a")),
        (bytes, b"text"),
        (ipaddress.IPv4Address, ipaddress.IPv4Address("127.0.0.1")),
        (int, 2**63 - 1),
        (float, -0.0),
        (float, 5e-324),
        (complex, 1 + 2j),
        (Pair, Pair(1, [2])),
        (list[Dog], [Dog(name="a", tricks=["sit"])]),
        (Dog | Animal, Dog(name="a", tricks=["sit"])),
        (Aliased, Aliased.model_validate({"orderId": 1, "in": "a"})),
        (Doubled, Doubled(n=2)),
        (Movie, {"title": "a"}),
        (list[Movie], [{"year": 1, "title": "a"}, {}]),
        (Any, {"a": [1, 1.0, True, None, "é"]}),
        (int | str | None, "1"),
        (list[int | str], [1, "1"]),
    ],
)
def test_by_its_annotation_a_value_comes_back_equal_and_of_the_same_type(annotation, value):
    assert same(kept(annotation, value), value)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[Animal], [Dog(name="a", tricks=["sit"])]),
        (Animal, Dog(name="a")),
        (Dog | Animal, Animal(name="a")),
        (SerializeAsAny[Animal], Dog(name="a")),
        (collections.deque[int], collections.deque([1], maxlen=3)),
        (collections.defaultdict[str, int], collections.defaultdict(lambda: 5, a=1)),
        (Any, (1, 2)),
        (Any, {1: "a"}),
        (Any, Color.RED),
        (Any, collections.Counter("a")),
        (dict, {"a": {1}}),
        (list, [datetime.date(2024, 1, 1)]),
        (Any, Animal(name="a")),
        (dict[Any, int], {(1, 2): 3}),
        (list[Any], [lambda: 1]),
        (bytes, b"\xff"),
    ],
)
def test_what_json_would_lose_is_refused_when_it_is_written(annotation, value):
    with pytest.raises(StateStoreError, match="Field 'x' refused the value from node 'x'"):
        kept(annotation, value, arbitrary_types_allowed=True)


@pytest.mark.parametrize(
    ("annotation", "value", "told"),
    [
        (list[Animal], [Animal(name="a"), Dog(name="a")], "[1]: a Dog comes back as Animal"),
        (Any, {"a": (1,)}, "a tuple in it"),
        (dict[str, Pen], {"hunter2": Pen(animals=[Dog(name="a")])}, "[...].animals[0]: a Dog comes back as Animal"),
        (collections.deque[int], collections.deque([1], maxlen=3), "a deque comes back different"),
    ],
)
def test_the_refusal_tells_what_would_be_lost_and_where(annotation, value, told):
    with pytest.raises(StateStoreError) as caught:
        kept(annotation, value)
    assert told in str(caught.value)


def test_bytes_that_are_no_text_are_kept_where_the_model_says_how():
    assert kept(bytes, b"\xff\x00", ser_json_bytes="base64", val_json_bytes="base64") == b"\xff\x00"


def test_a_dataclass_field_outside_the_constructor_is_kept_or_refused_but_never_lost():
    stamp = Stamp("a")
    assert kept(Stamp, stamp) == stamp
    stamp.seen = 5
    try:
        result = kept(Stamp, stamp)
    except (StateStoreError, StateUpdateError):
        return
    assert result == stamp


def test_a_field_that_a_dataclass_does_not_compare_counts():
    assert kept(Pair, Pair(1, [2])).right == [2]


def test_a_function_or_an_open_file_is_refused(tmp_path):
    with (tmp_path / "file").open("w") as file:
        for value in (lambda: 1, file, object()):
            with pytest.raises(StateStoreError):
                kept(Any, {"cb": value})


def test_a_time_zone_becomes_its_offset_at_once_so_that_every_store_shows_the_same():
    given = datetime.datetime(2024, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    result = kept(datetime.datetime, given)
    assert result == given
    assert result.utcoffset() == datetime.timedelta(hours=2)
    assert not isinstance(result.tzinfo, zoneinfo.ZoneInfo)


@pytest.mark.parametrize("secret", ["", "hunter2", "**********"])
def test_a_secret_is_always_refused(secret):
    class Login(BaseModel):
        password: SecretStr

    for annotation, value in (
        (SecretStr, SecretStr(secret)),
        (SecretStr | None, SecretStr(secret)),
        (SecretStr, secret),
        (SecretBytes, secret.encode()),
        (Login, Login(password=SecretStr(secret))),
        (dict[str, list[Login]], {"a": [Login(password=SecretStr(secret))]}),
        (Any, [SecretStr(secret)]),
        (Any, Login(password=SecretStr(secret))),
        (Annotated[SecretStr, PlainSerializer(SecretStr.get_secret_value)], SecretStr(secret)),
    ):
        with pytest.raises(StateUpdateError, match="secret") as caught:
            kept(annotation, value)
        assert "hunter2" not in str(caught.value)


def test_a_field_that_may_hold_a_secret_takes_none():
    assert kept(SecretStr | None, None) is None


def test_an_excluded_field_inside_a_model_is_refused_unless_nothing_is_lost():
    class Inner(BaseModel):
        shown: int = 1
        hidden: int = Field(default=2, exclude=True)

    assert kept(Inner, Inner()) == Inner()
    with pytest.raises(StateStoreError):
        kept(Inner, Inner.model_validate({"hidden": 3}))


def test_what_a_model_keeps_in_private_is_not_lost_in_silence():
    class Inner(BaseModel):
        n: int = 1
        _count: int = PrivateAttr(0)

    inner = Inner()
    assert kept(Inner, inner) == Inner()
    inner._count = 5
    with pytest.raises(StateStoreError):
        kept(Inner, inner)


def test_a_validator_that_changes_what_it_has_changed_is_refused():
    with pytest.raises(StateUpdateError, match="validators do not agree"):
        kept(Annotated[str, AfterValidator(lambda text: text + "!")], "a")


def test_a_validator_that_refuses_the_stored_form_is_refused():
    def day(value):
        return value if isinstance(value, datetime.date) else datetime.datetime.strptime(value, "%d.%m.%Y").date()  # noqa: DTZ007

    with pytest.raises(StateUpdateError, match="validators do not agree"):
        kept(Annotated[datetime.date, BeforeValidator(day)], "29.02.2024")


def test_a_validator_inside_a_nested_model_must_agree_as_well():
    class Inner(BaseModel):
        text: str

        @field_validator("text")
        @classmethod
        def shout(cls, value):
            return value + "!"

    with pytest.raises(StateUpdateError, match="validators do not agree"):
        kept(Inner, {"text": "a"})


def test_what_json_loses_is_not_blamed_on_a_validator():
    class Named(Animal):
        @field_validator("name")
        @classmethod
        def strip(cls, value):
            return value.strip()

    class Special(Named):
        extra: int = 1

    with pytest.raises(StateStoreError, match=r"\[0\]: a Special comes back as Named"):
        kept(list[Named], [Special(name="a")])


def test_a_validator_that_agrees_with_itself_runs_once_and_for_all():
    assert kept(Annotated[str, AfterValidator(str.upper)], "a") == "A"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
ANY = schema_of(Any)


@given(JSON)
def test_every_json_value_comes_back_from_an_untyped_field(value):
    update = ANY.take_update({"x": value}, "node 'x'")
    assert same(update.values["x"], value)
    assert same(ANY.load(decode(encode(update.patch["set"]))), {"x": value})


TYPED = StateSchema(
    create_model(
        "Typed",
        __base__=BaseState,
        when=(datetime.datetime | None, None),
        amount=(decimal.Decimal | None, None),
        tags=(set[str], set()),
        pair=(tuple[int, float] | None, None),
        took=(datetime.timedelta | None, None),
        rows=(list[dict[str, int | str | None]], []),
    )
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "when": st.datetimes(timezones=st.none() | st.timezones()),
            "amount": st.decimals(allow_nan=False, allow_infinity=False),
            "tags": st.sets(st.sampled_from("abc")),
            "pair": st.tuples(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)),
            "took": st.timedeltas(),
            "rows": st.lists(st.dictionaries(st.sampled_from("ab"), st.none() | st.integers(0, 9) | st.just("1"))),
        },
    )
)
def test_typed_values_are_kept_equal_or_refused_but_never_changed(written):
    for name, value in written.items():
        try:
            update = TYPED.take_update({name: value}, "node 'x'")
        except StateStoreError:
            continue
        assert update.values[name] == value
        assert type(update.values[name]) is type(value)
        loaded = TYPED.load(decode(encode(update.patch["set"])))
        assert same(loaded[name], update.values[name])
