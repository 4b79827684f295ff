"""Approvals of tool calls: what is asked, what an answer does, and that what was shown is what runs."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import (
    GraphConfigError,
    InMemoryStateStore,
    LimitExceededError,
    Middleware,
    ResumeError,
    ToolContext,
    ToolDeniedError,
    ToolExecutionError,
    interrupt,
    tool,
)
from nodestep.middleware import InterruptRule, Replacement, ToolDecision, ToolInterrupt, ToolInterruptMiddleware, gt
from tests.agents.acting import OVER_100, Shop, acting, answer, call, start, told


@pytest.fixture
def shop() -> Shop:
    return Shop()


def edit(**arguments: Any) -> ToolDecision:
    return ToolDecision(action="edit", arguments=arguments)


def test_the_payload_is_the_call_as_it_will_run(store, shop):
    paused = start(acting(shop.tools, store, rules=OVER_100), call("refund", "call 1", amount="120"))
    assert {key: found.payload for key, found in paused.interrupts.items()} == {
        "act:approve_call.201": ToolInterrupt(
            tool_name="refund", tool_call_id="call 1", arguments={"amount": 120.0, "note": ""}
        )
    }


@pytest.mark.parametrize("value", [True, ToolDecision(action="approve"), {"action": "approve"}])
def test_an_approval_runs_the_call_and_the_message_keeps_its_arguments(store, shop, value):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("refund", amount=120))
    done = answer(graph, value=value)
    assert told(done) == ['{"result":"refunded 120.0"}']
    assert done.state.messages[0].arguments == {"amount": 120.0, "note": ""}
    assert shop.ran == [("refund", 120.0, "")]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (False, "a value of type bool"),
        (1, "a value of type int"),
        ("yes", "a value of type str"),
        (None, "a value of type NoneType"),
        ({"approved": True}, "wrong in it: action, approved"),
        ({"action": "edit", "arguments": None}, "an edit without arguments"),
        ({"action": "approve", "by": "me"}, "wrong in it: by"),
        ({"action": "deny", "message": "too much"}, "too much"),
        (ToolDecision(action="deny"), "A person denied the call."),
    ],
)
@pytest.mark.parametrize("tool_errors", ["raise", "return"])
def test_any_other_answer_denies_and_the_model_is_told_why(store, shop, value, why, tool_errors):
    graph = acting(shop.tools, store, rules=OVER_100, tool_errors=tool_errors)
    start(graph, call("refund", amount=120))
    (content,) = told(answer(graph, value=value))
    assert content.startswith("Tool error: ToolDeniedError: Tool 'refund' was not run. ")
    assert why in content
    assert shop.ran == []


def test_an_edit_is_merged_into_the_arguments(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("refund", amount=120, note="late"))
    done = answer(graph, value=edit(amount="110"))
    assert shop.ran == [("refund", 110.0, "late")]
    assert done.state.messages[0].arguments == {"amount": 110.0, "note": "late"}


@pytest.mark.parametrize("wrong", [edit(amount="lots"), edit(to="me")])
def test_an_edit_that_does_not_fit_runs_nothing_and_follows_tool_errors(store, shop, wrong):
    graph = acting(shop.tools, store, rules=OVER_100, tool_errors="return")
    start(graph, call("refund", amount=120))
    (content,) = told(answer(graph, value=wrong))
    assert content.startswith("Tool error: ArgumentsError: ")
    assert shop.ran == []


def test_an_edit_that_does_not_fit_is_raised_where_errors_are(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("refund", amount=120))
    with pytest.raises(ToolExecutionError, match="amount: Input should be a valid number"):
        answer(graph, value=edit(amount="lots"))
    assert shop.ran == []


def test_an_edit_that_a_further_rule_matches_is_asked_again(store, shop):
    rules = [*OVER_100, InterruptRule("refund", match=gt("amount", 10_000))]
    graph = acting(shop.tools, store, rules=rules)
    start(graph, call("refund", amount=120))
    again = answer(graph, value=edit(amount=50_000))
    assert {key: found.payload.arguments["amount"] for key, found in again.interrupts.items()} == {
        "act:approve_call_1..2": 50_000.0
    }
    assert shop.ran == []
    answer(graph, value=True)
    assert shop.ran == [("refund", 50_000.0, "")]


def test_an_edit_that_the_same_rules_match_is_not_asked_again(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("refund", amount=120))
    assert answer(graph, value=edit(amount=5000)).status == "completed"
    assert shop.ran == [("refund", 5000.0, "")]


def test_the_second_question_can_be_denied(store, shop):
    graph = acting(shop.tools, store, rules=[*OVER_100, InterruptRule("refund", match=gt("amount", 10_000))])
    start(graph, call("refund", amount=120))
    answer(graph, value=edit(amount=50_000))
    assert "was not run" in told(answer(graph, value=False))[0]
    assert shop.ran == []


def test_all_gated_calls_of_a_turn_are_asked_for_together_and_the_others_have_run(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    paused = start(
        graph,
        call("refund", "a", amount=200),
        call("look_up", "b", order="1"),
        call("refund", "c", amount=5),
        call("refund", "d", amount=300),
    )
    assert sorted(paused.interrupts) == ["act:approve_a", "act:approve_d"]
    assert sorted(shop.ran) == [("look_up", "1"), ("refund", 5.0, "")]
    answer(graph, {"act:approve_a": True, "act:approve_d": False})
    assert sorted(shop.ran) == [("look_up", "1"), ("refund", 5.0, ""), ("refund", 200.0, "")]


def test_the_whole_turn_can_be_held(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100, hold_turn=True)
    start(graph, call("look_up", "b", order="1"), call("refund", "a", amount=200))
    assert shop.ran == []
    assert told(answer(graph, value=False))[0] == '{"result":"order 1"}'
    assert shop.ran == [("look_up", "1")]


def test_a_held_turn_waits_for_the_questions_of_hooks_too(store, shop):
    class Asks(Middleware):
        def before_tool(self, ctx):
            if ctx.tool_name == "refund":
                interrupt("Sure?", id="sure")

    graph = acting(shop.tools, store, hold_turn=True, middleware=[Asks()])
    paused = start(graph, call("look_up", "b", order="1"), call("refund", "a", amount=200))
    assert list(paused.interrupts) == ["act/a:sure"]
    assert shop.ran == []
    answer(graph, value="yes")
    assert sorted(shop.ran) == [("look_up", "1"), ("refund", 200.0, "")]


def test_one_call_is_asked_for_once_whatever_number_of_rules_want_it(store):
    shop = Shop()
    gated = tool(shop._refund, name="refund", needs_approval=True)
    more = ToolInterruptMiddleware(rules=[InterruptRule("*"), InterruptRule(gated)])
    graph = acting([gated], store, rules=[*OVER_100, InterruptRule("refund")], middleware=[more])
    paused = start(graph, call("refund", amount=200))
    assert list(paused.interrupts) == ["act:approve_call_1"]
    assert answer(graph, value=True).status == "completed"


def test_a_tool_that_needs_approval_is_asked_for_without_any_rule(store, shop):
    @tool(needs_approval=gt("amount", 100))
    def pay(amount: float) -> str:
        """Pay."""
        shop.ran.append(amount)
        return "paid"

    graph = acting([pay], store)
    assert start(graph, call("pay", amount=5)).status == "completed"
    assert start(graph, call("pay", amount=500)).status == "interrupted"
    assert shop.ran == [5.0]


def test_two_calls_with_one_id_are_asked_for_apart(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    paused = start(graph, call("refund", "x", amount=200), call("refund", "x", amount=300))
    assert {key: found.payload.arguments["amount"] for key, found in paused.interrupts.items()} == {
        "act:approve_x": 200.0,
        "act:approve_x..2": 300.0,
    }
    answer(graph, {"act:approve_x": False, "act:approve_x..2": True})
    assert shop.ran == [("refund", 300.0, "")]


def test_filled_in_defaults_are_judged(store):
    ran = []

    @tool
    def pay(amount: float = 500) -> None:
        """Pay."""
        ran.append(amount)

    graph = acting([pay], store, rules=[InterruptRule("pay", match=gt("amount", 100))])
    paused = start(graph, call("pay"))
    assert paused.interrupts["act:approve_call_1"].payload.arguments == {"amount": 500}
    assert ran == []


def test_what_hooks_make_of_the_arguments_is_judged_and_runs(store, shop):
    class Doubles(Middleware):
        def before_tool(self, ctx):
            return Replacement({**ctx.value, "amount": ctx.value["amount"] * 2})

    graph = acting(shop.tools, store, rules=OVER_100, middleware=[Doubles()])
    paused = start(graph, call("refund", amount=60))
    assert paused.interrupts["act:approve_call_1"].payload.arguments["amount"] == 120.0
    answer(graph, value=True)
    assert shop.ran == [("refund", 120.0, "")]


def test_a_hook_that_changes_its_mind_after_the_approval_is_asked_about_anew(store, shop):
    amounts = iter([200.0, 9000.0, 9000.0])

    class Fickle(Middleware):
        def before_tool(self, ctx):
            return Replacement({**ctx.value, "amount": next(amounts)})

    graph = acting(shop.tools, store, rules=OVER_100, middleware=[Fickle()])
    start(graph, call("refund", amount=1))
    again = answer(graph, value=True)
    assert {key: found.payload.arguments["amount"] for key, found in again.interrupts.items()} == {
        "act:approve_call_1..2": 9000.0
    }
    assert shop.ran == []
    answer(graph, value=True)
    assert shop.ran == [("refund", 9000.0, "")]


def test_a_hook_can_deny_a_call(shop):
    class Guards(Middleware):
        def before_tool(self, ctx):
            if ctx.tool_name == "refund":
                raise ToolDeniedError(ctx.tool_name, "The shop is closed.")

    graph = acting(shop.tools, middleware=[Guards()])
    assert told(start(graph, call("refund", "a", amount=5), call("look_up", "b", order="1"))) == [
        "Tool error: ToolDeniedError: Tool 'refund' was not run. The shop is closed.",
        '{"result":"order 1"}',
    ]
    assert shop.ran == [("look_up", "1")]


@pytest.mark.parametrize("tool_errors", ["raise", "return"])
def test_a_hook_that_raises_fails_the_node_and_the_call_does_not_run(shop, tool_errors):
    class Breaks(Middleware):
        def before_tool(self, ctx):
            raise RuntimeError("broken guard")

    with pytest.raises(RuntimeError, match="broken guard"):
        start(acting(shop.tools, middleware=[Breaks()], tool_errors=tool_errors), call("refund", amount=5))
    assert shop.ran == []


def test_an_approval_can_be_answered_by_a_hook(shop):
    class Clerk(Middleware):
        def on_interrupt(self, ctx, payload):
            return True if payload.arguments["amount"] < 200 else ToolDecision(action="deny", message="no")

    graph = acting(shop.tools, rules=OVER_100, middleware=[Clerk()])
    told_ = told(start(graph, call("refund", "a", amount=150), call("refund", "b", amount=250)))
    assert told_[0] == '{"result":"refunded 150.0"}'
    assert told_[1].endswith("was not run. no")
    assert shop.ran == [("refund", 150.0, "")]


def test_without_a_store_nothing_that_must_be_asked_for_runs(shop):
    with pytest.raises(GraphConfigError, match="nothing can pause without a store"):
        start(acting(shop.tools, rules=OVER_100, tool_errors="return"), call("refund", amount=150))
    assert shop.ran == []


def test_a_predicate_that_raises_asks(store, shop):
    def broken(arguments):
        raise RuntimeError

    graph = acting(shop.tools, store, rules=[InterruptRule("refund", match=broken)])
    assert start(graph, call("refund", amount=1)).status == "interrupted"
    assert shop.ran == []


def test_a_denial_stands_when_the_rule_is_gone(store, shop):
    start(acting(shop.tools, store, rules=OVER_100), call("refund", amount=150))
    without_rules = acting(shop.tools, store)
    assert "was not run" in told(answer(without_rules, value=False))[0]
    assert shop.ran == []


def test_every_question_of_a_turn_must_be_answered(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("refund", "a", amount=150), call("refund", "b", amount=150))
    with pytest.raises(ResumeError):
        answer(graph, {"act:approve_a": True})
    assert shop.ran == []


def test_an_approved_call_that_asks_pauses_again_and_is_not_approved_again(store):
    ran = []

    @tool(needs_approval=True)
    def send(ctx: ToolContext) -> str:
        """Send."""
        ran.append(interrupt("To whom?", id="to"))
        return "sent"

    graph = acting([send], store)
    start(graph, call("send"))
    assert list(answer(graph, value=True).interrupts) == ["act/call_1:to"]
    assert answer(graph, value="kim").status == "completed"
    assert ran == ["kim"]


def test_an_approved_call_that_fails_runs_again_without_asking(store):
    broken = [True]
    keys = []

    @tool(needs_approval=True)
    def send(ctx: ToolContext, to: str = "all") -> str:
        """Send."""
        keys.append((to, ctx.idempotency_key))
        if broken.pop() if broken else False:
            raise ValueError
        return "sent"

    graph = acting([send], store)
    start(graph, call("send"))
    with pytest.raises(ToolExecutionError):
        answer(graph, value=ToolDecision(action="edit", arguments={"to": "kim"}))
    assert told(graph.invoke(None, thread_id="t")) == ['{"result":"sent"}']
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert keys[0][0] == "kim"


def test_an_id_of_a_call_may_be_long(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    (key,) = start(graph, call("refund", "\U0001f600" * 512, amount=150)).interrupts
    assert len(key) == len("act:approve_") + 512 * 12
    answer(graph, {key: True})
    assert shop.ran == [("refund", 150.0, "")]


def test_an_argument_beyond_the_payload_limit_is_refused_and_does_not_run(shop):
    graph = acting(shop.tools, InMemoryStateStore(), rules=OVER_100, tool_errors="return")
    (content,) = told(start(graph, call("refund", amount=150, note="x" * (1 << 20))))
    assert content.startswith("Tool error: ArgumentsError: ")
    assert shop.ran == []


def test_a_turn_that_asks_to_approve_more_than_is_kept_runs_nothing(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    gated = [call("refund", f"call_{number}", amount=150, note="x" * 400_000) for number in range(3)]
    with pytest.raises(LimitExceededError, match=r"ask a person to approve has 1,200,\d+ bytes as JSON"):
        start(graph, *gated, call("look_up", "call_3", order="1"))
    assert shop.ran == []
    assert list(start(graph, *gated[:2]).interrupts) == ["act:approve_call_0", "act:approve_call_1"]
