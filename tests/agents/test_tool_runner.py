"""`tool_runner`: the calls of a turn, several at once, each told to the model and recorded as it ends."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    AgentState,
    Command,
    Graph,
    GraphConfigError,
    GraphExecutionError,
    NodeContext,
    ScriptedChat,
    ToolContext,
    ToolExecutionError,
    ToolGroupExecutionError,
    interrupt,
    model_node,
    node,
    tool,
    tool_runner,
)
from nodestep.chat import HumanMessage, ToolCall
from tests.agents.acting import Shop, Turn, acting, answer, call, start, told


@tool
def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


@pytest.fixture
def shop() -> Shop:
    return Shop()


def test_each_call_has_its_message_in_the_order_of_the_calls(shop):
    result = start(acting(shop.tools), call("look_up", "b", order="1"), call("refund", "a", amount=5))
    assert told(result) == ['{"result":"order 1"}', '{"result":"refunded 5.0"}']
    assert [(m.name, m.tool_call_id, m.arguments) for m in result.state.messages] == [
        ("look_up", "b", None),
        ("refund", "a", None),
    ]


def test_the_calls_are_gone_from_the_state_afterwards(shop):
    assert start(acting(shop.tools), call("look_up", order="1")).state.tool_calls == []


def test_a_turn_without_calls_writes_nothing(shop):
    assert start(acting(shop.tools)).state.messages == []


def test_async_tools_run_at_the_same_time():
    met = asyncio.Event

    async def both() -> list[str]:
        here, there = met(), met()

        @tool
        async def one() -> str:
            """One."""
            here.set()
            await there.wait()
            return "one"

        @tool
        async def other() -> str:
            """Other."""
            there.set()
            await here.wait()
            return "other"

        calls = [call("one", "a"), call("other", "b")]
        return told(await acting([one, other]).ainvoke({"tool_calls": calls}))

    assert asyncio.run(both()) == ['{"result":"one"}', '{"result":"other"}']


def test_plain_tools_run_at_the_same_time_in_threads_of_their_own():
    meeting = threading.Barrier(2, timeout=30)

    @tool
    def meet(who: str) -> str:
        """Meet."""
        meeting.wait()
        return who

    assert len(told(start(acting([meet]), call("meet", "a", who="x"), call("meet", "b", who="y")))) == 2


def test_an_error_is_raised_unless_said_otherwise():
    with pytest.raises(ToolExecutionError, match="A call of tool 'fail' failed: ValueError: no stock") as caught:
        start(acting([fail]), call("fail", why="no stock"))
    assert isinstance(caught.value.__cause__, ValueError)


def test_several_errors_are_raised_together_in_the_order_of_the_calls():
    with pytest.raises(ToolGroupExecutionError, match="2 tool calls of one turn failed") as caught:
        start(acting([fail]), call("fail", "a", why="x"), call("fail", "b", why="y"))
    assert [str(error.__cause__) for error in caught.value.errors] == ["x", "y"]


def test_an_error_can_be_told_to_the_model():
    assert told(start(acting([fail], tool_errors="return"), call("fail", why="no stock"))) == [
        "Tool error: ValueError: no stock"
    ]


def test_a_function_can_say_what_the_model_is_told_of_an_error():
    def say(error: ToolExecutionError) -> str:
        return f"{error.tool_name} {error.input_data} {error.__cause__}"

    assert told(start(acting([fail], tool_errors=say), call("fail", why="x"))) == ["fail {'why': 'x'} x"]


def test_such_a_function_returns_text():
    with pytest.raises(GraphExecutionError, match="tool_errors= returned int"):
        start(acting([fail], tool_errors=lambda error: 5), call("fail", why="x"))


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (call("refnud", amount=5), "Did you mean 'refund'?"),
        (call("refund"), "amount: Field required"),
        (call("refund", amount="lots"), "amount: Input should be a valid number"),
        (call("refund", amount=5, to="me"), "The tool takes: amount, note."),
        (ToolCall(id="c", name="refund", arguments_error="no JSON"), "no JSON"),
    ],
)
def test_a_call_that_cannot_run_is_an_error_of_the_call(shop, made, text):
    (content,) = told(start(acting(shop.tools, tool_errors="return"), made))
    assert content.startswith("Tool error: ")
    assert text in content
    assert shop.ran == []
    with pytest.raises(ToolExecutionError):
        start(acting(shop.tools), made)


def test_what_is_recorded_does_not_run_again_when_a_sibling_fails(store, shop):
    broken = [True]

    @tool
    def flaky() -> str:
        """Fail once."""
        if broken.pop() if broken else False:
            raise ValueError
        return "ok"

    graph = acting([*shop.tools, flaky], store)
    with pytest.raises(ToolExecutionError):
        start(graph, call("flaky", "a"), call("look_up", "b", order="1"))
    assert told(graph.invoke(None, thread_id="t")) == ['{"result":"ok"}', '{"result":"order 1"}']
    assert shop.ran == [("look_up", "1")]


def test_tl_15_a_tool_that_asks_pauses_and_runs_again_alone(store, shop):
    entered = []

    @tool
    def choose(ctx: ToolContext) -> str:
        """Let a person choose."""
        entered.append(ctx.tool_call_id)
        return f"chose {interrupt('Which?', id='which')}"

    graph = acting([choose, *shop.tools], store, tool_errors="return")
    paused = start(graph, call("choose", "call 1"), call("look_up", "b", order="1"))
    assert {key: (found.node, found.payload) for key, found in paused.interrupts.items()} == {
        "act/call.201:which": ("act", "Which?")
    }
    assert told(answer(graph, value="red")) == ['{"result":"chose red"}', '{"result":"order 1"}']
    assert entered == ["call 1", "call 1"]
    assert shop.ran == [("look_up", "1")]


def test_two_calls_with_one_id_ask_apart(store):
    @tool
    def choose(what: str) -> str:
        """Choose."""
        return f"{what}: {interrupt(what, id='which')}"

    graph = acting([choose], store)
    paused = start(graph, call("choose", "", what="x"), call("choose", "", what="y"))
    assert sorted(paused.interrupts) == ["act/..2:which", "act/:which"]
    done = answer(graph, {"act/:which": "1", "act/..2:which": "2"})
    assert told(done) == ['{"result":"x: 1"}', '{"result":"y: 2"}']


def test_what_a_call_keeps_belongs_to_the_call(store):
    did: list[str] = []

    def do(what: str) -> str:
        did.append(what)
        return what

    @tool
    async def work(what: str, ctx: ToolContext) -> str:
        """Work."""
        ctx.cache["seen"] = [*ctx.cache.get("seen", []), what]
        once = ctx.once("do", do, what)
        answered = interrupt("Go on?", id="go")
        return f"{ctx.cache['seen']} {once} {answered}"

    graph = acting([work], store)
    start(graph, call("work", "a", what="x"), call("work", "b", what="y"))
    done = answer(graph, {"act/a:go": 1, "act/b:go": 2})
    assert told(done) == ["{\"result\":\"['x', 'x'] x 1\"}", "{\"result\":\"['y', 'y'] y 2\"}"]
    assert sorted(did) == ["x", "y"]


def test_the_idempotency_key_is_that_of_the_call_on_every_attempt(store):
    keys: dict[str, set[str]] = {}

    @tool
    def pay(ctx: ToolContext) -> None:
        """Pay."""
        keys.setdefault(ctx.tool_call_id, set()).add(ctx.idempotency_key)
        interrupt("Go on?", id="go")

    graph = acting([pay], store)
    start(graph, call("pay", "a"), call("pay", "b"))
    answer(graph, {"act/a:go": 1, "act/b:go": 1})
    start(graph, call("pay", "a"))
    assert {id: len(found) for id, found in keys.items()} == {"a": 2, "b": 1}
    assert len(set.union(*keys.values())) == 3


def test_a_swallowed_question_fails_the_node_whatever_tool_errors_says(store):
    @tool
    def swallow() -> str:
        """Swallow."""
        with suppress(BaseException):
            interrupt("Which?", id="which")
        return "went on"

    with pytest.raises(GraphExecutionError, match="caught the pause"):
        start(acting([swallow], store, tool_errors="return"), call("swallow"))


def test_a_question_turned_into_an_error_fails_the_node(store):
    @tool
    def turn() -> str:
        """Turn it."""
        try:
            return interrupt("Which?", id="which")
        except BaseException as pause:
            raise ValueError from pause

    with pytest.raises(GraphExecutionError, match="caught the pause"):
        start(acting([turn], store, tool_errors="return"), call("turn"))


def test_a_question_without_a_store_is_no_error_of_the_tool():
    @tool
    def choose() -> str:
        """Choose."""
        return interrupt("Which?", id="which")

    with pytest.raises(GraphConfigError, match="nothing can pause without a store"):
        start(acting([choose], tool_errors="return"), call("choose"))


def test_beside_a_question_a_real_error_of_the_tool_wins(store):
    @tool
    async def both() -> str:
        """Ask and fail."""

        async def asks() -> None:
            interrupt("Which?", id="which")

        async def fails() -> None:
            raise ValueError("real")

        async with asyncio.TaskGroup() as group:
            group.create_task(asks())
            group.create_task(fails())
        return "never"

    (content,) = told(start(acting([both], store, tool_errors="return"), call("both")))
    assert content.startswith("Tool error: ExceptionGroup: ")


def test_a_tool_sees_its_run():
    @tool
    def look(ctx: ToolContext) -> list[Any]:
        """Look around."""
        ctx.emit("looking")
        return [ctx.context, len(ctx.state.tool_calls), ctx.thread_id, bool(ctx.run_id)]

    events = list(
        acting([look]).stream({"tool_calls": [call("look")]}, thread_id="t", context="mine", stream_mode="custom")
    )
    assert events[0].data == "looking"
    assert events[-1].data.state["messages"][0].content == '{"result":["mine",1,"t",true]}'


def test_a_tool_cannot_write_to_the_state():
    @tool
    def change(ctx: ToolContext) -> None:
        """Change it."""
        ctx.state.messages.append("x")

    assert len(start(acting([change]), call("change")).state.messages) == 1


def test_a_command_of_a_tool_updates_the_state_and_says_where_to_go(shop):
    class Desk(Turn):
        owner: str = ""

    @tool
    def hand_over(to: str) -> Command:
        """Hand over."""
        return Command(update={"owner": to}, goto="human")

    @node
    def human(state: Desk) -> dict:
        return {"owner": f"{state.owner}!"}

    act = tool_runner("act", tools=[hand_over, *shop.tools], goto=[human])
    graph = Graph(Desk).flow(START >> act, act >> END, human >> END)
    result = graph.invoke({"tool_calls": [call("hand_over", "a", to="kim"), call("look_up", "b", order="1")]})
    assert result.state.owner == "kim!"
    assert told(result) == ['{"result":null}', '{"result":"order 1"}']


def test_the_tools_of_middleware_can_be_called(shop):
    from nodestep import Middleware

    class Offers(Middleware):
        def tools(self):
            return [fail]

    graph = acting(shop.tools, middleware=[Offers()], tool_errors="return")
    assert told(start(graph, call("fail", why="x"))) == ["Tool error: ValueError: x"]
    chat = ScriptedChat(["hello"])
    think = model_node("think", chat=chat, tools=shop.tools)
    Graph(AgentState, middleware=[Offers()]).flow(START >> think >> END).invoke(
        {"messages": [HumanMessage(content="hi")]}
    )
    assert [definition.name for definition in chat.requests[0].tools] == ["refund", "look_up", "fail"]


def test_everything_wrong_with_a_runner_is_told_at_once(shop):
    with pytest.raises(GraphConfigError) as caught:
        tool_runner("a/b", tools=[shop.refund, shop.refund, "refund"], tool_errors="ignore")  # type: ignore[list-item]
    for part in ("two tools are named 'refund'", "tools= holds a str", "'ignore' is unknown", "'/'"):
        assert part in str(caught.value)


def test_a_tool_in_the_place_of_a_list_is_told(shop):
    with pytest.raises(GraphConfigError, match=r"tools= takes a list of tools. Write tools=\[refund\]"):
        tool_runner("act", tools=shop.refund)


def test_fields_that_the_state_does_not_have_are_told_with_the_graph(shop):
    act = tool_runner("act", tools=shop.tools, messages_field="mesages")
    with pytest.raises(GraphConfigError, match=r"messages_field='mesages'.*Did you mean 'messages'"):
        Graph(Turn).flow(START >> act >> END)


def test_a_field_that_holds_no_calls_is_told(shop):
    act = tool_runner("act", tools=shop.tools, tool_calls_field="calls")
    graph = Graph(dict).flow(START >> act >> END)
    with pytest.raises(GraphExecutionError, match="no list of ToolCall in field 'calls'"):
        graph.invoke({"calls": ["refund"], "messages": []})


def test_a_tool_can_run_a_graph_whose_questions_bear_the_call(store):
    inner = Graph(dict, name="inner").flow(
        START >> node(lambda state: {"got": interrupt("Inner?", id="q")}, name="ask") >> END
    )

    @tool
    async def nested(ctx: ToolContext) -> str:
        """Run it."""
        return (await ctx.call(inner, {}, id="x"))["got"]

    graph = acting([nested], store)
    paused = start(graph, call("nested", "a"), call("nested", "b"))
    assert sorted(paused.interrupts) == ["act/a/x/ask:q", "act/b/x/ask:q"]
    done = answer(graph, {"act/a/x/ask:q": "1", "act/b/x/ask:q": "2"})
    assert told(done) == ['{"result":"1"}', '{"result":"2"}']


def test_a_runner_does_not_ask_its_node_for_more_than_a_context():
    @node
    def probe(state: Turn, ctx: NodeContext) -> dict:
        return {"tool_calls": [call("fail", why="x")]}

    graph = Graph(Turn).flow(START >> probe >> tool_runner("act", tools=[fail], tool_errors="return") >> END)
    assert told(graph.invoke({})) == ["Tool error: ValueError: x"]
