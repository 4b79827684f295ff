"""Tool call ids as parts of keys: the contract's encoding, one-to-one over all of Unicode."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep.model.ids import QUESTION_ID, approval_id, encoded_call_id

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def decoded(text: str) -> str:
    """The text that an encoding stands for, read by the rule of the contract page."""
    raw = re.sub(rb"\.([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), text.encode())
    return raw.decode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    ("call_id", "expected"),
    [
        ("call_1-A", "approve_call_1-A"),
        ("call 1", "approve_call.201"),
        ("a.b", "approve_a.2eb"),
        ("é", "approve_.c3.a9"),
        ("\U0001f600", "approve_.f0.9f.98.80"),
        ("a/b:c", "approve_a.2fb.3ac"),
        ("", "approve_"),
    ],
)
def test_the_id_is_written_as_the_page_says(call_id, expected):
    assert approval_id(call_id) == expected


@given(ANY_TEXT)
def test_the_encoding_can_be_read_back(call_id):
    assert decoded(encoded_call_id(call_id)) == call_id


@given(ANY_TEXT, ANY_TEXT, st.integers(1, 30), st.integers(1, 30))
def test_two_things_of_two_calls_never_share_an_id(one, other, first, second):
    same = (one, first) == (other, second)
    assert (approval_id(one, first) == approval_id(other, second)) is same
    assert (encoded_call_id(one, first) == encoded_call_id(other, second)) is same


@given(ANY_TEXT.filter(lambda text: len(text) < 15), st.integers(1, 30))
def test_an_approval_id_is_made_of_what_ids_are_made_of(call_id, number):
    assert QUESTION_ID.fullmatch(approval_id(call_id, number))
