"""The node in which a model takes its turn: what it asks, what it writes, what it refuses."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel

from nodestep import (
    END,
    START,
    AgentState,
    BaseState,
    ChatHistoryError,
    Command,
    Graph,
    GraphConfigError,
    GraphExecutionError,
    InMemoryStateStore,
    ModelProviderError,
    Node,
    RemoveMessage,
    ScriptedChat,
    StructuredOutputError,
    add_messages,
    model_node,
    node,
    tool,
)
from nodestep.chat import (
    AIMessage,
    ChatRequest,
    ChatResponse,
    HumanMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    Usage,
)

HELLO = HumanMessage(id="h", content="Hello")
CALL = ToolCall(id="a", name="look", arguments={"n": 1})


class Refund(BaseModel):
    order_id: str
    amount: int = 5


@tool
def look(n: int) -> int:
    """Looks."""
    return n


def graph_of(thinks: Node, state: type = AgentState, **settings: Any) -> Graph[Any]:
    return Graph(state, **settings).flow(START >> thinks >> END)


def think(chat: ScriptedChat, **settings: Any) -> Graph[Any]:
    return graph_of(model_node("think", chat=chat, **settings))


def said(graph: Graph[Any], *messages: Message) -> AgentState:
    state: AgentState = graph.invoke({"messages": list(messages or [HELLO])}).state
    return state


class TestAsking:
    def test_the_model_is_asked_with_the_messages_and_nothing_else(self):
        chat = ScriptedChat(["Hi"])
        said(think(chat))
        assert chat.requests == [ChatRequest([HELLO], [])]

    def test_a_system_prompt_stands_first_and_is_not_stored(self):
        chat = ScriptedChat(["Hi"])
        state = said(think(chat, system_prompt="Be brief."))
        assert chat.requests[0].messages == [SystemMessage(content="Be brief."), HELLO]
        assert [message.role for message in state.messages] == ["user", "assistant"]

    def test_tools_and_their_choice_are_shown(self):
        chat = ScriptedChat(["Hi"])
        said(think(chat, tools=[look], tool_choice="look"))
        assert chat.requests[0].tools == [ToolDefinition("look", "Looks.", look.input_schema())]
        assert chat.requests[0].tool_choice == "look"

    def test_an_output_schema_is_shown_by_its_name(self):
        chat = ScriptedChat(['{"order_id": "A-1"}'])
        said(think(chat, output_schema=Refund))
        assert (chat.requests[0].output_schema or {})["title"] == "Refund"

    def test_a_history_that_a_provider_would_refuse_is_refused_before(self):
        chat = ScriptedChat(["Hi"])
        with pytest.raises(ChatHistoryError, match="the call 'a' has no result"):
            said(think(chat), HELLO, AIMessage(tool_calls=(CALL,)), HELLO)
        assert chat.requests == []

    @pytest.mark.parametrize("spoilt", [AIMessage(id="1", tool_calls=(CALL,)), RemoveMessage("2")])
    def test_a_history_that_is_changed_between_turns_is_looked_at_again(self, spoilt):
        @node(goto=["think"])
        def spoil(state: AgentState) -> Command:
            return Command({"messages": [spoilt]}, goto="think" if len(state.messages) < 6 else END)

        asks = AIMessage(id="2", tool_calls=(CALL,))
        told = ToolMessage(id="3", content="", name="look", tool_call_id="a")
        first = [HumanMessage(id="0", content="Hello"), AIMessage(id="1", content="Hi"), asks, told]
        think = model_node("think", chat=ScriptedChat(["Hi", "Hi"]))
        graph = Graph(AgentState).flow(START >> think, think >> spoil)
        with pytest.raises(ChatHistoryError):
            graph.invoke({"messages": first})

    def test_a_repaired_history_is_asked_with_and_the_stored_one_stays(self):
        chat = ScriptedChat(["Hi"])
        state = said(think(chat, repair_history=True), HELLO, AIMessage(id="c", tool_calls=(CALL,)))
        assert [message.role for message in chat.requests[0].messages] == ["user", "assistant", "tool"]
        assert [message.role for message in state.messages] == ["user", "assistant", "assistant"]

    def test_a_turn_that_is_recorded_is_not_asked_for_again(self):
        chat = ScriptedChat(["Hi"])

        def fail(state: AgentState) -> None:
            if len(chat.requests) == 1 and not failed:
                failed.append(True)
                raise OSError("disk")

        failed: list[bool] = []
        after = node(fail, name="after")
        graph = Graph(AgentState, state_store=InMemoryStateStore()).flow(
            START >> model_node("think", chat=chat) >> after >> END
        )
        with pytest.raises(OSError, match="disk"):
            graph.invoke({"messages": [HELLO]}, thread_id="t")
        assert graph.invoke(None, thread_id="t").state.final_text == "Hi"
        assert len(chat.requests) == 1


class TestWriting:
    def test_an_answer_becomes_a_message_and_the_final_text(self):
        usage = Usage(input_tokens=1, output_tokens=2)
        state = said(think(ScriptedChat([ChatResponse(content="Hi", usage=usage)])))
        message = state.messages[-1]
        assert isinstance(message, AIMessage)
        assert (message.content, message.finish_reason, message.usage) == ("Hi", "stop", usage)
        assert (state.final_text, state.tool_calls, state.final_output) == ("Hi", [], None)

    def test_calls_are_written_for_who_runs_them_and_the_last_final_text_is_gone(self):
        state = graph_of(
            model_node("think", chat=ScriptedChat([ChatResponse(content="Well", tool_calls=[CALL])]))
        ).invoke({"messages": [HELLO], "final_text": "of the turn before"})
        message = state.state.messages[-1]
        assert message.tool_calls == (CALL,)
        assert (state.state.tool_calls, state.state.final_text) == ([CALL], "")

    def test_a_refusal_is_kept_and_is_the_final_text(self):
        state = said(think(ScriptedChat([ChatResponse(refusal="I will not.")])))
        assert (state.messages[-1].refusal, state.final_text) == ("I will not.", "I will not.")  # type: ignore[union-attr]

    def test_text_that_no_store_keeps_is_made_whole(self):
        state = said(think(ScriptedChat(["a\x00b\ud83d"])))
        assert state.final_text == "a\ufffdb\ufffd"

    def test_fields_may_have_other_names_or_be_left_out(self):
        class Talk(BaseState):
            said: Annotated[list[Message], add_messages] = []
            answer: str = ""

        thinks = model_node(
            "think",
            chat=ScriptedChat(["Hi"]),
            messages_field="said",
            tool_calls_field=None,
            final_text_field="answer",
        )
        state = graph_of(thinks, Talk).invoke({"said": [HELLO]}).state
        assert (len(state.said), state.answer) == (2, "Hi")

    def test_it_works_on_a_typed_dict(self):
        class Talk(TypedDict, total=False):
            messages: Annotated[list[Message], add_messages]

        chat = ScriptedChat(["Hi"])
        thinks = model_node("think", chat=chat, tool_calls_field=None, final_text_field=None)
        assert len(graph_of(thinks, Talk).invoke({"messages": [HELLO]}).state["messages"]) == 2


class TestOutput:
    def test_an_answer_that_fits_is_written_as_json_with_its_defaults(self):
        state = said(think(ScriptedChat(['{"order_id": "A-1"}']), output_schema=Refund))
        assert state.final_output == {"order_id": "A-1", "amount": 5}

    def test_a_field_of_the_type_holds_the_type(self):
        class Typed(AgentState):
            final_output: Refund | None = None

        thinks = model_node("think", chat=ScriptedChat(['{"order_id": "A-1"}']), output_schema=Refund)
        assert graph_of(thinks, Typed).invoke({"messages": [HELLO]}).state.final_output == Refund(order_id="A-1")

    def test_json_inside_a_fence_is_read(self):
        state = said(think(ScriptedChat(['```json\n{"order_id": "A-1"}\n```']), output_schema=Refund))
        assert state.final_output["order_id"] == "A-1"

    def test_a_turn_with_calls_writes_no_output(self):
        chat = ScriptedChat([ChatResponse(content="{}", tool_calls=[CALL])])
        assert said(think(chat, output_schema=Refund)).final_output is None

    @pytest.mark.parametrize(
        ("response", "why", "raw"),
        [
            ('{"order_id": 7}', "order_id: Input should be a valid string", '{"order_id": 7}'),
            ("A-1, secret", "Invalid JSON", "A-1, secret"),
            (ChatResponse(refusal="I will not."), "the model refused", "I will not."),
        ],
    )
    def test_an_answer_that_does_not_fit_is_told_without_its_text(self, response, why, raw):
        with pytest.raises(StructuredOutputError, match=why) as caught:
            said(think(ScriptedChat([response]), output_schema=Refund))
        assert (caught.value.schema_name, caught.value.raw_content) == ("Refund", raw)
        assert raw not in str(caught.value)

    def test_a_function_may_say_what_is_written_instead(self):
        chat = ScriptedChat(["nonsense"])
        state = said(think(chat, output_schema=Refund, on_invalid=lambda error: {"raw": error.raw_content}))
        assert state.final_output == {"raw": "nonsense"}

    def test_a_type_of_several_or_a_list_serves_too(self):
        assert said(think(ScriptedChat(["[1, 2]"]), output_schema=list[int])).final_output == [1, 2]

    def test_after_an_answer_that_does_not_fit_the_model_is_asked_anew(self):
        graph = think(ScriptedChat(["nonsense", '{"order_id": "A-1"}']), output_schema=Refund)
        store = InMemoryStateStore()
        with pytest.raises(StructuredOutputError):
            graph.invoke({"messages": [HELLO]}, thread_id="t", state_store=store)
        again = graph.invoke(None, thread_id="t", state_store=store)
        assert again.state.final_output["order_id"] == "A-1"


class TestRefusals:
    @pytest.mark.parametrize(
        ("settings", "why"),
        [
            ({"chat": "gpt"}, "is no chat model"),
            ({"chat": ScriptedChat}, "is no chat model"),
            ({"tools": [print]}, "Make it a tool with @tool"),
            ({"tools": [look, look]}, "two tools are named 'look'"),
            ({"tools": [look], "tool_choice": "lok"}, "Did you mean 'look'"),
            ({"system_prompt": 7}, "is not text"),
            ({"on_invalid": "retry", "output_schema": Refund}, "'retry' is unknown"),
            ({"on_invalid": print}, "there is none"),
            ({"output_schema": print}, "has no JSON Schema"),
        ],
    )
    def test_what_is_wrong_is_told_where_the_node_is_made(self, settings, why):
        with pytest.raises(GraphConfigError, match=why):
            model_node("think", **{"chat": ScriptedChat(), **settings})

    def test_fields_that_the_state_does_not_have_are_told_with_the_graph(self):
        class Talk(BaseState):
            messages: Annotated[list[Message], add_messages] = []

        with pytest.raises(GraphConfigError) as caught:
            graph_of(model_node("think", chat=ScriptedChat(), output_schema=Refund), Talk)
        for field in ("tool_calls", "final_text", "final_output"):
            assert f"{field}_field={field!r}, and Talk has no such field" in str(caught.value)

    def test_calls_that_nothing_would_run_are_refused(self):
        chat = ScriptedChat([ChatResponse(tool_calls=[CALL])])
        with pytest.raises(ModelProviderError, match="nothing would run it"):
            said(think(chat, tool_calls_field=None))

    def test_a_call_with_an_endless_id_is_refused(self):
        chat = ScriptedChat([ChatResponse(tool_calls=[ToolCall(id="x" * 513, name="look")])])
        with pytest.raises(ModelProviderError, match="513 characters"):
            said(think(chat))

    def test_a_chat_that_answers_with_something_else_is_told(self):
        class Odd(ScriptedChat):
            async def complete(self, request):
                return "Hi"

        with pytest.raises(GraphExecutionError, match="answered with str"):
            said(think(Odd()))

    def test_a_field_that_holds_no_messages_is_told(self):
        class Talk(AgentState):
            notes: list[str] = []

        thinks = model_node("think", chat=ScriptedChat(), messages_field="notes")
        with pytest.raises(GraphExecutionError, match="no list of messages in field 'notes'"):
            graph_of(thinks, Talk).invoke({"notes": ["a"]})

    def test_an_error_of_the_provider_reaches_the_caller_and_records_nothing(self):
        graph = think(ScriptedChat([ModelProviderError("busy", status_code=503), "Hi"]))
        store = InMemoryStateStore()
        with pytest.raises(ModelProviderError, match="busy"):
            graph.invoke({"messages": [HELLO]}, thread_id="t", state_store=store)
        assert graph.invoke(None, thread_id="t", state_store=store).state.final_text == "Hi"


def test_a_result_without_a_call_in_the_input_is_repaired_away():
    chat = ScriptedChat(["Hi"])
    said(think(chat, repair_history=True), HELLO, ToolMessage(content="x", name="look", tool_call_id="a"))
    assert chat.requests[0].messages == [HELLO]
