"""The ready-made agent: it loops until it answers, pauses for people, and goes on in any process without asking again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from nodestep import (
    GraphConfigError,
    InMemoryStateStore,
    Middleware,
    ModelProviderError,
    Resume,
    ResumeError,
    RunInterruptedError,
    RunLimitExceededError,
    ScriptedChat,
    SQLiteStateStore,
    ToolExecutionError,
    UnknownThreadError,
    build_react_agent,
    run_agent,
    tool,
)
from nodestep.chat import AIMessage, ChatResponse, HumanMessage, ToolCall


def calls(*names: str, **arguments: Any) -> ChatResponse:
    return ChatResponse(tool_calls=[ToolCall(id=f"c_{name}", name=name, arguments=arguments) for name in names])


class Till:
    """What tools did."""

    def __init__(self) -> None:
        self.paid: list[float] = []

    def tools(self) -> list[Any]:
        @tool
        def look_up(order_id: str = "A-1") -> float:
            """Looks an order up."""
            return 80.0

        @tool(needs_approval=True)
        def refund(amount: float = 1.0) -> str:
            """Pays back."""
            self.paid.append(amount)
            return "paid"

        @tool
        def fail() -> str:
            """Fails."""
            raise OSError("no disk")

        return [look_up, refund, fail]


def agent_of(chat: ScriptedChat, till: Till | None = None, **settings: Any) -> Any:
    return build_react_agent(chat, tools=(till or Till()).tools(), **settings)


def ask(agent: Any, words: str | None = "Refund, please.", **more: Any) -> str:
    return asyncio.run(run_agent(agent, words, **{"thread_id": "t", **more}))


def paused(agent: Any, words: str | None = "Refund, please.", **more: Any) -> RunInterruptedError:
    with pytest.raises(RunInterruptedError) as caught:
        ask(agent, words, **more)
    return caught.value


class TestLoop:
    def test_it_calls_tools_until_it_answers(self):
        chat = ScriptedChat([calls("look_up"), calls("look_up", order_id="A-2"), "80 euros"])
        state = agent_of(chat).invoke({"messages": [HumanMessage(content="How much?")]}).state
        assert [message.role for message in state.messages] == [
            *("user", "assistant", "tool", "assistant", "tool", "assistant"),
        ]
        assert (state.final_text, state.tool_calls) == ("80 euros", [])
        assert state.messages[2].content == '{"result":80.0}'

    def test_it_shows_its_tools_and_its_prompt(self):
        chat = ScriptedChat(["Hi"])
        assert ask(agent_of(chat, system_prompt="Be brief.")) == "Hi"
        assert chat.requests[0].messages[0].content == "Be brief."
        assert [shown.name for shown in chat.requests[0].tools] == ["look_up", "refund", "fail"]

    def test_its_nodes_are_think_and_act_and_its_name_is_that_of_the_graph(self):
        agent = agent_of(ScriptedChat(), name="clerk")
        assert (agent.name, sorted(agent.blueprint.nodes)) == ("clerk", ["act", "think"])

    def test_turns_follow_one_another_on_a_thread(self):
        agent = agent_of(ScriptedChat(["one", "two"]), state_store=InMemoryStateStore())
        assert [ask(agent, "1"), ask(agent, "2")] == ["one", "two"]

    def test_an_answer_of_a_type_is_held_as_that_type(self, tmp_path: Path):
        class Verdict(BaseModel):
            refund: bool

        chat = ScriptedChat([calls("look_up"), '{"refund": true}'])
        store = SQLiteStateStore(tmp_path / "agent.db")
        agent = agent_of(chat, output_schema=Verdict, state_store=store)
        result = agent.invoke({"messages": [HumanMessage(content="?")]}, thread_id="t")
        assert result.state.final_output == Verdict(refund=True)
        again = agent_of(ScriptedChat(), output_schema=Verdict, state_store=store)
        assert asyncio.run(again.get_state("t")).value.final_output == Verdict(refund=True)

    def test_tokens_of_every_turn_are_heard(self):
        agent = agent_of(ScriptedChat([calls("look_up"), "80 euros"]), stream=True)
        events = agent.stream({"messages": [HumanMessage(content="?")]}, stream_mode="tokens")
        said = [event.data.content_delta for event in events if event.mode == "tokens"]
        assert "".join(said) == "80 euros"

    def test_an_error_of_a_tool_raises_or_is_told_to_the_model(self):
        with pytest.raises(ToolExecutionError, match="no disk"):
            ask(agent_of(ScriptedChat([calls("fail")])))
        chat = ScriptedChat([calls("fail"), "Sorry."])
        assert ask(agent_of(chat, tool_errors="return")) == "Sorry."
        assert chat.requests[1].messages[-1].content == "Tool error: OSError: no disk"

    def test_the_loop_has_a_limit(self):
        agent = agent_of(ScriptedChat(default=calls("look_up")), max_steps=6)
        with pytest.raises(RunLimitExceededError, match="max_steps=6"):
            ask(agent)

    def test_what_is_wrong_is_told_where_it_is_made(self):
        with pytest.raises(GraphConfigError, match="Make it a tool"):
            build_react_agent(ScriptedChat(), tools=[print])  # type: ignore[list-item]


class TestPauses:
    def test_a_pause_is_raised_with_its_thread_and_questions(self):
        agent = agent_of(ScriptedChat([calls("refund", amount=8.0), "Done."]), state_store=InMemoryStateStore())
        error = paused(agent)
        assert (error.thread_id, list(error.interrupts)) == ("t", ["act:approve_c_refund"])
        assert ask(agent, None, resume=Resume(True)) == "Done."

    def test_a_resume_elsewhere_asks_the_model_only_for_the_next_turn(self, tmp_path: Path):
        """PE-01, AG-06: the model and the tools are those of the live graph."""
        first, second, till = ScriptedChat([calls("refund", amount=8.0)]), ScriptedChat(["Done."]), Till()
        store = SQLiteStateStore(tmp_path / "agent.db")
        paused(agent_of(first, state_store=store))
        store.close()
        again = agent_of(second, till, state_store=SQLiteStateStore(tmp_path / "agent.db"))
        assert ask(again, None, resume=Resume(True)) == "Done."
        assert (len(first.requests), len(second.requests), till.paid) == (1, 1, [8.0])
        assert b"scripted" not in (tmp_path / "agent.db").read_bytes()

    def test_steps_are_counted_for_each_call_and_a_paused_one_only_once(self):
        """AG-10: three rounds of questions, with a limit that holds for one call alone."""
        script = [calls("look_up"), calls("refund")] * 3
        agent = agent_of(ScriptedChat([*script, "Done."]), max_steps=5, state_store=InMemoryStateStore())
        paused(agent)
        paused(agent, None, resume=Resume(True))
        paused(agent, None, resume=Resume(True))
        assert ask(agent, None, resume=Resume(True)) == "Done."


class TestLeftBehind:
    def test_a_thread_that_is_gone_is_an_error_and_no_fresh_run(self):
        """AG-08"""
        agent = agent_of(ScriptedChat(["Refunded!"]), state_store=InMemoryStateStore())
        with pytest.raises(UnknownThreadError):
            ask(agent, None, resume=Resume(True))

    def test_a_second_answer_is_refused(self):
        agent = agent_of(ScriptedChat([calls("refund"), "Done."]), state_store=InMemoryStateStore())
        paused(agent)
        ask(agent, None, resume=Resume(True))
        with pytest.raises(ResumeError):
            ask(agent, None, resume=Resume(True))

    def test_a_provider_that_fails_leaves_the_turn_to_go_on_with(self):
        chat, till = ScriptedChat([calls("look_up"), ModelProviderError("busy"), "80 euros"]), Till()
        agent = agent_of(chat, till, state_store=InMemoryStateStore())
        with pytest.raises(ModelProviderError, match="busy"):
            ask(agent)
        assert ask(agent, None) == "80 euros"
        assert len(chat.requests) == 3


def test_tools_of_middleware_are_shown_and_run():
    @tool
    def now() -> str:
        """The time."""
        return "noon"

    class Offers(Middleware):
        def tools(self) -> list[Any]:
            return [now]

    chat = ScriptedChat([calls("now"), "It is noon."])
    assert ask(build_react_agent(chat, tools=[], middleware=[Offers()])) == "It is noon."
    assert [shown.name for shown in chat.requests[0].tools] == ["now"]
    assert chat.requests[1].messages[-1].content == '{"result":"noon"}'


def test_the_last_message_is_the_answer():
    state = agent_of(ScriptedChat(["Hi"])).invoke({"messages": [HumanMessage(content="?")]}).state
    assert isinstance(state.messages[-1], AIMessage)
