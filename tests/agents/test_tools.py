"""`@tool`: what a model is shown of a function."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, RootModel

from nodestep import GraphConfigError
from nodestep.agents import Tool, ToolContext, tool
from nodestep.middleware import gt


@tool
def look_up_order(order_id: str, limit: int = 10, *, kind: Literal["new", "old"] = "new") -> dict[str, Any]:
    """Look an order up.

    Knows orders of the last year.
    """
    return {"order_id": order_id}


def test_a_tool_has_the_name_and_the_docstring_of_its_function():
    assert look_up_order.name == "look_up_order"
    assert look_up_order.description == "Look an order up.\n\nKnows orders of the last year."


def test_its_schema_has_every_parameter_and_nothing_more():
    assert look_up_order.input_schema() == {
        "title": "LookUpOrderInput",
        "type": "object",
        "properties": {
            "order_id": {"title": "Order Id", "type": "string"},
            "limit": {"title": "Limit", "type": "integer", "default": 10},
            "kind": {"title": "Kind", "type": "string", "default": "new", "enum": ["new", "old"]},
        },
        "required": ["order_id"],
        "additionalProperties": False,
    }


def test_name_and_description_can_be_given():
    @tool(name="find-it", description="Finds it.")
    def find(what: str) -> str:
        return what

    assert (find.name, find.description, find.input_schema()["title"]) == ("find-it", "Finds it.", "FindItInput")


def test_calling_a_tool_calls_its_function():
    assert look_up_order("A-1") == {"order_id": "A-1"}


@pytest.mark.parametrize("annotation", [ToolContext, ToolContext | None, "ToolContext", Annotated[ToolContext, "mine"]])
def test_the_context_is_hidden_from_the_model_under_any_name(annotation):
    def act(what: str, its: Any) -> str:
        """Act."""
        return what

    act.__annotations__["its"] = annotation
    assert list(tool(act).input_schema()["properties"]) == ["what"]


def test_a_parameter_may_have_any_name():
    @tool
    def odd(schema: str, model_config: int, json: bool, _private: str = "") -> None:
        """Odd names."""

    assert list(odd.input_schema()["properties"]) == ["schema", "model_config", "json", "_private"]


def test_what_annotated_says_reaches_the_model():
    @tool
    def pay(amount: Annotated[float, Field(gt=0, description="In euros.")]) -> None:
        """Pay."""

    assert pay.input_schema()["properties"]["amount"] == {
        "title": "Amount",
        "type": "number",
        "exclusiveMinimum": 0,
        "description": "In euros.",
    }


def test_a_bound_method_is_a_tool():
    class Shop:
        def close(self, when: str) -> str:
            """Close the shop."""
            return when

    closing = tool(Shop().close)
    assert (closing.name, list(closing.input_schema()["properties"])) == ("close", ["when"])


class Transfer(BaseModel):
    to: str
    amount: float = 1.0


def test_an_input_model_stands_for_the_parameters():
    @tool(input_model=Transfer)
    def transfer(what: Transfer, ctx: ToolContext) -> str:
        """Transfer money."""
        return what.to

    schema = transfer.input_schema()
    assert (schema["title"], list(schema["properties"])) == ("TransferInput", ["to", "amount"])
    assert schema["additionalProperties"] is False


def refused(function: Any, **options: Any) -> str:
    with pytest.raises(GraphConfigError) as caught:
        tool(function, **options)
    return str(caught.value)


def test_everything_wrong_with_a_tool_is_told_at_once():
    def bad(a, *rest: int) -> str:
        return ""

    told = refused(bad, name="no spaces", needs_approval="always")
    for part in (
        "1 to 64 of",
        "no description",
        "'a' has no annotation",
        "'rest' is variadic",
        "needs_approval= takes",
    ):
        assert part in told


@pytest.mark.parametrize("name", ["", "a b", "é", "x" * 65, 5, "a.b"])
def test_a_name_that_no_provider_takes_is_refused(name):
    assert "1 to 64 of" in refused(look_up_order.function, name=name)


@pytest.mark.parametrize("description", ["", "  \n"])
def test_an_empty_description_is_refused(description):
    assert "no description" in refused(look_up_order.function, description=description)


def test_a_default_that_does_not_fit_is_refused():
    def bad(a: int = "none") -> None:  # type: ignore[assignment]
        """Bad."""

    assert "the default of parameter 'a' does not fit" in refused(bad)


def test_an_annotation_that_is_not_known_is_refused():
    def bad(a: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
        """Bad."""

    assert "'Nowhere' of parameter 'a' is not known" in refused(bad)


def test_a_type_without_a_json_form_is_refused():
    class Odd:
        pass

    def bad(a: Odd) -> None:
        """Bad."""

    def worse() -> Odd:
        """Worse."""
        return Odd()

    assert "its parameters have no JSON form" in refused(bad)
    assert "its result has no JSON form" in refused(worse)


def test_a_method_in_its_class_is_refused_with_what_to_write():
    class Shop:
        def close(self, when: str) -> str:
            """Close the shop."""
            return when

    assert "tool(the_object.method)" in refused(Shop.close)


@pytest.mark.parametrize("what", [5, "refund", Transfer, look_up_order])
def test_only_functions_and_bound_methods_become_tools(what):
    assert "@tool takes a function or a bound method" in refused(what)


def test_a_generator_is_refused():
    def many() -> Any:
        """Many."""
        yield 1

    assert "it yields" in refused(many)


def test_an_input_model_stands_alone():
    def bad(a: str, b: str) -> None:
        """Bad."""

    assert "takes that model and nothing else" in refused(bad, input_model=Transfer)
    assert "input_model= takes a pydantic model" in refused(bad, input_model=dict)


def test_an_input_model_without_names_is_refused():
    def bad(a: RootModel[list[int]]) -> None:
        """Bad."""

    assert "no named arguments" in refused(bad, input_model=RootModel[list[int]])


def test_two_contexts_are_refused():
    def bad(a: ToolContext, b: ToolContext) -> None:
        """Bad."""

    assert "'a' and 'b' are both a ToolContext" in refused(bad)


@pytest.mark.parametrize(
    ("needs", "asks"),
    [
        (False, False),
        (True, True),
        (gt("amount", 100), True),
        (gt("amount", 200), False),
        (gt("missing", 1), True),
        (lambda arguments: None, True),
    ],
)
def test_a_tool_says_which_calls_need_approval(needs, asks):
    def pay(amount: float) -> None:
        """Pay."""

    made: Tool = tool(pay, needs_approval=needs)
    assert made.asks_for({"amount": 120}) is asks
