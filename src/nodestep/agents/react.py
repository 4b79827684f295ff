"""The ready-made agent: a model thinks, its calls are run, and round again until it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from pydantic import create_model

from ..chat import Chat, HumanMessage
from ..errors import RunInterruptedError
from ..flow import END, START, when
from ..flow.options import refuse
from ..graph import Graph
from ..hooks import Middleware
from ..middleware.limits import ToolLimitMiddleware
from ..stores.base import StateStore
from .known_tools import rule_problems
from .model_node import model_node
from .one_call import ToolErrors
from .runner import tool_runner
from .state import AgentState
from .tool import Tool


def build_react_agent(
    chat: Chat,
    *,
    tools: Sequence[Tool[Any, Any]],
    name: str = "agent",
    system_prompt: str | None = None,
    middleware: Sequence[Middleware] = (),
    tool_errors: ToolErrors = "raise",
    stream: bool = False,
    output_schema: Any = None,
    max_steps: int = 25,
    max_tool_calls: int = 50,
    state_store: StateStore | None = None,
) -> Graph[AgentState]:
    """An agent: a graph of two nodes, `think` (a `model_node`) and `act` (a `tool_runner`), which follow one another until
    the model answers without calling a tool. Run it as any graph, or with `run_agent`.

    - `tools`: what the model may call; those of the middleware (`tools()`) come on top.
    - `middleware`: such as `ToolInterruptMiddleware(rules=...)`, which asks a person before tools run.
    - `tool_errors`: `"raise"`, `"return"` (the model is told) or a function of the error; see `tool_runner`.
    - `output_schema`: the type of the final answer; `final_output` then holds the type.
    - `max_steps`: supersteps of one call, two for each round of the loop.
    - `max_tool_calls`: tool calls from an input to the end, pauses included; see `ToolLimitMiddleware`.

    A history that an earlier turn left unfinished is repaired for the model. Raises GraphConfigError, also for a rule that
    names a tool which neither the agent nor an agent among its tools has.
    """
    think = model_node(
        "think",
        chat=chat,
        system_prompt=system_prompt,
        tools=tools,
        stream=stream,
        repair_history=True,
        output_schema=output_schema,
    )
    act = tool_runner("act", tools=tools, tool_errors=tool_errors)
    agent = Graph(
        _state_type(output_schema),
        name=name,
        max_steps=max_steps,
        state_store=state_store,
        middleware=[*middleware, ToolLimitMiddleware(max_calls=max_tool_calls)],
    )
    refuse(f"Agent {name!r}", rule_problems([*tools, *agent.hooks.tools], agent.hooks.middleware))
    return agent.flow(START >> think, think >> when(_wants_tools, act, otherwise=END), act >> think)


def _state_type(output_schema: Any) -> type[AgentState]:
    if output_schema is None:
        return AgentState
    output: Any = (Optional[output_schema], None)  # noqa: UP045 - any annotation, not only a type
    return create_model("AgentState", __base__=AgentState, __module__=__name__, final_output=output)


def _wants_tools(state: AgentState) -> bool:
    return bool(state.tool_calls)


async def run_agent(agent: Graph[Any], message: str | None, **kwargs: Any) -> str:
    """Say something to an agent, and return what it answers. `kwargs` are those of `ainvoke`, such as `thread_id`;
    `message=None` goes on with the thread, with `resume=Resume(...)` after a pause.

    Raises RunInterruptedError, with `thread_id` and `interrupts`, when the agent waits for a person.
    """
    turn = None if message is None else {"messages": [HumanMessage(content=message)]}
    result = await agent.ainvoke(turn, **kwargs)
    if result.status == "interrupted":
        raise RunInterruptedError(result.thread_id, result.interrupts)
    text: str = result.state.final_text
    return text
