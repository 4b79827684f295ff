"""What an answer decides about a tool call: only exact `True` and a valid decision let it run."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from nodestep.middleware import ToolDecision
from nodestep.middleware.decisions import read_decision


@pytest.mark.parametrize("answer", [True, {"action": "approve"}, {"action": "approve", "message": "fine"}])
def test_true_and_an_approval_let_a_call_run(answer):
    assert read_decision(answer).action == "approve"


@pytest.mark.parametrize("arguments", [{}, {"amount": 5}])
def test_an_edit_with_arguments_lets_a_call_run(arguments):
    decision = read_decision({"action": "edit", "arguments": arguments})
    assert (decision.action, decision.arguments) == ("edit", arguments)


def test_a_denial_keeps_its_reason():
    assert read_decision({"action": "deny", "message": "too much"}).message == "too much"


@pytest.mark.parametrize(
    "answer",
    [
        1,
        1.0,
        "yes",
        "approve",
        "true",
        False,
        None,
        [],
        [True],
        {},
        {"approved": True},
        {"action": "approve", "approved": True},
        {"action": "Approve"},
        {"action": True},
        {"action": "edit"},
        {"action": "edit", "arguments": None},
        {"action": "edit", "arguments": [1]},
        {"action": "edit", "arguments": "{}"},
        {"action": "approve", "arguments": {"amount": 5}},
        {"action": "approve", "message": 5},
    ],
)
def test_every_other_answer_denies_and_says_why(answer):
    decision = read_decision(answer)
    assert decision.action == "deny"
    assert decision.message


def test_a_decision_refuses_unknown_fields():
    with pytest.raises(ValidationError):
        ToolDecision(action="approve", approved=True)  # type: ignore[call-arg]
