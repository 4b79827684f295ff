"""`call_tool`: arguments read, the function called, the result read."""

from __future__ import annotations

import asyncio
import pickle
import threading
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from nodestep import ToolDeniedError, ToolExecutionError
from nodestep.agents import ToolCallResult, ToolContext, call_tool, tool
from nodestep.agents.calling import error_text, result_text
from nodestep.model.limits import to_json


class Money(BaseModel):
    amount: float
    currency: str = "EUR"


@tool
def convert(money: Money, on: date = date(2026, 1, 1)) -> Money:
    """Convert money."""
    return Money(amount=money.amount * 2, currency=f"{on.year}")


def called(made: Any, arguments: Any, ctx: Any = None) -> ToolCallResult:
    return asyncio.run(call_tool(made, arguments, ctx))


def failed(made: Any, arguments: Any) -> ToolExecutionError:
    with pytest.raises(ToolExecutionError) as caught:
        called(made, arguments)
    return caught.value


def test_arguments_arrive_as_their_types_with_defaults_filled_in():
    assert called(convert, {"money": {"amount": "5"}}) == ToolCallResult(
        Money(amount=10, currency="2026"), {"money": {"amount": 5.0, "currency": "EUR"}, "on": "2026-01-01"}
    )


def test_an_async_tool_is_awaited():
    @tool
    async def double(n: int) -> int:
        """Double it."""
        await asyncio.sleep(0)
        return 2 * n

    assert called(double, {"n": 2}).value == 4


def test_a_plain_tool_does_not_run_in_the_loop():
    @tool
    def where() -> int:
        """Say where."""
        return threading.get_ident()

    assert called(where, {}).value != threading.get_ident()


def test_an_input_model_arrives_as_the_model():
    @tool(input_model=Money)
    def show(money: Money) -> str:
        """Show it."""
        assert isinstance(money, Money)
        return f"{money.amount} {money.currency}"

    assert called(show, {"amount": 5}) == ToolCallResult("5.0 EUR", {"amount": 5.0, "currency": "EUR"})
    assert "[...]: Extra inputs are not permitted" in str(failed(show, {"amount": 5, "note": "x"}))


def test_the_context_is_handed_in():
    @tool
    def who(ctx: ToolContext) -> str:
        """Say who."""
        return ctx.tool_call_id

    class Context:
        tool_call_id = "call_7"

    assert called(who, {}, Context()).value == "call_7"
    with pytest.raises(TypeError, match="takes a ToolContext"):
        called(who, {})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "money: Field required"),
        ({"money": {"amount": "lots"}}, "money[...]: Input should be a valid number"),
        ({"money": {"amount": 1}, "note": "x"}, "Extra inputs are not permitted"),
        ({"money": {"amount": float("nan")}}, "no JSON that can be stored"),
        ({"money": {"amount": 1}, "on": "soon"}, "on: Input should be a valid date"),
    ],
)
def test_arguments_that_do_not_fit_are_told_and_the_tool_is_not_entered(arguments, told):
    error = failed(convert, arguments)
    assert told in str(error)
    assert error.tool_name == "convert"
    assert error.input_data is arguments


def test_a_secret_argument_is_refused():
    @tool
    def enter(password: SecretStr) -> None:
        """Enter."""

    error = failed(enter, {"password": "hunter2"})
    assert "secrets are never stored" in str(error)
    assert "hunter2" not in str(error)


def test_an_error_of_the_tool_is_the_cause():
    @tool
    def fail() -> None:
        """Fail."""
        raise KeyError("no such order")

    error = failed(fail, {})
    assert isinstance(error.__cause__, KeyError)
    assert error_text(error) == "Tool error: KeyError: 'no such order'"


def test_a_result_must_fit_its_annotation():
    @tool
    def count() -> int:
        """Count."""
        return "many"  # type: ignore[return-value]

    assert "its result does not fit its annotation" in str(failed(count, {}))


def test_a_result_must_have_a_json_form():
    @tool
    def odd() -> Any:
        """Odd."""
        return object()

    assert "cannot be stored" in str(failed(odd, {}))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, '{"result":null}'),
        ("é", '{"result":"é"}'),
        (Money(amount=1), '{"result":{"amount":1.0,"currency":"EUR"}}'),
        ([date(2026, 1, 2)], '{"result":["2026-01-02"]}'),
    ],
)
def test_a_result_is_told_as_compact_json(value, text):
    assert result_text(to_json(value, "The result")) == text


def test_an_error_is_told_in_text_that_can_be_stored():
    assert error_text(ValueError("a\0b\ud83d")) == "Tool error: ValueError: a\ufffdb\ufffd"


def test_a_tool_that_needs_approval_is_refused_where_nobody_is_asked():
    ran = []

    @tool(needs_approval=True)
    def pay(amount: float) -> None:
        """Pay."""
        ran.append(amount)

    with pytest.raises(ToolDeniedError, match="Tool 'pay' was not run"):
        called(pay, {"amount": 1})
    assert ran == []


def test_its_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(failed(convert, {})))
    assert (error.tool_name, error.input_data) == ("convert", {})
