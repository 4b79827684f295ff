"""Cases of kind tools, and those of kind security that touch approvals; each test bears its case's id. TL-03 and what
agents are is in `test_agents.py`; TL-12, TL-13 and SC-07, which need no run, are in `tests/middleware/test_rules.py`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Command,
    Graph,
    GraphConfigError,
    Middleware,
    Resume,
    ScriptedChat,
    build_react_agent,
    node,
    tool,
    tool_runner,
)
from nodestep.chat import AIMessage, ChatResponse, HumanMessage, ToolMessage
from nodestep.middleware import (
    InterruptRule,
    Replacement,
    ToolDecision,
    ToolInterrupt,
    ToolInterruptMiddleware,
    ToolLimitMiddleware,
    gt,
)
from tests.agents.acting import OVER_100, Shop, Turn, acting, answer, call, start, told


@pytest.fixture
def shop() -> Shop:
    return Shop()


def edit(**arguments: Any) -> ToolDecision:
    return ToolDecision(action="edit", arguments=arguments)


def test_tl_02_every_call_over_the_limit_is_shown_at_once(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    paused = start(graph, *(call("refund", f"call_{n}", amount=n * 1000) for n in (1, 2, 3)))
    assert [found.payload for found in paused.interrupts.values()] == [
        ToolInterrupt(tool_name="refund", tool_call_id=f"call_{n}", arguments={"amount": n * 1000.0, "note": ""})
        for n in (1, 2, 3)
    ]


def test_tl_03_mixed_decisions_reach_each_call_and_the_model_is_asked_once_more(store, shop):
    three = [call("refund", f"c{n}", amount=200 + n) for n in range(3)]
    chat = ScriptedChat([ChatResponse(tool_calls=three), "Done."])
    rules = ToolInterruptMiddleware(rules=OVER_100)
    agent = build_react_agent(chat, tools=shop.tools, middleware=[rules], state_store=store)
    agent.invoke({"messages": [HumanMessage(content="Refund.")]}, thread_id="t")
    answers = {
        "act:approve_c0": True,
        "act:approve_c1": ToolDecision(action="deny", message="Ask the customer first."),
        "act:approve_c2": edit(amount=150),
    }
    agent.invoke(None, thread_id="t", resume=Resume(answers=answers))
    assert sorted(shop.ran) == [("refund", 150.0, ""), ("refund", 200.0, "")]
    assert len(chat.requests) == 2
    results = [message.content for message in chat.requests[1].messages if isinstance(message, ToolMessage)]
    assert len(results) == 3
    assert "Ask the customer first." in results[1]


class Touches(Middleware):
    """Writes messages anew after every node."""

    def after_node(self, ctx):
        return Replacement(dict(ctx.update or {}))


class Reroutes(Middleware):
    """Lets every call through as it is."""

    def before_tool(self, ctx):
        return Replacement(ctx.value)

    def after_tool(self, ctx):
        return Replacement(ctx.value)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("other", [Touches, Reroutes])
def test_tl_04_a_denied_call_does_not_run_whatever_else_is_configured(store, shop, first, other):
    gate = ToolInterruptMiddleware(rules=OVER_100)
    every = [gate, other()] if first else [other(), gate]
    graph = acting(shop.tools, store, middleware=every)
    start(graph, call("refund", amount=500))
    answer(graph, value=False)
    assert shop.ran == []


def test_tl_05_every_call_has_exactly_one_message_after_a_denial(store, shop):
    two = [call("refund", "a", amount=500), call("refund", "b", amount=5)]
    chat = ScriptedChat([ChatResponse(tool_calls=two), "Done."])
    agent = build_react_agent(
        chat, tools=shop.tools, middleware=[ToolInterruptMiddleware(rules=OVER_100)], state_store=store
    )
    agent.invoke({"messages": [HumanMessage(content="Refund.")]}, thread_id="t")
    agent.invoke(None, thread_id="t", resume=Resume(False))
    kinds = [(message.role, getattr(message, "tool_call_id", None)) for message in chat.requests[1].messages]
    assert kinds == [("user", None), ("assistant", None), ("tool", "a"), ("tool", "b")]


@pytest.mark.parametrize(
    ("decision", "ran"),
    [
        (edit(meta={"a": 9}), [{"to": "kim", "amount": 5.0, "meta": {"a": 9}}]),
        (edit(), [{"to": "kim", "amount": 5.0, "meta": {"a": 1, "b": 2}}]),
        (ToolDecision(action="edit"), []),
        (edit(more=1), []),
    ],
)
def test_tl_07_an_edit_is_merged_key_by_key(store, decision, ran):
    sent = []

    @tool(needs_approval=True)
    def send(to: str, amount: float, meta: dict[str, int]) -> None:
        """Send."""
        sent.append({"to": to, "amount": amount, "meta": meta})

    graph = acting([send], store, tool_errors="return")
    start(graph, call("send", to="kim", amount=5, meta={"a": 1, "b": 2}))
    answer(graph, value=decision)
    assert sent == ran


def test_tl_07_a_new_key_is_passed_on_where_the_tool_takes_it(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("refund", amount=200))
    answer(graph, value=edit(note="late"))
    assert shop.ran == [("refund", 200.0, "late")]


def test_tl_08_an_edit_of_a_wrong_type_does_not_enter_the_tool(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100, tool_errors="return")
    start(graph, call("refund", amount=200))
    (content,) = told(answer(graph, value=edit(amount="lots")))
    assert content.startswith("Tool error: ArgumentsError: amount: Input should be a valid number")
    assert shop.ran == []


def test_tl_09_the_call_stays_as_the_model_made_it_and_the_message_tells_what_ran(store, shop):
    chat = ScriptedChat([ChatResponse(tool_calls=[call("refund", amount=500)]), "Done."])
    agent = build_react_agent(
        chat, tools=shop.tools, middleware=[ToolInterruptMiddleware(rules=OVER_100)], state_store=store
    )
    agent.invoke({"messages": [HumanMessage(content="Refund.")]}, thread_id="t")
    messages = agent.invoke(None, thread_id="t", resume=Resume(edit(amount=50))).state.messages
    assert isinstance(messages[1], AIMessage)
    assert messages[1].tool_calls[0].arguments == {"amount": 500}
    assert isinstance(messages[2], ToolMessage)
    assert messages[2].arguments == {"amount": 50.0, "note": ""}


@pytest.mark.parametrize(("id", "key"), [("call_1", "act:approve_call_1"), ("", "act:approve_")])
def test_tl_11_calls_with_one_id_are_asked_for_apart(store, shop, id, key):
    graph = acting(shop.tools, store, rules=OVER_100)
    paused = start(graph, call("refund", id, amount=200), call("refund", id, amount=300))
    assert list(paused.interrupts) == [key, f"{key}..2"]
    answer(graph, {key: True, f"{key}..2": False})
    assert shop.ran == [("refund", 200.0, "")]


@pytest.mark.parametrize("amount", [None, "a lot", [200], {"value": 5}])
def test_tl_12_a_call_whose_arguments_do_not_compare_does_not_run_unasked(store, amount):
    ran = []

    @tool
    def pay(amount: Any) -> None:
        """Pay."""
        ran.append(amount)

    graph = acting([pay], store, rules=[InterruptRule("pay", match=gt("amount", 100))])
    assert start(graph, call("pay", amount=amount)).status == "interrupted"
    assert ran == []


@pytest.mark.parametrize("turned", [False, True])
def test_tl_13_several_rules_make_one_question_in_any_order(store, shop, turned):
    rules = [*OVER_100, InterruptRule("*")]
    graph = acting(shop.tools, store, rules=rules[::-1] if turned else rules)
    paused = start(graph, call("refund", "a", amount=200), call("look_up", "b", order="1"))
    assert sorted(paused.interrupts) == ["act:approve_a", "act:approve_b"]


def test_tl_14_a_rule_for_a_tool_that_does_not_exist_is_refused_where_the_agent_is_made(shop):
    rules = ToolInterruptMiddleware(rules=[InterruptRule("refnud")])
    with pytest.raises(GraphConfigError, match=r"InterruptRule\('refnud'\) names no tool.*Did you mean 'refund'\?"):
        build_react_agent(ScriptedChat([]), tools=shop.tools, middleware=[rules])


def test_a_limit_for_a_tool_that_does_not_exist_is_refused_where_the_agent_is_made(shop):
    limits = ToolLimitMiddleware(per_tool={"refnud": 1})
    with pytest.raises(GraphConfigError, match=r"per_tool=\{'refnud': ...\}\) names no tool.*Did you mean 'refund'\?"):
        build_react_agent(ScriptedChat([]), tools=shop.tools, middleware=[limits])


def test_tl_16_an_earlier_approval_is_not_used_for_a_later_call(store, shop):
    again = call("refund", "call_1", amount=500)
    chat = ScriptedChat([ChatResponse(tool_calls=[again]), ChatResponse(tool_calls=[again]), "Done."])
    agent = build_react_agent(
        chat, tools=shop.tools, middleware=[ToolInterruptMiddleware(rules=OVER_100)], state_store=store
    )
    first = agent.invoke({"messages": [HumanMessage(content="Refund.")]}, thread_id="t")
    second = agent.invoke(None, thread_id="t", resume=Resume(True))
    assert second.status == "interrupted"
    assert first.interrupts["act:approve_call_1"].pause != second.interrupts["act:approve_call_1"].pause
    agent.invoke(None, thread_id="t", resume=Resume(False))
    assert shop.ran == [("refund", 500.0, "")]


@pytest.mark.parametrize("made", [call("refnud", amount=500), call("refund", amount="lots"), call("refund")])
def test_tl_17_nobody_is_asked_about_a_call_that_cannot_run(store, shop, made):
    graph = acting(shop.tools, store, rules=[InterruptRule("*")], tool_errors="return")
    result = start(graph, made)
    assert result.status == "completed"
    assert told(result)[0].startswith("Tool error: ")
    assert shop.ran == []


@pytest.mark.parametrize(("hold_turn", "ran"), [(False, [("look_up", "1")]), (True, [])])
def test_tl_18_a_turn_can_be_held_until_all_of_it_is_decided(store, shop, hold_turn, ran):
    graph = acting(shop.tools, store, rules=OVER_100, hold_turn=hold_turn)
    start(graph, call("refund", "a", amount=500), call("look_up", "b", order="1"))
    assert shop.ran == ran


def test_tl_19_a_hand_over_happens_after_the_decision_and_once(store, shop):
    handed = []

    @tool
    def hand_over(to: str) -> Command:
        """Hand over."""
        handed.append(to)
        return Command(goto=to)

    @node
    def human(state: Turn) -> dict:
        handed.append("arrived")
        return {}

    act = tool_runner("act", tools=[*shop.tools, hand_over], goto=[human])
    gate = ToolInterruptMiddleware(rules=OVER_100)
    graph = Graph(Turn, state_store=store, middleware=[gate]).flow(START >> act, act >> END, human >> END)
    start(graph, call("refund", "a", amount=500), call("hand_over", "b", to="human"))
    assert handed == ["human"]
    answer(graph, value=True)
    assert handed == ["human", "arrived"]
    assert shop.ran == [("refund", 500.0, "")]


def test_sc_01_an_approval_does_not_apply_to_a_call_that_was_changed_meanwhile(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    paused = start(graph, call("refund", amount=150))

    async def change() -> None:
        await graph.fork("t", from_=paused.checkpoint_id, name="other")
        changed = [call("refund", amount=5000).model_dump()]
        await graph.update_state("t", {"tool_calls": changed}, branch_id="other")

    asyncio.run(change())
    again = graph.invoke(None, thread_id="t", branch_id="other", resume=Resume(True))
    assert {key: found.payload.arguments["amount"] for key, found in again.interrupts.items()} == {
        "act:approve_call_1..2": 5000.0
    }
    assert shop.ran == []
    graph.invoke(None, thread_id="t", branch_id="other", resume=Resume(False))
    answer(graph, value=True)
    assert shop.ran == [("refund", 150.0, "")]


def test_sc_02_an_edit_does_not_get_around_another_rule(store, shop):
    second_person = InterruptRule("refund", match=gt("amount", 10_000))
    graph = acting(shop.tools, store, rules=[*OVER_100, second_person])
    start(graph, call("refund", amount=120))
    assert answer(graph, value=edit(amount=50_000)).status == "interrupted"
    assert shop.ran == []


def test_sc_02_an_edit_cannot_name_another_tool(store, shop):
    graph = acting(shop.tools, store, rules=OVER_100)
    start(graph, call("refund", amount=120))
    (content,) = told(answer(graph, value={"action": "edit", "tool_name": "look_up", "arguments": {}}))
    assert "wrong in it: tool_name" in content
    assert shop.ran == []


def test_sc_07_a_pattern_that_stalls_asks_and_the_agent_goes_on(store, shop):
    from nodestep.middleware import matches

    graph = acting(shop.tools, store, rules=[InterruptRule("look_up", match=matches("order", "^(a|aa)+$"))])
    assert start(graph, call("look_up", order="a" * 60 + "!")).status == "interrupted"
    assert shop.ran == []
