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


class NoDecision(ValueError):  # noqa: N818 - a finding on its way to the place that tells it
    """What keeps an answer from deciding about a call, in words that go on from "The answer was no decision: "."""


def valid_decision(answer: Json) -> ToolDecision:
    """The decision that an answer is: only exact `True` and the fields of a valid ToolDecision are one. Raises
    NoDecision."""
    if answer is True:
        return APPROVED
    if not isinstance(answer, dict):
        raise NoDecision(f"it is a value of type {type(answer).__name__}")
    try:
        decision = ToolDecision.model_validate(answer)
    except ValidationError as error:
        wrong = sorted({str(found["loc"][0]) for found in error.errors(include_url=False) if found["loc"]})
        fields = ", ".join(ToolDecision.model_fields)
        raise NoDecision(f"wrong in it: {', '.join(wrong)}; it takes {fields}") from None
    match decision.action, decision.arguments:
        case "edit", None:
            raise NoDecision("it is an edit without arguments")
        case "approve", dict():
            raise NoDecision("it approves the call and gives arguments, which only an edit may")
    return decision


def read_decision(answer: Json) -> ToolDecision:
    """What an answer decides: one that is no decision denies the call, with the reason as its message."""
    try:
        return valid_decision(answer)
    except NoDecision as why:
        return ToolDecision(action="deny", message=f"The answer was no decision: {why}.")


def merged(arguments: JsonObject, decision: ToolDecision) -> JsonObject:
    """The arguments of a call after a decision that lets it run."""
    return {**arguments, **decision.arguments} if decision.action == "edit" and decision.arguments else arguments
