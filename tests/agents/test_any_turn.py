"""Any turn of calls under any decisions: what ran is what was shown and approved, and nothing else, whoever goes on."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nodestep import InMemoryStateStore, Resume, Tool, tool
from nodestep.chat import ToolCall
from nodestep.middleware import InterruptRule, ToolDecision, gt
from tests.agents.acting import acting, start, told

LIMITS = (100, 1000)
RULES = [InterruptRule("pay", match=gt("amount", limit)) for limit in LIMITS]
AMOUNTS = st.sampled_from([5, 100, 101, 500, 1000, 1001, 9000])
CALLS = st.lists(st.tuples(st.sampled_from(["a", "b", "", "a.b"]), AMOUNTS), min_size=1, max_size=4)
DECISIONS = st.one_of(
    st.just(True),
    st.just(ToolDecision(action="approve")),
    st.sampled_from(
        [False, 1, "yes", None, {"approved": True}, ToolDecision(action="deny"), ToolDecision(action="edit")]
    ),
    AMOUNTS.map(lambda amount: ToolDecision(action="edit", arguments={"amount": amount})),
)


def needs(amount: int) -> set[int]:
    return {limit for limit in LIMITS if amount > limit}


def comes_to(shown: int, decision: Any) -> tuple[int | None, int | None]:
    """What runs after a decision about a call as it was shown, and what is asked about next."""
    if decision is True or (isinstance(decision, ToolDecision) and decision.action == "approve"):
        return shown, None
    if isinstance(decision, ToolDecision) and decision.action == "edit" and decision.arguments:
        amount = decision.arguments["amount"]
        return (None, amount) if needs(amount) - needs(shown) else (amount, None)
    return None, None


@given(CALLS, st.data())
@settings(max_examples=60)
def test_what_ran_is_what_was_shown_and_approved(made, data):
    ran: list[int] = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        return "paid"

    tools: list[Tool[Any, Any]] = [pay]
    store = InMemoryStateStore()
    calls = [ToolCall(id=id, name="pay", arguments={"amount": amount}) for id, amount in made]
    expected = Counter(amount for _, amount in made if not needs(amount))
    asked = Counter(amount for _, amount in made if needs(amount))
    result = start(acting(tools, store, rules=RULES), *calls)
    while result.status == "interrupted":
        shown = {key: found.payload.arguments["amount"] for key, found in result.interrupts.items()}
        assert Counter(shown.values()) == asked
        assert Counter(ran) == expected
        decisions = {key: data.draw(DECISIONS, label=key) for key in shown}
        asked = Counter()
        for key, decision in decisions.items():
            runs, asks = comes_to(shown[key], decision)
            expected.update([] if runs is None else [runs])
            asked.update([] if asks is None else [asks])
        graph = acting(tools, store, rules=RULES)
        result = graph.invoke(None, thread_id="t", resume=Resume(answers=decisions))
    assert not asked
    assert Counter(ran) == expected
    assert len(told(result)) == len(made)
