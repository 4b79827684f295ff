"""`agent_tool`: an agent as another agent's tool."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..chat import HumanMessage
from ..flow.edges import shown
from ..flow.options import refuse
from ..graph import Graph
from .arguments import read_arguments
from .context import ToolContext
from .tool import Tool, input_title, name_problems

FIELDS = ("messages", "final_text")


@dataclass(frozen=True, eq=False, repr=False)
class AgentTool(Tool[[str, ToolContext], Any]):
    """A tool that is an agent, made by `agent_tool`."""

    graph: Graph[Any] | None = None


def agent_tool(graph: Graph[Any], *, name: str, description: str) -> Tool[[str, ToolContext], Any]:
    """An agent as a tool: the model gives it a `message`, and gets its `final_output`, or its `final_text` where the agent
    has no output schema.

    The agent runs inside the call, as part of the same thread and its history, with a conversation of its own that begins
    with the message. Its questions and approvals show at the top, under `"<task>/<call id>/agent/<inner key>"`; what it has
    finished is not done again when the thread goes on. The tool hooks, rules and limits of the outer graph cover its calls.

    Raises GraphConfigError for a graph without a flow, with a store of its own, or whose state has no `messages` and
    `final_text`, and for a name or description that no tool may have.
    """

    async def run(message: str, ctx: ToolContext) -> Any:
        state = await ctx.call(graph, {"messages": [HumanMessage(content=message)]}, id="agent")
        output = getattr(state, "final_output", None)
        return state.final_text if output is None else output

    refuse(f"Agent tool {shown(name)}", [*name_problems(name, description), *_graph_problems(graph)])
    return AgentTool(name, description, run, read_arguments(run, input_title(name), None), graph=graph)


def _graph_problems(graph: Any) -> Iterator[str]:
    if not isinstance(graph, Graph):
        yield f"it takes a Graph, not {shown(graph)}. Write agent_tool(build_react_agent(...), name=..., description=...)."
    elif not graph.has_flow:
        yield f"graph {graph.name!r} has no flow yet. Call its flow(...) first."
    elif graph.state_store is not None:
        yield (
            f"graph {graph.name!r} has a store of its own, and an agent inside another is kept in the outer thread. Leave "
            "state_store= out."
        )
    else:
        missing = [field for field in FIELDS if not graph.schema.has_field(field)]
        if missing:
            yield f"the state of graph {graph.name!r} has no {' and no '.join(missing)}. Derive it from AgentState."
