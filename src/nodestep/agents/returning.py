"""What a tool returned, as data: kept with its call while the hooks after it have not come to their end."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from ..model.canonical import encode
from ..model.json import Json, JsonObject
from ..model.limits import to_json
from ..model.node import Command
from .commands import command_to_json
from .tool import Tool


def returned(value: Any, arguments: JsonObject) -> JsonObject:
    """What a tool returned for these arguments."""
    if isinstance(value, Command):
        return {"arguments": arguments, "command": command_to_json(value)}
    return {"arguments": arguments, "value": to_json(value, "The result")}


def returned_before(tool: Tool[Any, Any], kept: Json) -> tuple[Any, JsonObject]:
    """The value, of the tool's type where its JSON can be read as that, and the arguments."""
    arguments: JsonObject = kept["arguments"]
    if "command" in kept:
        command = kept["command"]
        return Command(update=command["update"], goto=command["goto"]), arguments
    value = kept["value"]
    if tool.takes.result is not None:
        try:
            value = tool.takes.result.validate_json(encode(value))
        except ValidationError:
            return value, arguments
    return value, arguments
