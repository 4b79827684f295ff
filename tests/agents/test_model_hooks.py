"""The hooks around a model: what they see, what they may replace, and that their questions never ask the model again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    AgentState,
    ChatHistoryError,
    Graph,
    GraphExecutionError,
    InMemoryStateStore,
    InterruptSwallowedError,
    Middleware,
    Resume,
    ScriptedChat,
    interrupt,
    model_node,
)
from nodestep.chat import ChatRequest, ChatResponse, HumanMessage, ToolCall
from nodestep.middleware import ModelMiddlewareContext, NodeMiddlewareContext, Replacement

HELLO = HumanMessage(id="h", content="Hello")


def think(chat: ScriptedChat, *middleware: Middleware, **settings: Any) -> Graph[Any]:
    store = InMemoryStateStore()
    node = model_node("think", chat=chat, **settings)
    return Graph(AgentState, name="talks", middleware=middleware, state_store=store).flow(START >> node >> END)


def ask(graph: Graph[Any], thread_id: str = "t") -> Any:
    return graph.invoke({"messages": [HELLO]}, thread_id=thread_id)


class Shout(Middleware):
    """Asks in capitals, and answers so."""

    def before_model(self, ctx: ModelMiddlewareContext) -> Replacement:
        last = ctx.request.messages[-1]
        loud = last.model_copy(update={"content": last.content.upper()})
        return Replacement(replace(ctx.request, messages=[*ctx.request.messages[:-1], loud]))

    async def after_model(self, ctx: ModelMiddlewareContext) -> Replacement:
        assert ctx.response is not None
        return Replacement(replace(ctx.response, content=ctx.response.content.upper()))


class Review(Middleware):
    """Lets a person see what the model answered."""

    def after_model(self, ctx: ModelMiddlewareContext) -> Replacement | None:
        assert ctx.response is not None
        answer = interrupt(ctx.response.content, id="review")
        return None if answer is True else Replacement(ChatResponse(content=answer))


class TestReplacing:
    @pytest.mark.parametrize("stream", [False, True])
    def test_request_and_response_may_be_replaced(self, stream):
        chat = ScriptedChat(["Hi"])
        assert ask(think(chat, Shout(), stream=stream)).state.final_text == "HI"
        assert chat.requests[0].messages[-1].content == "HELLO"

    def test_the_stored_messages_stay_as_they_are(self):
        assert ask(think(ScriptedChat(["Hi"]), Shout())).state.messages[0] == HELLO

    def test_hooks_nest_before_in_order_and_after_in_the_reverse(self):
        told: list[str] = []

        class Tells(Middleware):
            def __init__(self, name: str) -> None:
                self.name = name

            def before_model(self, ctx: ModelMiddlewareContext) -> None:
                told.append(f"before {self.name}")

            def after_model(self, ctx: ModelMiddlewareContext) -> None:
                told.append(f"after {self.name}")

        ask(think(ScriptedChat(["Hi"]), Tells("a"), Tells("b")))
        assert told == ["before a", "before b", "after b", "after a"]

    def test_a_hook_sees_the_model_and_its_node(self):
        seen: list[ModelMiddlewareContext] = []

        class Looks(Middleware):
            def before_model(self, ctx: ModelMiddlewareContext) -> None:
                seen.append(ctx)

            def after_model(self, ctx: ModelMiddlewareContext) -> None:
                seen.append(ctx)

        ask(think(ScriptedChat(["Hi"]), Looks()))
        before, after = seen
        assert (before.model, before.graph_name, before.node_name, before.thread_id) == (
            "scripted",
            "talks",
            "think",
            "t",
        )
        assert (before.task_id, before.step, before.state.messages) == ("think", 0, [HELLO])
        assert (before.request, before.response) == (ChatRequest([HELLO], []), None)
        assert after.response == ChatResponse(content="Hi", finish_reason="stop", model="scripted")

    @pytest.mark.parametrize("value", ["text", Replacement("text"), Replacement(None), ChatRequest([HELLO])])
    def test_what_is_no_replacement_is_refused(self, value):
        class Odd(Middleware):
            def before_model(self, ctx: ModelMiddlewareContext) -> Any:
                return value

        with pytest.raises(GraphExecutionError, match=r"Odd\.before_model returned"):
            ask(think(ScriptedChat(["Hi"]), Odd()))

    def test_a_hook_that_spoils_the_history_is_told(self):
        class Spoils(Middleware):
            def before_model(self, ctx: ModelMiddlewareContext) -> Replacement:
                return Replacement(replace(ctx.request, messages=[]))

        chat = ScriptedChat(["Hi"])
        with pytest.raises(ChatHistoryError):
            ask(think(chat, Spoils()))
        assert chat.requests == []

    def test_memory_is_kept_over_turns(self):
        class Counts(Middleware):
            def before_model(self, ctx: ModelMiddlewareContext) -> None:
                ctx.memory["turns"] = ctx.memory.get("turns", 0) + 1

            def after_model(self, ctx: ModelMiddlewareContext) -> Replacement:
                return Replacement(ChatResponse(content=f"turn {ctx.memory['turns']}"))

        graph = think(ScriptedChat(default="Hi"), Counts())
        assert [ask(graph).state.final_text for _ in range(3)] == ["turn 1", "turn 2", "turn 3"]


class TestQuestions:
    def test_a_question_after_the_model_does_not_ask_the_model_again(self):
        chat = ScriptedChat([ChatResponse(content="Hi", tool_calls=[ToolCall(id="a", name="look")])])
        graph = think(chat, Review())
        paused = ask(graph)
        assert paused.interrupts["think:review"].payload == "Hi"
        done = graph.invoke(None, thread_id="t", resume=Resume(True))
        assert done.state.messages[-1].tool_calls == (ToolCall(id="a", name="look"),)
        assert len(chat.requests) == 1

    def test_the_answer_may_replace_the_response(self):
        graph = think(ScriptedChat(["Hi"]), Review())
        ask(graph)
        assert graph.invoke(None, thread_id="t", resume=Resume("Good day")).state.final_text == "Good day"

    def test_a_question_after_the_node_does_not_ask_the_model_again(self):
        class After(Middleware):
            def after_node(self, ctx: NodeMiddlewareContext) -> None:
                interrupt("fine?", id="fine")

        chat = ScriptedChat(["Hi"])
        graph = think(chat, After())
        ask(graph)
        assert graph.invoke(None, thread_id="t", resume=Resume(True)).state.final_text == "Hi"
        assert len(chat.requests) == 1

    def test_an_edit_of_the_messages_meanwhile_asks_the_model_anew(self):
        chat = ScriptedChat(["Hi", "Ho"])
        graph = think(chat, Review())
        ask(graph)
        asyncio.run(graph.update_state("t", {"messages": [HumanMessage(content="Wait!")]}))
        assert graph.invoke(None, thread_id="t", resume=Resume(True)).state.final_text == "Ho"
        assert chat.requests[1].messages[-1].content == "Wait!"

    def test_a_question_before_the_model_asks_it_once_when_it_is_answered(self):
        class Asks(Middleware):
            def before_model(self, ctx: ModelMiddlewareContext) -> Replacement | None:
                word = interrupt("which word?", id="word")
                return Replacement(replace(ctx.request, messages=[HumanMessage(content=word)]))

        chat = ScriptedChat(["Hi"])
        graph = think(chat, Asks())
        ask(graph)
        assert chat.requests == []
        graph.invoke(None, thread_id="t", resume=Resume("Bye"))
        assert [request.messages[-1].content for request in chat.requests] == ["Bye"]

    def test_a_hook_that_swallows_its_question_fails_before_the_model_is_asked(self):
        class Swallows(Middleware):
            def before_model(self, ctx: ModelMiddlewareContext) -> None:
                with suppress(BaseException):
                    interrupt("?", id="q")

        chat = ScriptedChat(["Hi"])
        with pytest.raises(InterruptSwallowedError):
            ask(think(chat, Swallows()))
        assert chat.requests == []

    def test_a_hook_that_raises_fails_the_node(self):
        class Raises(Middleware):
            def before_model(self, ctx: ModelMiddlewareContext) -> None:
                raise ValueError("over budget")

        chat = ScriptedChat(["Hi"])
        with pytest.raises(ValueError, match="over budget"):
            ask(think(chat, Raises()))
        assert chat.requests == []


def test_a_response_that_was_looked_at_is_kept_when_a_hook_fails():
    class Fails(Middleware):
        def after_model(self, ctx: ModelMiddlewareContext) -> None:
            if not failed:
                failed.append(True)
                raise OSError("disk")

    failed: list[bool] = []
    chat = ScriptedChat(["Hi"])
    graph = think(chat, Fails())
    with pytest.raises(OSError, match="disk"):
        ask(graph)
    assert graph.invoke(None, thread_id="t").state.final_text == "Hi"
    assert len(chat.requests) == 1
