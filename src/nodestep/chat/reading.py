"""What a model wrote, made safe to keep: the text of a call's arguments, and texts with half characters in them."""

from __future__ import annotations

import json
from typing import NoReturn

from ..model.json import JsonObject
from ..model.limits import NotJson, Unfit, own_json
from .messages import ToolCall


def tool_call(id: str, name: str, arguments: str) -> ToolCall:
    """A call from the JSON text of its arguments. Text that is no JSON object, or that holds what cannot be stored, gives a
    call with `arguments_error`; no text at all is no arguments."""
    try:
        return ToolCall(id=id, name=name, arguments=_read(arguments))
    except ValueError as error:
        return ToolCall(id=id, name=name, arguments_error=str(error))


def _read(text: str) -> JsonObject:
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_no_number)
    except ValueError as error:
        raise ValueError(f"the arguments are no valid JSON: {error}") from None
    except RecursionError:
        raise ValueError("the arguments are nested too deep") from None
    if not isinstance(value, dict):
        raise ValueError("the arguments are valid JSON but no object; write them as {...}")
    try:
        return own_json(value)  # type: ignore[no-any-return]
    except (Unfit, NotJson) as found:
        raise ValueError(f"the arguments cannot be used: {found}") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def whole_text(text: str) -> str:
    """Text that can be stored: halves of a character that came in two pieces are joined, a half alone and NUL become
    U+FFFD."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
