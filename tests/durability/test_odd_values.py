"""The same value on each store, at and over the limits: refused before anything is written, or read back identical."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodestep import InMemoryStateStore, LimitExceededError, NodestepError, SQLiteStateStore
from nodestep.model.limits import MAX_DEPTH, MAX_ID_CHARS, MAX_PAYLOAD_BYTES
from tests.durability.channels import TEXTS, VALUES, through

KEPT: dict[str, Any] = {
    "none": None,
    "yes": True,
    "no": False,
    "zero": 0,
    "largest integer": 2**63 - 1,
    "smallest integer": -(2**63),
    "zero with a sign": -0.0,
    "whole float": 1.0,
    "largest float": 1.7976931348623157e308,
    "smallest float": 5e-324,
    "tenth": 0.1,
    "float beyond integers": 1e22,
    "float at 2**53": 9007199254740993.0,
    "empty text": "",
    "controls": "".join(map(chr, [*range(1, 32), 127, *range(128, 160)])),
    "quotes": "\"'\\/`${}{{}}%s;--",
    "separators": "a\u2028b\u2029c\ufeffd\u00a0e\u200bf",
    "directions": "\u202eabc\u202c\u2066x\u2069",
    "combining": "e\u0301 \u00e9 \u1e9b\u0323",
    "last characters": "\uffff\U0010ffff\ufffe",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈",
    "json in text": '{"a": [1, null, NaN]}',
    "sql in text": "'); DROP TABLE records; --",
    "empty list": [],
    "empty dict": {},
    "empties": [[], {}, "", None, 0, False],
    "order": {"z": 1, "a": 2, "10": 3, "9": 4, "": 5},
    "odd keys": {"": 1, " ": 2, "a.b": 3, "$ref": 4, "__class__": 5, "\u202e": 6, "e\u0301": 7, "\u00e9": 8},
    "numbers apart": [1, 1.0, True, "1", [1], {"1": 1}],
    "set": {"set": {"set": {}}, "append": [], "reduce": {}, "del": []},
}
REFUSED: dict[str, Any] = {
    "integer of 65 bits": 2**63,
    "negative integer of 65 bits": -(2**63) - 1,
    "huge integer": 10**400,
    "nan": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "nul": "a\0b",
    "half a character": "\ud800",
    "the other half": "x\udfff",
    "two halves": "\ud83d\ude00",
    "nul in a key": {"a\0": 1},
    "half a character in a key": {"\ud800": 1},
    "nan deep inside": [{"a": [math.nan]}],
}


def nested(levels: int, kind: str) -> Any:
    """A value of so many lists or dicts inside one another."""
    value: Any = [] if kind == "list" else {}
    for level in range(levels - 1):
        value = [value] if kind == "list" or (kind == "both" and level % 2) else {"k": value}
    return value


def same(one: Any, other: Any) -> bool:
    """Equal, of the same types, in the same order."""
    if type(one) is not type(other):
        return False
    match one:
        case dict():
            return list(one) == list(other) and all(same(value, other[key]) for key, value in one.items())
        case list():
            return len(one) == len(other) and all(map(same, one, other))
        case float():
            return one == other and math.copysign(1, one) == math.copysign(1, other)
    return bool(one == other)


@contextmanager
def both(folder: Path) -> Iterator[list[Any]]:
    """A fresh store of each kind."""
    for file in folder.glob("t.db*"):
        file.unlink()
    with InMemoryStateStore() as memory, SQLiteStateStore(folder / "t.db") as sqlite:
        yield [memory, sqlite]


def check(channel: str, value: Any, folder: Path) -> bool:
    """The same comes of a value on both stores; says whether it was kept."""
    with both(folder) as stores:
        found = [through({**VALUES, **TEXTS}[channel], store, value) for store in stores]
    first, second = found
    if isinstance(first, tuple):
        assert issubclass(first[0], NodestepError), first
        assert first == second
        return False
    assert same(first, value)
    assert same(second, value)
    return True


@pytest.mark.parametrize("channel", VALUES)
def test_odd_values_are_read_back_identical(channel, quick):
    lost = [name for name, value in KEPT.items() if not check(channel, value, quick)]
    assert lost == []


@pytest.mark.parametrize("channel", VALUES)
def test_values_that_no_store_keeps_are_refused(channel, quick):
    kept = [name for name, value in REFUSED.items() if check(channel, value, quick)]
    assert kept == []


@pytest.mark.parametrize("kind", ["list", "dict", "both"])
@pytest.mark.parametrize("channel", VALUES)
def test_depth_is_kept_up_to_the_limit_and_refused_beyond(channel, kind, quick):
    at_most = max(
        levels for levels in range(MAX_DEPTH - 6, MAX_DEPTH + 2) if check(channel, nested(levels, kind), quick)
    )
    assert MAX_DEPTH - 6 <= at_most <= MAX_DEPTH
    for levels in (at_most + 1, MAX_DEPTH + 1, 500, 3_000):
        assert not check(channel, nested(levels, kind), quick)


SIZED = ["payload", "default", "resume", "answer", "once"]
"""What has a limit of its own. A cache may hold several values, and a state is larger."""


@pytest.mark.parametrize("channel", SIZED)
@pytest.mark.parametrize("letter", ["x", "é", "\x01", '"'], ids=["ascii", "two bytes", "escaped", "quoted"])
def test_size_is_kept_up_to_the_limit_in_bytes_of_json_and_refused_beyond(channel, letter, quick):
    each = {"x": 1, "é": 2, "\x01": 6, '"': 2}[letter]
    count, rest = divmod(MAX_PAYLOAD_BYTES - 2, each)
    text = letter * count + "x" * rest
    assert check(channel, text, quick)
    assert not check(channel, text + "x", quick)


@pytest.mark.parametrize("channel", ["input", "update", "edit", "cache"])
def test_larger_values_than_a_payload_may_be_are_kept_in_a_state_alone(channel, quick):
    assert check(channel, "x" * (2 * MAX_PAYLOAD_BYTES), quick) == (channel != "cache")


NAMES = ["thread", "branch", "by", "assignee", "graph"]
"""What must not be empty."""


@pytest.mark.parametrize("channel", TEXTS)
def test_odd_texts_are_read_back_identical_or_refused(channel, quick):
    for name, text in {**KEPT, **REFUSED}.items():
        if isinstance(text, str):
            kept = check(channel, text, quick)
            wanted = name in KEPT and not (text == "" and channel in NAMES)
            assert kept == wanted or (channel == "graph" and not kept), name


@pytest.mark.parametrize("channel", ["thread", "branch", "by", "graph", "assignee"])
@pytest.mark.parametrize("letter", ["x", "é", "字"])
def test_ids_are_kept_up_to_their_limit_in_characters_and_refused_beyond(channel, letter, quick):
    assert check(channel, letter * MAX_ID_CHARS, quick)
    assert not check(channel, letter * (MAX_ID_CHARS + 1), quick)


TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(-(2**64), 2**64) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(channel=st.sampled_from(list(VALUES)), value=JSON)
def test_any_value_is_read_back_identical_or_refused_by_both_stores(quick, channel, value):
    check(channel, value, quick)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(channel=st.sampled_from(list(TEXTS)), text=TEXT)
def test_any_text_is_read_back_identical_or_refused_by_both_stores(quick, channel, text):
    check(channel, text, quick)


def test_a_refused_value_leaves_nothing_behind(quick):
    """Nothing of the thread is there where its first input is refused."""
    with both(quick) as stores:
        for store in stores:
            error, _ = through(VALUES["input"], store, math.nan)
            assert error is LimitExceededError
            assert store.head("t", "main") is None
