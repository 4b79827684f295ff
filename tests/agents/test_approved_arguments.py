"""An approval belongs to the very arguments that were shown, whatever types they have and however they are read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, Json, PlainSerializer, computed_field

from nodestep import Middleware, Tool, ToolExecutionError, tool
from nodestep.middleware import Replacement, ToolDecision, eq, gt
from tests.agents.acting import acting, answer, call, start, told


class Gives(Middleware):
    """Gives the calls of each attempt the next arguments."""

    def __init__(self, *arguments: dict[str, Any]) -> None:
        self.arguments: Iterator[dict[str, Any]] = iter(arguments)

    def before_tool(self, ctx):
        return Replacement(next(self.arguments))


@pytest.mark.parametrize("other", [True, 1.0, "1"])
def test_approving_one_is_not_approving_what_only_equals_it(store, other):
    ran = []

    @tool(needs_approval=True)
    def wipe(disk: Any) -> None:
        """Wipe a disk."""
        ran.append(disk)

    graph = acting([wipe], store, middleware=[Gives({"disk": 1}, {"disk": other}, {"disk": other})])
    start(graph, call("wipe", disk=1))
    again = answer(graph, value=True)
    assert [repr(found.payload.arguments["disk"]) for found in again.interrupts.values()] == [repr(other)]
    assert ran == []
    answer(graph, value=True)
    assert [repr(each) for each in ran] == [repr(other)]


def test_an_edit_that_turns_another_argument_into_its_equal_is_asked_about(store):
    class Transfer(BaseModel):
        to: str
        force: Any = 0

        def model_post_init(self, _context: Any) -> None:
            if self.to == "kim":
                self.force = False

    @tool(needs_approval=True, input_model=Transfer)
    def transfer(what: Transfer) -> None:
        """Transfer."""

    graph = acting([transfer], store)
    start(graph, call("transfer", to="bo"))
    again = answer(graph, value=ToolDecision(action="edit", arguments={"to": "kim"}))
    assert [found.payload.arguments for found in again.interrupts.values()] == [{"to": "kim", "force": False}]


def test_a_set_is_the_same_in_any_order(store):
    ran = []

    @tool(needs_approval=True)
    def label(tags: set[int]) -> None:
        """Label."""
        ran.append(tags)

    orders = [{"tags": [0, 8]}, {"tags": [8, 0]}]  # the two collide, so that a set keeps the order they came in
    graph = acting([label], store, middleware=[Gives(*orders)])
    start(graph, call("label", tags=[0, 8]))
    assert answer(graph, value=True).status == "completed"
    assert ran == [{0, 8}]


def ordering(ran: list[int]) -> Tool[Any, Any]:
    """A tool that numbers its orders."""
    numbers = count(1)

    class Order(BaseModel):
        item: str
        number: int = Field(default_factory=lambda: next(numbers))

    @tool(needs_approval=True, input_model=Order)
    def order(order: Order) -> None:
        """Order."""
        ran.append(order.number)

    return order


def test_a_default_that_is_made_anew_each_time_is_made_once_for_a_call(store):
    ran: list[int] = []
    graph = acting([ordering(ran)], store)
    (question,) = start(graph, call("order", item="tea")).interrupts.values()
    assert answer(graph, value=True).status == "completed"
    assert ran == [question.payload.arguments["number"]]


def test_a_default_made_for_one_call_is_not_that_of_another_in_its_place(store):
    graph = acting([ordering([])], store)
    start(graph, call("order", item="tea"))
    asyncio.run(graph.update_state("t", {"tool_calls": [call("order", item="gold")]}))
    again = answer(graph, value=True)
    assert [found.payload.arguments for found in again.interrupts.values()] == [{"item": "gold", "number": 2}]


def test_what_a_person_is_not_shown_does_not_run(store):
    ran = []

    class Payment(BaseModel):
        amount: float
        to: str = Field("the shop", exclude=True)

    @tool(needs_approval=True, input_model=Payment)
    def pay(payment: Payment) -> None:
        """Pay."""
        ran.append((payment.amount, payment.to))

    graph = acting([pay], store)
    start(graph, call("pay", amount=5, to="a stranger"))
    answer(graph, value=True)
    assert ran == [(5.0, "the shop")]


@pytest.mark.parametrize(
    "unsteady",
    [
        Annotated[int, AfterValidator(lambda value: value * 2)],
        Annotated[int, PlainSerializer(lambda value: f"{value} EUR")],
    ],
)
def test_nobody_is_asked_about_arguments_that_do_not_read_back_as_shown(store, unsteady):
    ran = []

    def pay(amount: int) -> None:
        """Pay."""
        ran.append(amount)

    pay.__annotations__["amount"] = unsteady
    graph = acting([tool(pay, needs_approval=True)], store, tool_errors="return")
    done = start(graph, call("pay", amount=60))
    assert "nobody can approve it, since its arguments do not read back" in told(done)[0]
    assert ran == []


def test_json_in_text_and_computed_fields_can_be_approved(store):
    ran = []

    class Query(BaseModel):
        body: Json[dict[str, int]]

        @computed_field  # type: ignore[prop-decorator]
        @property
        def size(self) -> int:
            return len(self.body)

    @tool(needs_approval=True, input_model=Query)
    def ask(query: Query) -> None:
        """Ask."""
        ran.append((query.body, query.size))

    graph = acting([ask], store)
    (question,) = start(graph, call("ask", body='{"a":1}')).interrupts.values()
    assert question.payload.arguments == {"body": '{"a":1}'}
    answer(graph, value=True)
    assert ran == [({"a": 1}, 1)]


def test_a_call_that_a_rule_let_pass_runs_as_the_rule_saw_it(store):
    """The rule sees stars, so the tool must not get the value behind them."""
    ran = []

    @tool(needs_approval=eq("to", "evil"))
    def send(to: Annotated[str, PlainSerializer(lambda _: "***")]) -> None:
        """Send."""
        ran.append(to)

    start(acting([send], store), call("send", to="evil"))
    assert ran == ["***"]


@pytest.mark.parametrize(("name", "value"), [("amount", True), ("shares", [0.5, True]), ("parts", {"a": [False]})])
def test_a_truth_value_is_taken_for_no_number(store, name, value):
    ran = []

    @tool(needs_approval=gt("amount", 100))
    def refund(amount: float = 1.0, shares: tuple[float, ...] = (), parts: dict[str, tuple[int]] = {}) -> None:  # noqa: B006
        """Refund."""
        ran.append(amount)

    with pytest.raises(ToolExecutionError, match=f"{name}: true and false are no numbers"):
        start(acting([refund], store), call("refund", **{name: value}))
    assert ran == []
