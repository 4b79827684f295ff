"""The page of guarantees names tests that exist: a promise without one is none."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import DOCS, prose
from tests.durability.named_tests import is_there

PAGE = prose(DOCS / "guarantees.md")
ROWS = re.findall(r"^\| (?P<promise>[^|]+?) \| (?P<tests>[^|]+?) \|$", PAGE, re.MULTILINE)
PROMISES = [row for row in ROWS if row[0] != "Promise"]


def named(text: str) -> list[str]:
    return re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", text)


def test_there_are_promises():
    assert len(PROMISES) > 25


@pytest.mark.parametrize(("promise", "tests"), PROMISES, ids=[promise for promise, _ in PROMISES])
def test_a_promise_is_one_sentence_with_tests_that_are_there(promise, tests):
    assert promise.endswith(".")
    assert len(re.findall(r"\.(?: |$)", promise)) == 1
    assert named(tests), "no test is named"
    assert [test for test in named(tests) if not is_there(test)] == []


def test_every_test_that_the_page_names_is_there():
    assert [test for test in named(PAGE) if not is_there(test)] == []
