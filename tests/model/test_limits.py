"""What may be stored, and how it is refused."""

import collections
import datetime
import decimal
import enum
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from nodestep.errors import LimitExceededError, StateStoreError
from nodestep.model.limits import MAX_INT, MIN_INT, check_id, check_json, own_json, to_json

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(MIN_INT, MAX_INT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def without_nul(value):
    return "\\u0000" not in repr(value) and "\\x00" not in repr(value)


def nested(levels):
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


class Color(enum.Enum):
    RED = "red"


class Order(BaseModel):
    id: int
    day: datetime.date


@dataclass
class Point:
    x: int
    y: int


@given(JSON.filter(without_nul))
def test_every_json_value_without_nul_is_kept_as_it_is(value):
    assert own_json(value) == value
    assert to_json(value, "it") == value


def test_the_copy_is_the_callers_own():
    given = {"a": [1]}
    copy = to_json(given, "it")
    copy["a"].append(2)
    assert given == {"a": [1]}


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        2**63,
        -(2**63) - 1,
        "a\0b",
        "\ud800",
        {"\0": 1},
        {"\udfff": 1},
        nested(101),
    ],
)
def test_what_a_store_would_lose_is_beyond_a_limit(value):
    for check in (lambda: check_json({"in": value}, what="the answer"), lambda: to_json([value], "the answer")):
        with pytest.raises(LimitExceededError, match="the answer"):
            check()


def test_a_hundred_levels_are_kept_and_one_more_is_refused():
    assert to_json(nested(100), "it") == nested(100)
    check_json(nested(100), what="it")
    with pytest.raises(LimitExceededError, match="100 levels"):
        to_json(nested(101), "it")


def test_a_value_that_holds_itself_is_refused():
    circle: list = []
    circle.append(circle)
    with pytest.raises(LimitExceededError):
        to_json(circle, "it")


@pytest.mark.parametrize("value", ["x" * (1 << 20), ["é" * (1 << 19)], [""] * 400_000])
def test_a_payload_has_at_most_a_mebibyte_of_json(value):
    with pytest.raises(LimitExceededError, match="the payload of 'ok' has 1,"):
        check_json(value, what="the payload of 'ok'")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Order(id=1, day=datetime.date(2024, 2, 29)), {"id": 1, "day": "2024-02-29"}),
        (Point(1, 2), {"x": 1, "y": 2}),
        ((1, 2), [1, 2]),
        ({3}, [3]),
        (collections.deque([1]), [1]),
        (decimal.Decimal("0.10"), "0.10"),
        (Color.RED, "red"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Path("/a/b"), "/a/b"),
        (b"text", "text"),
        (datetime.timedelta(hours=1), "PT1H"),
        ({1: "a", Color.RED: "b"}, {"1": "a", "red": "b"}),
        ([{"order": Order(id=1, day=datetime.date(2024, 2, 29))}], [{"order": {"id": 1, "day": "2024-02-29"}}]),
    ],
)
def test_python_values_arrive_as_json_values(value, expected):
    assert to_json(value, "the answer") == expected


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (lambda: 1, "function"),
        (object(), "object"),
        ({"cb": print}, "builtin_function_or_method"),
        (b"\xff", "bytes"),
        ((n for n in (1, 2)), "generator"),
        (iter([1]), "list_iterator"),
        (SecretStr("hidden"), "SecretStr"),
        ({1: "a", "1": "b"}, "same text"),
        ([Order.model_construct(id=1, day=lambda: 1)], "Order"),
    ],
)
def test_what_has_no_json_form_is_refused_by_name_and_type(value, told):
    with pytest.raises(StateStoreError, match=told) as caught:
        to_json(value, "the payload of 'ok' in node 'ask'")
    assert "the payload of 'ok' in node 'ask'" in str(caught.value)


def test_an_open_file_is_refused_and_not_read(tmp_path):
    path = tmp_path / "notes"
    path.write_text("one\ntwo\n")
    with path.open() as file:
        with pytest.raises(StateStoreError, match="TextIOWrapper"):
            to_json({"file": file}, "it")
        assert file.read() == "one\ntwo\n"


def test_a_secret_inside_a_model_is_refused():
    class Login(BaseModel):
        user: str
        password: SecretStr

    with pytest.raises(StateStoreError, match="SecretStr"):
        to_json({"login": Login(user="ada", password=SecretStr(""))}, "it")


@pytest.mark.parametrize(
    "value", ["hunter2", {"key-hunter2": float("nan")}, [b"hunter2\xff"], {"hunter2": SecretStr("x")}]
)
def test_a_refusal_never_shows_the_value(value):
    with pytest.raises(StateStoreError) as caught:
        to_json([value, object()], "it")
    assert "hunter2" not in str(caught.value)


def test_ids_have_one_to_512_characters():
    check_id("thread id", "x" * 512)
    check_id("thread id", "é 🙂/:")
    for bad in ("", "x" * 513, "a\0", "\ud800"):
        with pytest.raises(LimitExceededError, match="thread id"):
            check_id("thread id", bad)


def test_an_id_that_is_no_text_is_a_type_error():
    with pytest.raises(TypeError, match="A thread id is text, not int"):
        check_id("thread id", 5)  # type: ignore[arg-type]
