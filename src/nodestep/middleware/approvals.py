"""`ToolInterruptMiddleware`: a person approves tool calls before they run."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import GraphConfigError
from ..hooks import Middleware
from .rules import InterruptRule


class ToolInterruptMiddleware(Middleware):
    """Pauses an agent before the tool calls that a rule names, so that a person can approve, edit or deny each.

    All calls of a model's turn that need a person are asked for in one pause, one question each, whatever number of rules,
    middleware and graphs around ask for it. Calls that nobody need approve run before the pause; with `hold_turn=True` the
    whole turn waits for the decisions. The question's payload is a `ToolInterrupt`, its answer `True` or a
    `ToolDecision`, and any other answer denies the call.

    Raises GraphConfigError for anything but rules.
    """

    def __init__(self, *, rules: Iterable[InterruptRule], hold_turn: bool = False) -> None:
        self.rules = tuple(rules)
        self.hold_turn = hold_turn
        for rule in self.rules:
            if not isinstance(rule, InterruptRule):
                raise GraphConfigError(
                    f"ToolInterruptMiddleware(rules=...) takes InterruptRule objects, not {type(rule).__name__}. Write "
                    "rules=[InterruptRule(tool='refund')]."
                )
