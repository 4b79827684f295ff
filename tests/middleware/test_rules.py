"""Rules over tool calls: what is asked for, and that everything unclear is (TL-12, TL-13, SC-07)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from nodestep import GraphConfigError
from nodestep.agents import tool
from nodestep.middleware import InterruptRule, ToolInterruptMiddleware, gt, matches, should_interrupt

NAN = float("nan")


@tool
def refund(amount: float) -> str:
    """Refund an order."""
    return "done"


def over_100(arguments: Any) -> bool:
    return should_interrupt([InterruptRule("refund", match=gt("amount", 100))], "refund", arguments)


def test_a_rule_without_a_predicate_asks_for_every_call_of_its_tool():
    rules = [InterruptRule(tool="refund")]
    assert should_interrupt(rules, "refund")
    assert not should_interrupt(rules, "lookup_order", {})


def test_a_star_stands_for_every_tool():
    assert should_interrupt([InterruptRule("*")], "anything", {"a": 1})


def test_a_rule_and_a_check_may_name_the_tool_itself():
    assert should_interrupt([InterruptRule(refund)], refund, {"amount": 1})
    assert should_interrupt([InterruptRule(refund)], "refund", {"amount": 1})


def test_without_rules_nothing_is_asked():
    assert not should_interrupt([], "refund", {"amount": 1e9})


@pytest.mark.parametrize("amount", [None, "1000", "a lot", [200], {}, {"value": 5}, True, False, NAN])
def test_tl_12_an_argument_that_cannot_be_compared_is_asked_for(amount):
    assert over_100({"amount": amount})


@pytest.mark.parametrize("arguments", [{}, None, [], "amount", 5, {"Amount": 5}])
def test_tl_12_arguments_without_the_argument_are_asked_for(arguments):
    assert over_100(arguments)


def test_tl_12_a_pattern_on_a_number_is_asked_for():
    assert should_interrupt([InterruptRule("refund", match=matches("amount", "^1"))], "refund", {"amount": 200})


@pytest.mark.parametrize("answer", [None, 0, "", 1, "no", [], object()])
def test_a_predicate_that_does_not_answer_with_a_bool_is_a_match(answer):
    assert should_interrupt([InterruptRule("refund", match=lambda arguments: answer)], "refund", {})


def test_an_async_predicate_is_a_match():
    async def never(arguments):
        return False

    assert should_interrupt([InterruptRule("refund", match=never)], "refund", {})  # type: ignore[arg-type]


def test_a_predicate_changes_only_its_own_copy_of_the_arguments():
    def greedy(arguments):
        arguments["lines"].clear()
        return False

    arguments = {"lines": [1]}
    assert not should_interrupt([InterruptRule("refund", match=greedy)], "refund", arguments)
    assert arguments == {"lines": [1]}


@pytest.mark.parametrize(
    "rules", list(itertools.permutations([("refund", gt("amount", 100)), ("*", matches("note", "x"))]))
)
def test_tl_13_any_rule_suffices_in_any_order(rules):
    rules = [InterruptRule(tool=name, match=match) for name, match in rules]
    assert should_interrupt(rules, "refund", {"amount": 120, "note": ""})
    assert should_interrupt(rules, "refund", {"amount": 20, "note": "x"})
    assert should_interrupt(rules, "ship", {"note": "x"})
    assert not should_interrupt(rules, "refund", {"amount": 20, "note": ""})


def test_sc_07_a_pattern_that_stalls_ends_in_asking():
    stalls = InterruptRule("delete", match=matches("path", "^(a|aa)+$"))
    assert should_interrupt([stalls], "delete", {"path": "a" * 60 + "!"})


@pytest.mark.parametrize("host", ["example.com", "example.com.evil.test", "x\nexample.com", "example.com\n"])
def test_sc_07_a_pattern_is_searched_for_and_not_matched_in_full(host):
    assert should_interrupt([InterruptRule("fetch", match=matches("host", r"example\.com"))], "fetch", {"host": host})


@pytest.mark.parametrize("wrong", ["", None, 5, refund.function])
def test_a_rule_takes_a_tool_or_its_name(wrong: Any):
    with pytest.raises(GraphConfigError, match=r"InterruptRule\(tool=\.\.\.\) takes a tool"):
        InterruptRule(wrong)


def test_a_rule_takes_a_predicate():
    with pytest.raises(GraphConfigError, match="takes a function of the arguments"):
        InterruptRule("refund", match="amount > 100")  # type: ignore[arg-type]


def test_the_middleware_takes_rules():
    with pytest.raises(GraphConfigError, match="takes InterruptRule objects, not str"):
        ToolInterruptMiddleware(rules=["refund"])  # type: ignore[list-item]
