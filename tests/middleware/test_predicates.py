"""Predicates over arguments: what they answer, and what they refuse to answer."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep.middleware import all_fields, any_field, eq, ge, gt, le, lt, matches

NAN = float("nan")


@pytest.mark.parametrize(
    ("predicate", "below", "at", "above"),
    [
        (gt("n", 100), False, False, True),
        (ge("n", 100), False, True, True),
        (lt("n", 100), True, False, False),
        (le("n", 100), True, True, False),
    ],
)
def test_an_order_compares_numbers_with_its_limit(predicate, below, at, above):
    assert [predicate({"n": value}) for value in (99.5, 100, 101)] == [below, at, above]


def test_an_order_compares_text_with_text():
    assert gt("day", "2026-01-31")({"day": "2026-02-01"})


@pytest.mark.parametrize("predicate", [gt("n", 1), ge("n", 1), lt("n", 1), le("n", 1), eq("n", 1), matches("n", "x")])
def test_a_missing_argument_is_a_lookup_error(predicate):
    with pytest.raises(LookupError, match="no argument 'n'"):
        predicate({"m": 1})


@pytest.mark.parametrize("value", [None, "1000", [200], {}, True])
@pytest.mark.parametrize("make", [gt, ge, lt, le, eq])
def test_a_number_compares_with_numbers_alone_and_a_bool_is_none(make, value):
    with pytest.raises(TypeError, match="argument 'n'"):
        make("n", 100)({"n": value})


@pytest.mark.parametrize("make", [gt, ge, lt, le, eq])
def test_nan_compares_with_nothing(make):
    with pytest.raises(ValueError, match="NaN"):
        make("n", 100)({"n": NAN})
    with pytest.raises(ValueError, match="NaN"):
        make("n", NAN)


@pytest.mark.parametrize("limit", [True, None, [1]])
def test_a_limit_that_orders_nothing_is_refused_where_it_is_written(limit):
    with pytest.raises(TypeError, match="A limit is a number or a text"):
        gt("n", limit)


@pytest.mark.parametrize(
    ("expected", "value", "same"),
    [
        ("US", "US", True),
        ("US", "us", False),
        (1, 1.0, True),
        (True, True, True),
        (True, False, False),
        (None, None, True),
        (None, "a", False),
        ([1, 2], [1, 2], True),
        ({"a": 1}, {"a": 2}, False),
    ],
)
def test_eq_compares_values_of_one_kind(expected: Any, value: Any, same: bool):
    assert eq("it", expected)({"it": value}) is same


@pytest.mark.parametrize("value", [1, 0, None, "True"])
def test_eq_does_not_take_another_kind_for_a_bool(value):
    with pytest.raises(TypeError):
        eq("it", True)({"it": value})


@pytest.mark.parametrize("value", [NAN, [NAN], {"a": [NAN]}])
def test_eq_refuses_nan_wherever_it_stands(value):
    with pytest.raises(ValueError, match="NaN"):
        eq("it", None)({"it": value})


def test_matches_searches_anywhere():
    assert matches("host", r"example\.com")({"host": "example.com.evil.test"})
    assert not matches("host", r"^example\.com\Z")({"host": "example.com.evil.test"})
    assert matches(
        "text",
        "^drop",
    )({"text": "drop\nit"})


def test_a_pattern_looks_at_text_alone():
    with pytest.raises(TypeError, match="a number"):
        matches("n", "1")({"n": 1})


def test_a_pattern_that_is_none_is_refused_where_it_is_written():
    with pytest.raises(ValueError, match="no regular expression"):
        matches("n", "(")


def test_a_pattern_that_backtracks_without_end_is_given_up():
    with pytest.raises(TimeoutError):
        matches("path", "^(a|aa)+$")({"path": "a" * 60 + "!"})


def test_all_fields_want_every_pattern_and_any_field_one():
    call = {"host": "prod-1", "user": "kim"}
    assert all_fields(host="prod", user="kim")(call)
    assert not all_fields({"host": "prod", "user": "root"})(call)
    assert any_field(host="prod", user="root")(call)
    assert not any_field({"host": "dev", "user": "root"})(call)


@pytest.mark.parametrize("make", [all_fields, any_field])
@pytest.mark.parametrize("first", ["prod", "dev"])
def test_every_pattern_is_looked_at_whatever_the_first_says(make, first):
    with pytest.raises(LookupError, match="'user'"):
        make({"host": first, "user": "root"})({"host": "prod"})


@pytest.mark.parametrize("make", [all_fields, any_field])
def test_without_patterns_there_is_no_answer(make):
    with pytest.raises(ValueError, match="has no patterns"):
        make()({"host": "prod"})
