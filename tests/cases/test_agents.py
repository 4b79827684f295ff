"""Cases of kind agent; each test bears its case's id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from nodestep import (
    AgentState,
    Graph,
    GraphChangedError,
    Resume,
    RunLimitExceededError,
    ScriptedChat,
    Tool,
    ToolExecutionError,
    agent_tool,
    build_react_agent,
    tool,
)
from nodestep.chat import ChatRequest, ChatResponse, HumanMessage, ToolCall, ToolMessage
from nodestep.engine.replay import record_from_bytes
from nodestep.middleware import InterruptRule, ToolInterruptMiddleware
from nodestep.model.event import TaskRecorded
from nodestep.model.outcome import Done
from nodestep.stores.base import StateStore
from tests.agents.acting import OVER_100, Shop, call

HELLO = {"messages": [HumanMessage(content="Please.")]}


def calls(*made: ToolCall) -> ChatResponse:
    return ChatResponse(tool_calls=made)


def told(state: AgentState) -> list[str]:
    return [message.content for message in state.messages if isinstance(message, ToolMessage)]


def by_progress(*script: Any) -> Callable[[ChatRequest], Any]:
    """Answers by how many results of tools the conversation holds, so that a chat made anew goes on where it was."""
    return lambda request: script[sum(isinstance(message, ToolMessage) for message in request.messages)]


@pytest.fixture
def shop() -> Shop:
    return Shop()


async def recorded(store: StateStore, call_id: str) -> None:
    """Until the end of a call is recorded."""
    while True:
        facts = [fact for record in store.records("t", "main") for fact in record_from_bytes(record.body)]
        ends = [fact for fact in facts if isinstance(fact, TaskRecorded) and fact.task == call_id]
        if any(isinstance(end.outcome, Done) for end in ends):
            return
        await asyncio.sleep(0)


def two_agents(shop: Shop, store: StateStore, *, inner_name: str = "assistant", **options: Any) -> Graph[AgentState]:
    """An agent whose tool is an agent of the same name, which has a gated tool; made anew by each process."""
    inner = build_react_agent(
        ScriptedChat(default=by_progress(calls(call("refund", amount=500)), "refunded")),
        tools=shop.tools,
        name=inner_name,
        middleware=[ToolInterruptMiddleware(rules=OVER_100)],
    )
    return build_react_agent(
        ScriptedChat(default=by_progress(calls(call("assistant", message="Refund 500.")), "All done.")),
        tools=[agent_tool(inner, name="assistant", description="Ask the assistant.")],
        name="assistant",
        state_store=store,
        **options,
    )


def test_ag_02_an_approval_inside_an_agent_survives_a_restart_and_is_asked_for_once(store, reopened, shop):
    paused = two_agents(shop, store).invoke(HELLO, thread_id="t")
    (key,) = paused.interrupts
    assert key == "act/call_1/agent/act:approve_call_1"
    done = two_agents(shop, reopened()).invoke(None, thread_id="t", resume=Resume(answers={key: True}))
    assert done.status == "completed"
    assert told(done.state) == ['{"result":"refunded"}']
    assert shop.ran == [("refund", 500.0, "")]


def test_ag_03_a_gate_on_the_outer_run_covers_the_calls_inside(store, shop):
    inner = build_react_agent(
        ScriptedChat(default=by_progress(calls(call("refund", amount=5)), "ok")), tools=shop.tools
    )
    outer = build_react_agent(
        ScriptedChat([calls(call("helper", message="x")), "ok"]),
        tools=[agent_tool(inner, name="helper", description="Help.")],
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule("refund")])],
        state_store=store,
    )
    assert list(outer.invoke(HELLO, thread_id="t").interrupts) == ["act/call_1/agent/act:approve_call_1"]
    assert shop.ran == []


def test_ag_04_one_agent_called_twice_in_a_message_keeps_the_answers_apart(store, shop):
    def think(request: ChatRequest) -> Any:
        first = request.messages[0].content
        return by_progress(calls(call("refund", amount=float(first))), f"done {first}")(request)

    inner = build_react_agent(ScriptedChat(default=think), tools=shop.tools)
    two = calls(call("research", "x", message="1"), call("research", "y", message="2"))
    outer = build_react_agent(
        ScriptedChat([two, "ok"]),
        tools=[agent_tool(inner, name="research", description="Research.")],
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule("refund")])],
        state_store=store,
    )
    first, second = sorted(outer.invoke(HELLO, thread_id="t").interrupts)
    done = outer.invoke(None, thread_id="t", resume=Resume(answers={first: False, second: True}))
    assert told(done.state) == ['{"result":"done 1"}', '{"result":"done 2"}']
    assert shop.ran == [("refund", 2.0, "")]


def test_ag_05_any_number_of_rounds_of_questions_works(store, shop):
    rounds = [calls(call("refund", amount=200 + number)) for number in range(4)]
    agent = build_react_agent(
        ScriptedChat([*rounds, "Done."]),
        tools=shop.tools,
        middleware=[ToolInterruptMiddleware(rules=OVER_100)],
        state_store=store,
    )
    result = agent.invoke(HELLO, thread_id="t")
    for _ in range(4):
        assert result.status == "interrupted"
        result = agent.invoke(None, thread_id="t", resume=Resume(True))
    assert result.state.final_text == "Done."
    assert shop.ran == [("refund", 200.0 + number, "") for number in range(4)]


def test_ag_06_the_model_of_the_running_program_is_used_and_no_secret_of_it_is_stored(store, shop, tmp_path):
    class Configured(ScriptedChat):
        api_key = "sk-very-secret"

    def agent(script: list[Any]) -> Graph[AgentState]:
        gate = ToolInterruptMiddleware(rules=OVER_100)
        return build_react_agent(Configured(script), tools=shop.tools, middleware=[gate], state_store=store)

    agent([calls(call("refund", amount=500))]).invoke(HELLO, thread_id="t")
    done = agent(["Said by the new one."]).invoke(None, thread_id="t", resume=Resume(True))
    assert done.state.final_text == "Said by the new one."
    assert not any(b"sk-very-secret" in path.read_bytes() for path in tmp_path.iterdir())


def test_ag_07_a_thread_that_was_cancelled_in_its_tools_takes_a_new_message(store, shop):
    async def scenario() -> list[Any]:
        entered = asyncio.Event()

        @tool
        async def slow() -> str:
            """Take long."""
            entered.set()
            await asyncio.Event().wait()
            return "never"

        two = calls(call("look_up", "a", order="1"), call("slow", "b"))
        chat = ScriptedChat([two, "Here I am."])
        agent = build_react_agent(chat, tools=[*shop.tools, slow], state_store=store)
        run = asyncio.create_task(agent.ainvoke(HELLO, thread_id="t"))
        await entered.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        done = await agent.ainvoke({"messages": [HumanMessage(content="Still there?")]}, thread_id="t")
        assert done.state.final_text == "Here I am."
        return list(chat.requests[1].messages)

    messages = asyncio.run(scenario())
    assert [(message.role, getattr(message, "tool_call_id", "")) for message in messages] == [
        ("user", ""),
        ("assistant", ""),
        ("tool", "a"),
        ("tool", "b"),
        ("user", ""),
    ]


def test_ag_07_a_thread_that_was_cancelled_in_its_tools_goes_on_with_what_had_finished(store, shop):
    async def scenario() -> None:
        entered = asyncio.Event()
        blocked = [True]

        @tool
        async def slow() -> str:
            """Take long, once."""
            entered.set()
            if blocked:
                blocked.clear()
                await asyncio.Event().wait()
            return "at last"

        two = calls(call("look_up", "a", order="1"), call("slow", "b"))
        agent = build_react_agent(ScriptedChat([two, "Done."]), tools=[*shop.tools, slow], state_store=store)
        run = asyncio.create_task(agent.ainvoke(HELLO, thread_id="t"))
        await entered.wait()
        await recorded(store, "a")
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        done = await agent.ainvoke(None, thread_id="t")
        assert told(done.state) == ['{"result":"order 1"}', '{"result":"at last"}']

    asyncio.run(scenario())
    assert shop.ran == [("look_up", "1")]


def test_ag_08_a_gated_tool_that_is_gone_is_an_error_and_never_done(store, shop):
    paused = two_agents(shop, store).invoke(HELLO, thread_id="t")
    without = Shop()
    without.tools = [without.look_up]
    with pytest.raises(ToolExecutionError, match="there is no such tool"):
        two_agents_without_rules(without, store).invoke(None, thread_id="t", resume=Resume(answers=yes_to(paused)))
    assert shop.ran == without.ran == []


def test_ag_08_an_inner_agent_that_became_another_is_refused(store, shop):
    paused = two_agents(shop, store).invoke(HELLO, thread_id="t")
    with pytest.raises((GraphChangedError, ToolExecutionError), match="graph 'assistant'"):
        two_agents(shop, store, inner_name="another").invoke(None, thread_id="t", resume=Resume(answers=yes_to(paused)))
    assert shop.ran == []


def yes_to(paused: Any) -> dict[str, Any]:
    return dict.fromkeys(paused.interrupts, True)


def two_agents_without_rules(shop: Shop, store: StateStore) -> Graph[AgentState]:
    inner = build_react_agent(
        ScriptedChat(default=by_progress(calls(call("refund", amount=500)), "refunded")),
        tools=shop.tools,
        name="assistant",
    )
    made: Tool[Any, Any] = agent_tool(inner, name="assistant", description="Ask the assistant.")
    return build_react_agent(
        ScriptedChat(default=by_progress(calls(call("assistant", message="x")), "All done.")),
        tools=[made],
        name="assistant",
        state_store=store,
    )


def test_ag_09_a_typed_answer_waits_for_the_gated_calls_of_its_message(store, shop):
    class Verdict(BaseModel):
        good: bool

    both = ChatResponse(content='{"good": true}', tool_calls=[call("refund", amount=500)])
    agent = build_react_agent(
        ScriptedChat([both, '{"good": false}']),
        tools=shop.tools,
        output_schema=Verdict,
        middleware=[ToolInterruptMiddleware(rules=OVER_100)],
        state_store=store,
    )
    paused = agent.invoke(HELLO, thread_id="t")
    assert list(paused.interrupts) == ["act:approve_call_1"]
    assert paused.state.final_output is None
    done = agent.invoke(None, thread_id="t", resume=Resume(True))
    assert done.state.final_output == Verdict(good=False)


def test_ag_10_tool_calls_are_counted_per_input_and_a_paused_turn_once(store, shop):
    rounds = [calls(call("refund", amount=200)) for _ in range(3)]

    def agent(max_tool_calls: int, script: list[Any]) -> Graph[AgentState]:
        return build_react_agent(
            ScriptedChat(script),
            tools=shop.tools,
            middleware=[ToolInterruptMiddleware(rules=OVER_100)],
            max_tool_calls=max_tool_calls,
            max_steps=4,
            state_store=store,
        )

    generous = agent(3, [*rounds, "Done."])
    generous.invoke(HELLO, thread_id="t")
    for _ in range(3):
        result = generous.invoke(None, thread_id="t", resume=Resume(True))
    assert result.status == "completed"
    strict = agent(2, rounds)
    strict.invoke(HELLO, thread_id="u")
    strict.invoke(None, thread_id="u", resume=Resume(True))
    with pytest.raises(RunLimitExceededError):
        strict.invoke(None, thread_id="u", resume=Resume(True))


def test_the_model_is_not_asked_again_by_a_resume(store, shop):
    chat = ScriptedChat([calls(call("refund", amount=500)), "Done."])
    agent = build_react_agent(
        chat, tools=shop.tools, middleware=[ToolInterruptMiddleware(rules=OVER_100)], state_store=store
    )
    agent.invoke(HELLO, thread_id="t")
    assert len(chat.requests) == 1
    agent.invoke(None, thread_id="t", resume=Resume(True))
    assert len(chat.requests) == 2
