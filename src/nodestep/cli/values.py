"""Values given on the command line, by one rule: text as it stands, or JSON where `-j` says so.

`@FILE` stands for what a file holds, `-` for standard input, `@@...` for text that begins with one `@`. Of a file's text
one line end at its end is dropped. Nothing is guessed: `true` without `-j` is the text "true".
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .exits import Refusal
from .safe_text import cut, name, shown, shown_json

ECHO_CHARACTERS = 200


class Reader:
    """Reads the values of one command; standard input can be read once."""

    def __init__(self) -> None:
        self._stdin_taken_by: str | None = None

    def text(self, given: str, what: str) -> str:
        """The text that a value stands for; `what` names it in errors."""
        if given == "-":
            return self._standard_input(what)
        if given.startswith("@@"):
            return given[1:]
        if given.startswith("@"):
            return _file(given[1:], what)
        return given

    def json(self, given: str, what: str) -> Any:
        """The JSON value that a value stands for."""
        return parsed(self.text(given, what), what)

    def json_object(self, given: str, what: str) -> dict[str, Any]:
        """The JSON object that a value stands for."""
        value = self.json(given, what)
        if not isinstance(value, dict):
            raise Refusal(
                f"{what} takes a JSON object of state fields, such as '{{\"amount\": 80}}', not {_kind(value)}."
            )
        return value

    def _standard_input(self, what: str) -> str:
        if self._stdin_taken_by is not None:
            raise Refusal(f"Standard input can be one value only: {self._stdin_taken_by} takes it already.")
        self._stdin_taken_by = what
        return _decoded(sys.stdin.buffer.read(), f"standard input, for {what},")


def _file(path: str, what: str) -> str:
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Refusal(
            f"The file {name(path)} for {what} cannot be read: {reason}. A value that begins with @ names a file; for text "
            "that begins with @, write @@."
        ) from None
    return _decoded(content, f"the file {name(path)} for {what}")


def _decoded(content: bytes, where: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refusal(f"Text is UTF-8, and {where} is not, at byte {error.start}.") from None
    return text[:-2] if text.endswith("\r\n") else text[:-1] if text.endswith("\n") else text


def parsed(text: str, what: str) -> Any:
    """The value of a JSON text. Raises Refusal for what is no JSON, and for what JSON leaves open: a key that comes twice,
    a number that is none."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except RecursionError:
        reason = "it is nested too deep"
    except ValueError as error:
        reason = shown(str(error))
    near = shown_json(cut(text, characters=40, lines=1)[0])
    raise Refusal(f'{what} is no JSON: {reason}. It begins {near}; JSON is true, 12, "text", [1, 2] or {{"a": 1}}.')


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {name(twice)} comes twice")
    return value


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")


def described(value: Any) -> str:
    """A value shown back, with what it is: `"yes" (text)`, `true (JSON boolean)`."""
    whole = shown_json(value)
    kind = "text" if isinstance(value, str) else f"JSON {_kind(value)}"
    head, hidden = cut(whole, characters=ECHO_CHARACTERS, lines=1)
    return f"{head} ({kind})" if not hidden else f"{head}... ({kind}, {hidden:,} more characters)"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds: Mapping[type, str] = {
        bool: "boolean",
        int: "number",
        float: "number",
        str: "text",
        list: "list",
        dict: "object",
    }
    return kinds[type(value)]
