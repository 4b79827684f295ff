"""The JSON text that is stored."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep.model.canonical import checksum, decode, encode, fingerprint

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def exactly(value):
    """Tells 1 from 1.0 and True, 0.0 from -0.0, and one order of keys from another."""
    return repr(value)


@given(JSON)
def test_every_json_value_comes_back_exactly(value):
    assert exactly(decode(encode(value))) == exactly(value)


@given(JSON)
def test_any_json_reader_reads_what_is_written(value):
    assert exactly(json.loads(encode(value))) == exactly(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_exact(value):
    assert exactly(decode(encode(value))) == exactly(value)


def test_the_text_is_compact_utf8_in_the_order_given():
    assert encode({"b": [1, 2.5], "a": "é\n"}) == '{"b":[1,2.5],"a":"é\\n"}'.encode()


@pytest.mark.parametrize("text", [b"", b"{", b"NaN", b"[1,]", b'{"a":Infinity}', b'"\xff"'])
def test_anything_but_json_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        decode(text)


def test_the_checksum_is_a_crc32():
    assert checksum(b"123456789") == 0xCBF43926


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans())))
def test_the_fingerprint_does_not_depend_on_the_order_of_keys(value):
    assert fingerprint(dict(reversed(value.items()))) == fingerprint(value)


def test_different_values_have_different_fingerprints():
    assert len({fingerprint(value) for value in (1, 1.0, "1", True, None, [1], {"1": 1})}) == 7
