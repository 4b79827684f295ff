"""Plain JSON annotations are checked without pydantic, and never differently."""

from typing import Any, Literal, NotRequired

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict, JsonValue, TypeAdapter
from typing_extensions import TypedDict

from nodestep.model.copying import same
from nodestep.model.limits import NotJson, Unfit
from nodestep.model.shapes import shape_of


class Message(TypedDict):
    role: Literal["user", "model"]
    parts: NotRequired[list[str | None]]


class Closed(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]
    n: int


class Tree(TypedDict):
    children: "list[Tree]"


ANNOTATIONS: list[Any] = [
    str,
    int,
    float,
    bool,
    None,
    Any,
    object,
    JsonValue,
    list,
    dict,
    list[int],
    list[list[str]],
    dict[str, float],
    dict[str, list[bool]],
    list[dict[str, Any]],
    int | None,
    int | str,
    int | float | bool | str | None,
    list[int | str],
    list[str] | None,
    dict[str, int] | str,
    Literal["a", 1, None],
    Literal["a"] | int,
    Message,
    list[Message],
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, 1.0, 1.5])
    | st.sampled_from(["", "a", "1", "user"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
        | st.fixed_dictionaries({"role": st.sampled_from(["user", "x"])}, optional={"parts": inner})
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
@given(value=JSON)
def test_what_a_shape_takes_pydantic_takes_and_leaves_as_it_is(annotation, value):
    shape = shape_of(annotation)
    if shape is None:
        return
    try:
        own = shape.own(value)
    except NotJson:
        return
    adapter = TypeAdapter(annotation)
    assert same(own, value)
    assert adapter.validate_python(value) == value
    assert same(adapter.validate_json(adapter.dump_json(value)), value) or isinstance(value, dict)
    copied = shape.copy(own)
    assert same(copied, own)
    assert copied is not own or not isinstance(own, list | dict)


def test_these_annotations_have_a_shape():
    missing = [annotation for annotation in ANNOTATIONS if shape_of(annotation) is None]
    assert missing == [Literal["a"] | int]


@pytest.mark.parametrize(
    "annotation",
    [bytes, set[int], tuple[int, ...], dict[int, str], list[int] | list[str], Closed, Tree, Literal[1, True]],
)
def test_an_annotation_that_says_more_than_json_has_none(annotation):
    assert shape_of(annotation) is None


def test_the_depth_counts_what_the_annotation_says():
    def nested(levels):
        return 1 if not levels else [nested(levels - 1)]

    shape = shape_of(list[list[Any]])
    assert shape is not None
    assert shape.own(nested(100)) == nested(100)
    with pytest.raises(Unfit):
        shape.own(nested(101))
