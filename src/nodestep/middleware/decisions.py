"""What a person is shown of a tool call, and what the person may decide about it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ..model.json import Json, JsonObject


class ToolInterrupt(BaseModel):
    """The payload of an approval question: the call as it will run, with every default filled in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["tool_interrupt"] = "tool_interrupt"
    tool_name: str
    tool_call_id: str
    arguments: dict[str, Any]


class ToolDecision(BaseModel):
    """A person's decision about a tool call.

    - `approve` runs the call as it was shown.
    - `edit` lays `arguments` over those of the call, key by key, and runs it so; an empty dict changes nothing.
    - `deny` does not run it; the model is told `message`.

    Raises pydantic's ValidationError for unknown fields and other actions. A decision that is unclear, such as an edit
    without arguments, denies the call.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    action: Literal["approve", "edit", "deny"]
    arguments: dict[str, Any] | None = None
    message: str | None = None


APPROVED = ToolDecision(action="approve")


def read_decision(answer: Json) -> ToolDecision:
    """What an answer decides, told as a decision: only exact `True` and the fields of a valid ToolDecision let a call run.
    Everything else denies it, with the reason as its message."""
    if answer is True:
        return APPROVED
    if not isinstance(answer, dict):
        return _denied(f"The answer was no decision but a value of type {type(answer).__name__}.")
    try:
        decision = ToolDecision.model_validate(answer)
    except ValidationError as error:
        wrong = sorted({str(found["loc"][0]) for found in error.errors(include_url=False) if found["loc"]})
        return _denied(f"The answer was no valid decision; wrong in it: {', '.join(wrong)}.")
    match decision.action, decision.arguments:
        case "edit", None:
            return _denied("The answer was an edit without arguments.")
        case "approve", dict():
            return _denied("The answer approved the call and gave arguments at once, which only an edit may.")
    return decision


def merged(arguments: JsonObject, decision: ToolDecision) -> JsonObject:
    """The arguments of a call after a decision that lets it run."""
    return {**arguments, **decision.arguments} if decision.action == "edit" and decision.arguments else arguments


def _denied(why: str) -> ToolDecision:
    return ToolDecision(action="deny", message=why)
