"""The template language of declared pauses: what it reads, and what it refuses to touch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from pydantic import BaseModel

from nodestep import BaseState
from nodestep.errors import GraphExecutionError
from nodestep.model.template import Misspelt, Template


class Order(BaseModel):
    total: float = 12.5
    tags: list[str] = ["new", "gift"]

    @property
    def calls(self) -> str:
        raise AssertionError("a place ran code")


@dataclass
class Size:
    width: int = 3


class Point(NamedTuple):
    x: int = 1


class Colour(Enum):
    RED = "red"


class Shop(BaseState):
    draft: str = "hello"
    order: Order = Order()
    items: list[Any] = ["tea", {"net weight": 5}]
    prices: dict[str, Any] = {"total": 3, "net total": 2, "0": "zero", "_x": "kept"}
    size: Size = Size()
    point: Point = Point()
    colour: Colour = Colour.RED
    amount: Decimal = Decimal("1234.5")
    huge: Decimal = Decimal("1E+999999")
    due: date = date(2026, 3, 4)
    ref: UUID = UUID(int=7)
    count: int = 42
    ready: bool = True
    note: str | None = None


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("", ""),
        ("Publish?", "Publish?"),
        ("{draft}, {draft}!", "hello, hello!"),
        ("{order.total:.2f}", "12.50"),
        ("{order.tags[0]} and {order.tags[-1]}", "new and gift"),
        ("{items[0]}", "tea"),
        ("{items[1][net weight]}", "5"),
        ("{prices.total}, {prices[net total]}, {prices[0]}, {prices[_x]}", "3, 2, zero, kept"),
        ("{size.width}", "3"),
        ("{point.x} {point[0]}", "1 1"),
        ("{colour:>5}", "  red"),
        ("{amount:,.2f}", "1,234.50"),
        ("{huge}", "1E+999999"),
        ("{due}, {due:%d %B %Y}", "2026-03-04, 04 March 2026"),
        ("{ref}", "00000000-0000-0000-0000-000000000007"),
        ("{count:05d} {count:x}", "00042 2a"),
        ("{ready}", "True"),
        ("{{}} {{draft}} }}", "{} {draft} }"),
        ("{items}", '["tea",{"net weight":5}]'),
        ("{order}", '{"total":12.5,"tags":["new","gift"]}'),
    ],
)
def test_places_are_filled_in(template, text):
    assert Template(template).render(Shop()) == text


@pytest.mark.parametrize("template", ["{draft}", "{order[total]:.1f}"])
def test_a_dict_as_state_is_read_like_a_model(template):
    assert Template(template).render({"draft": "hello", "order": {"total": 12.5}}) in ("hello", "12.5")


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{", "a single '{' stands at character 0"),
        ("a } b", "Write '}}' for a brace"),
        ("{}", "{} names no field"),
        ("{0}", "{0} names no field"),
        ("{draft!r}", "{draft!r} names no field"),
        ("{draft()}", "{draft()} names no field"),
        ("{draft.upper()}", "names no field"),
        ("{items.0}", "names no field"),
        ("{draft.}", "names no field"),
        ("{a b}", "names no field"),
        ("{_draft}", "starts with '_'"),
        ("{draft.__class__}", "starts with '_'"),
        ("{order._private}", "starts with '_'"),
        ("{draft:{count}}", "a single '{'"),
        ("{count:999999999d}", "too wide"),
        ("{amount:.101f}", "too wide"),
        ("{due:%999999d}", "the format of {due:%999999d} is none"),
        ("{count:!!}", "the format of {count:!!} is none"),
    ],
)
def test_what_is_no_place_is_refused(template, words):
    with pytest.raises(Misspelt) as caught:
        Template(template)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "template",
    [
        "{note}",
        "{draft.upper}",
        "{draft[0]}",
        "{order.calls}",
        "{order.model_dump}",
        "{order.model_fields}",
        "{order.tags[2]}",
        "{order.tags.append}",
        "{items[-3]}",
        "{prices.missing}",
        "{prices.keys}",
        "{size.missing}",
        "{point.count}",
        "{due.year}",
        "{note.deeper}",
    ],
)
def test_a_place_without_a_value_is_named(template):
    with pytest.raises(GraphExecutionError) as caught:
        Template(template).render(Shop())
    assert f"{template} cannot be filled in: the state has no value there" in str(caught.value)


@pytest.mark.parametrize("template", ["{draft:.2f}", "{count:%d %B}", "{due:>5d}", "{items:>9}", "{huge:f}"])
def test_a_format_that_does_not_fit_the_value_is_named(template):
    with pytest.raises(GraphExecutionError) as caught:
        Template(template).render(Shop())
    assert f"{template} cannot be filled in: its format does not fit" in str(caught.value)


def test_the_value_is_never_part_of_the_error():
    with pytest.raises(GraphExecutionError) as caught:
        Template("{draft:d}").render(Shop(draft="s3cret"))
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_template_tells_its_fields():
    assert Template("{draft} {order.total} {order.tags}").fields == {"draft": "{draft}", "order": "{order.total}"}
