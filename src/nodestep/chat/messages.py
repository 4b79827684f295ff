"""What is said between people, a model and its tools: frozen values that a thread stores in its state.

A list of them is a field as `messages: Annotated[list[Message], add_messages]`. In JSON a message tells its kind by
`role`, in the words of the wire format that most providers share.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ..model.frozen import FrozenDict, frozen

_Arguments: TypeAlias = Annotated[dict[str, Any], AfterValidator(frozen)]


class _Value(BaseModel):
    """Frozen, and no key that nobody knows."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(_Value):
    """A model asks for a tool. `id` ties the result to the call; models repeat ids, and leave them empty. Where the model
    wrote arguments that are no JSON object, or one that cannot be stored, `arguments` is empty and `arguments_error` says
    why: such a call is answered with that error instead of running."""

    id: str
    name: str
    arguments: _Arguments = Field(default_factory=FrozenDict)
    arguments_error: str | None = None


class Usage(_Value):
    """What one request cost, in tokens as the provider counts them."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Both together."""
        return self.input_tokens + self.output_tokens


class SystemMessage(_Value):
    """What the model is told about its task. `id` is made by `add_messages` where it is `None`, as in every message."""

    role: Literal["system"] = "system"
    id: str | None = None
    content: str


class HumanMessage(_Value):
    """What a person says."""

    role: Literal["user"] = "user"
    id: str | None = None
    content: str


class AIMessage(_Value):
    """What the model says: text, calls of tools, or a `refusal` (the model's words; `None` where it did not refuse).
    `finish_reason` and `usage` are the provider's; `None` where it told none."""

    role: Literal["assistant"] = "assistant"
    id: str | None = None
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None


class ToolMessage(_Value):
    """What came of the call `tool_call_id` of the tool `name`. `arguments` is what the tool ran with where a person approved
    or edited the call, else `None`."""

    role: Literal["tool"] = "tool"
    id: str | None = None
    content: str
    name: str
    tool_call_id: str
    arguments: _Arguments | None = None


Message: TypeAlias = Annotated[SystemMessage | HumanMessage | AIMessage | ToolMessage, Field(discriminator="role")]
"""Any message; which one it is, its `role` says."""
