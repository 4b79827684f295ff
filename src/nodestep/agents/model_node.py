"""`model_node`: the node in which a model takes its turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from pydantic import TypeAdapter

from ..chat import (
    AIMessage,
    Chat,
    ChatRequest,
    ChatResponse,
    HumanMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from ..chat.reading import whole_text
from ..errors import ModelProviderError, StructuredOutputError, did_you_mean
from ..flow.edges import shown
from ..flow.node import Node
from ..flow.options import name_problems, refuse
from ..model.grown import Grown
from ..model.json import Json
from ..model.limits import MAX_ID_CHARS
from ..model.node import NodeSpec
from ..model.schema import StateSchema
from ..runtime.context import TaskScope
from ..runtime.frame import FrameRun
from .history import checked
from .model_turn import ModelTurn
from .output import Output
from .reading import ListField
from .tool import Tool
from .toolbox import Toolbox, tool_problems

OnInvalid: TypeAlias = str | Callable[[StructuredOutputError], Any]
"""`"raise"`, or a function of the error that returns what is written in the place of the output."""

_MESSAGES: TypeAdapter[list[Message]] = TypeAdapter(list[Message])
_DECLARED = "Annotated[list[Message], add_messages]"
_KINDS: frozenset[type] = frozenset({SystemMessage, HumanMessage, AIMessage, ToolMessage})


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The arguments of `model_node`, as given and checked."""

    chat: Chat
    system_prompt: str | None
    tools: tuple[Tool[Any, Any], ...]
    tool_choice: str | None
    stream: bool
    repair_history: bool
    output: Output | None
    on_invalid: OnInvalid
    messages_field: str
    tool_calls_field: str | None
    final_text_field: str | None
    final_output_field: str


class ModelNode(Node):
    """A node in which a model takes its turn, made by `model_node`."""

    options: ModelOptions
    _prompt: tuple[SystemMessage, ...]
    _tools: Toolbox
    _messages: ListField[Message]
    _whole: WeakKeyDictionary[FrameRun, Grown]
    """The messages of each graph at work that a model could go on from when it was asked last."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        super().__init__(NodeSpec(name, self._run, self._run, is_async=True))
        what, field, prompt = f"Model node {name!r}", options.messages_field, options.system_prompt
        wrong = f"{what} found no list of messages in field {field!r}. Declare it as {field}: {_DECLARED}."
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "_prompt", () if prompt is None else (SystemMessage(content=prompt),))
        object.__setattr__(self, "_tools", Toolbox(options.tools, what))
        object.__setattr__(self, "_messages", ListField(field, _KINDS, _MESSAGES, wrong))
        object.__setattr__(self, "_whole", WeakKeyDictionary())

    def problems(self, schema: StateSchema[Any]) -> Iterable[str]:
        """Tells fields that the state does not have."""
        options = self.options
        fields = {
            "messages_field": options.messages_field,
            "tool_calls_field": options.tool_calls_field,
            "final_text_field": options.final_text_field,
            "final_output_field": options.final_output_field if options.output else None,
        }
        for option, field in fields.items():
            if field is not None and not schema.has_field(field):
                none = f" or pass {option}=None," if option in ("tool_calls_field", "final_text_field") else ""
                yield (
                    f"Model node {self.name!r} has {option}={field!r}, and {schema.name} has no such field."
                    f"{did_you_mean(field, list(schema.fields))} Declare it,{none} or derive the state from AgentState."
                )

    async def _run(self, state: Any, scope: TaskScope) -> dict[str, Any]:
        options = self.options
        turn = ModelTurn(scope, options.chat, options.stream)
        response = await turn.ask(self._request(scope))
        try:
            return self._update(response)
        except (StructuredOutputError, ModelProviderError):
            turn.forget()
            raise

    def _request(self, scope: TaskScope) -> ChatRequest:
        options = self.options
        tools = self._tools.with_more(scope.at.hooks.tools)
        return ChatRequest(
            [*self._prompt, *self._history(scope)],
            [tool.definition for tool in tools.values()],
            options.tool_choice,
            None if options.output is None else options.output.schema,
        )

    def _history(self, scope: TaskScope) -> list[Message]:
        """The messages, once they are known to be whole. Those that were so at the last turn are not looked at again."""
        held, last = scope.values.get(self._messages.name), self._whole.get(scope.at)
        begin = len(last) if isinstance(held, Grown) and last is not None and held.grew_from(last) else 0
        messages = self._messages.read(held, begin)
        whole = checked(messages, repair=self.options.repair_history, begin=begin)
        if isinstance(held, Grown) and whole is messages:
            self._whole[scope.at] = held
        return whole

    def _update(self, response: ChatResponse) -> dict[str, Any]:
        options = self.options
        message = _message(response)
        calls = message.tool_calls
        if calls and options.tool_calls_field is None:
            raise ModelProviderError(
                f"The model called the tool {calls[0].name[:80]!r}, and model node {self.name!r} has tool_calls_field=None, so "
                "nothing would run it. Name the field that tool_runner reads."
            )
        update: dict[str, Any] = {options.messages_field: [message]}
        if options.tool_calls_field is not None:
            update[options.tool_calls_field] = list(calls)
        if options.final_text_field is not None:
            update[options.final_text_field] = "" if calls else message.content or message.refusal or ""
        if options.output is not None:
            update[options.final_output_field] = None if calls else self._output(options.output, message)
        return update

    def _output(self, output: Output, message: AIMessage) -> Json:
        try:
            if message.refusal is not None:
                raise output.refused(message.refusal)
            return output.read(message.content)
        except StructuredOutputError as error:
            if callable(self.options.on_invalid):
                return self.options.on_invalid(error)
            raise


def _message(response: ChatResponse) -> AIMessage:
    """What a thread keeps of a response."""
    for call in response.tool_calls:
        if len(call.id) > MAX_ID_CHARS:
            raise ModelProviderError(
                f"The model gave a tool call an id of {len(call.id)} characters, and {MAX_ID_CHARS} are the most."
            )
    return AIMessage(
        content=whole_text(response.content),
        tool_calls=tuple(map(_call, response.tool_calls)),
        refusal=None if response.refusal is None else whole_text(response.refusal),
        finish_reason=response.finish_reason,
        usage=response.usage,
    )


def _call(call: ToolCall) -> ToolCall:
    id, name = whole_text(call.id), whole_text(call.name)
    return call if (id, name) == (call.id, call.name) else call.model_copy(update={"id": id, "name": name})


def model_node(
    name: str,
    *,
    chat: Chat,
    system_prompt: str | None = None,
    tools: Sequence[Tool[Any, Any]] = (),
    tool_choice: str | None = None,
    stream: bool = False,
    repair_history: bool = False,
    output_schema: Any = None,
    on_invalid: OnInvalid = "raise",
    messages_field: str = "messages",
    tool_calls_field: str | None = "tool_calls",
    final_text_field: str | None = "final_text",
    final_output_field: str = "final_output",
) -> Node:
    """A node in which a model takes its turn: it reads the messages and writes an `AIMessage`. What it writes is committed
    before anything that follows runs, so the model is never asked again for a turn that is recorded.

    - `chat`: the model, a `Chat`.
    - `system_prompt`: stands before the messages in each request, and is not stored.
    - `tools`: what the model may call; those of the graph's middleware (`tools()`) come on top. A `tool_runner` runs the
      calls.
    - `tool_choice`: `"auto"`, `"required"`, `"none"` or the name of a tool; `None` leaves it to the provider.
    - `stream`: ask for the response in pieces, which `"tokens"` streams carry.
    - `repair_history`: give a call without a result one that says so, and leave out results without a call, instead of
      raising ChatHistoryError. The stored messages stay as they are.
    - `output_schema`: the type of the final answer: a pydantic model, a dataclass, a TypedDict or another type of JSON
      values. The model is shown its JSON Schema.
    - `on_invalid`: `"raise"` fails the node with a StructuredOutputError where the final answer does not fit; a function of
      the error returns what is written instead.
    - the fields: messages to `messages_field`; the calls of this turn to `tool_calls_field`, an empty list without any; the
      text and the output of an answer without calls to `final_text_field` and `final_output_field`, and nothing there
      otherwise. `None` writes none.

    Raises GraphConfigError for everything that is wrong with it.
    """
    what = f"Model node {shown(name)}"
    refuse(
        what,
        [
            *name_problems(name, "The name"),
            *_chat_problems(chat),
            *tool_problems(tools),
            *_choice_problems(tool_choice, tools),
            *_text_problems(system_prompt),
            *_invalid_problems(on_invalid, output_schema),
        ],
    )
    options = ModelOptions(
        chat,
        system_prompt,
        tuple(tools),
        tool_choice,
        stream,
        repair_history,
        None if output_schema is None else Output(output_schema, what),
        on_invalid,
        messages_field,
        tool_calls_field,
        final_text_field,
        final_output_field,
    )
    return ModelNode(name, options)


def _chat_problems(chat: Any) -> Iterator[str]:
    if isinstance(chat, type) or not isinstance(chat, Chat):
        yield (
            f"chat={shown(chat)} is no chat model. Pass an object with model, complete() and stream(), such as "
            "OpenAIChat('model', base_url) or ScriptedChat([...])."
        )


def _choice_problems(choice: object, tools: Iterable[Any]) -> Iterator[str]:
    known = ["auto", "required", "none", *(tool.name for tool in tools if isinstance(tool, Tool))]
    if choice is not None and choice not in known:
        near = did_you_mean(choice, known) if isinstance(choice, str) else ""
        yield f"tool_choice={shown(choice)} is neither 'auto', 'required' nor 'none', and no tool has this name.{near}"


def _text_problems(prompt: object) -> Iterator[str]:
    if prompt is not None and not isinstance(prompt, str):
        yield f"system_prompt={shown(prompt)} is not text. Pass a str, or None for no system prompt."


def _invalid_problems(on_invalid: object, output_schema: object) -> Iterator[str]:
    if on_invalid != "raise" and not callable(on_invalid):
        yield f"on_invalid={shown(on_invalid)} is unknown. Write 'raise', or a function of the error."
    if on_invalid != "raise" and output_schema is None:
        yield "on_invalid= says what to do with an answer that does not fit output_schema=, and there is none."
