"""What a tool returned, and its data: kept with its call while the hooks after it have not come to their end."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import ValidationError

from ..model.canonical import encode
from ..model.json import Json, JsonObject
from ..model.limits import to_json
from ..model.node import Command
from .commands import command_to_json
from .tool import Tool


class Result(NamedTuple):
    """What a tool returned, and its JSON; of a Command there is none."""

    value: Any
    json: Json


def result_of(value: Any) -> Result:
    """Raises StateStoreError for a value without a JSON form."""
    return Result(value, None if isinstance(value, Command) else to_json(value, "The result"))


def returned(result: Result, arguments: JsonObject) -> JsonObject:
    """What a tool returned for these arguments."""
    if isinstance(result.value, Command):
        return {"arguments": arguments, "command": command_to_json(result.value)}
    return {"arguments": arguments, "value": result.json}


def returned_before(tool: Tool[Any, Any], kept: Json) -> tuple[Result, JsonObject]:
    """The result, of the tool's type where its JSON can be read as that, and the arguments."""
    arguments: JsonObject = kept["arguments"]
    if "command" in kept:
        command = kept["command"]
        return Result(Command(update=command["update"], goto=command["goto"]), None), arguments
    value = kept["value"]
    if tool.takes.result is not None:
        try:
            value = tool.takes.result.validate_json(encode(value))
        except ValidationError:
            return Result(value, value), arguments
    return result_of(value), arguments
