"""Arguments of plain JSON types are read without the tool's model, and never differently."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep import tool
from nodestep.agents.arguments import Arguments, ArgumentsError, Checked
from nodestep.model.copying import same
from nodestep.model.frozen import frozen


def order(
    id: str,
    amount: float = 1.5,
    count: int | None = None,
    tags: list[str] = [],  # noqa: B006 - that a default is not shared is what is tested
    *,
    kind: Literal["new", "old"] = "new",
    extra: dict[str, Any] | None = None,
) -> str:
    """Order."""
    return id


def whole(total: float = 1) -> str:
    """Its default is of another type than its parameter."""
    return ""


PLAIN, WHOLE = tool(order).takes, tool(whole).takes
ODD = st.sampled_from(["1", "new", "old", "\0", "\ud800", "ü", 1, 1.0, True, 2**64, float("nan"), (1,), b"b", None])
values = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner), max_leaves=3
)
calls = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("id", "amount", "count", "tags", "kind", "extra", "ctx", "total"), values)
)


def read(takes: Arguments, call: Any) -> Checked | None:
    try:
        return takes.check(call)
    except ArgumentsError:
        return None


def by_model(takes: Arguments) -> Arguments:
    return Arguments(takes.model, takes.parameters, takes.whole, takes.context, takes.result, None)


@given(calls, st.booleans())
def test_a_call_is_read_as_the_model_reads_it(call, as_message):
    try:
        given = frozen(call) if as_message else call
    except Exception:
        return
    for takes in (PLAIN, WHOLE):
        one, other = read(takes, given), read(by_model(takes), given)
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert same(one.json, other.json)
            assert same(dict(one.keywords), dict(other.keywords))


@given(st.fixed_dictionaries({"id": st.sampled_from(["a", "ü"])}, optional={"tags": st.lists(st.just("x"))}))
def test_a_call_that_gives_plain_arguments_exactly_needs_no_model(call):
    assert PLAIN.plain is not None
    assert PLAIN.plain.read(call) is not None


def test_what_the_function_gets_is_shared_with_nobody():
    for call in ({"id": "a"}, {"id": "a", "tags": ["x"]}):
        checked = PLAIN.check(call)
        checked.keywords["tags"].append("changed")
        assert "changed" not in checked.json["tags"]
        assert "changed" not in PLAIN.check(call).keywords["tags"]


@pytest.mark.parametrize("given", [None, [], "id", 1])
def test_what_is_no_mapping_does_not_fit(given):
    with pytest.raises((ArgumentsError, TypeError)):
        PLAIN.check(given)


def test_arguments_beyond_the_limit_do_not_fit():
    with pytest.raises(ArgumentsError, match="1,048,576 are stored"):
        PLAIN.check({"id": "x" * (1 << 20)})
