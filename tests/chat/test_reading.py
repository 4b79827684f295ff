"""What a model wrote, read: broken arguments are told, never raised, and never kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep.chat import tool_call
from nodestep.chat.reading import whole_text


def test_arguments_are_read_from_their_json_text():
    call = tool_call("call_1", "refund", '{"amount": 80, "to": "Ä"}')
    assert (call.arguments, call.arguments_error) == ({"amount": 80, "to": "Ä"}, None)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_no_text_is_no_arguments(text):
    call = tool_call("call_1", "now", text)
    assert (call.arguments, call.arguments_error) == ({}, None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"amount": ', "no valid JSON"),
        ("{'amount': 1}", "no valid JSON"),
        ('{"a": 1} {"b": 2}', "no valid JSON"),
        ('{"amount": NaN}', "NaN is no number of JSON"),
        ('{"amount": -Infinity}', "no number of JSON"),
        ('{"amount": 1e999}', "NaN or infinite"),
        ("[1, 2]", "no object"),
        ('"refund"', "no object"),
        ("null", "no object"),
        ('{"amount": 123456789012345678901234567890}', "64 bits"),
        ('{"name": "\\ud83d"}', "half a character"),
        ('{"name": "\\u0000"}', "NUL"),
        ('{"a": ' * 200 + "1" + "}" * 200, "nested deeper"),
        ("[" * 100_000, "nested too deep"),
        ('{"amount": ' + "9" * 5000 + "}", "no valid JSON"),
    ],
)
def test_arguments_that_cannot_be_used_are_told(text, why):
    call = tool_call("call_1", "refund", text)
    assert call.arguments == {}
    assert why in (call.arguments_error or "")


@given(st.text())
def test_any_text_gives_a_call_that_json_can_hold(text):
    call = tool_call("call_1", "refund", text)
    json.dumps(call.arguments, allow_nan=False)
    assert call.arguments_error is None or not call.arguments


def test_halves_of_a_character_are_joined_and_what_cannot_be_kept_is_replaced():
    assert whole_text("a\ud83d" + "\ude00b") == "a😀b"
    assert whole_text("a\ud83db\x00") == "a\ufffdb\ufffd"


@given(st.text(st.characters(exclude_categories=[])))
def test_whole_text_can_always_be_stored(text):
    clean = whole_text(text)
    assert clean.encode().decode() == clean
    assert "\x00" not in clean
    assert whole_text(clean) == clean
