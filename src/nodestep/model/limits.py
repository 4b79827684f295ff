"""What may be stored: sizes, depth, numbers and characters, one set for every store and front end.

Everything that is kept passes here, with or without a store, so memory allows nothing that a file or a server would lose.
Messages name what was refused, never its value. This module knows JSON and the plain Python types; of pydantic it uses
only the conversion to JSON values.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from pydantic_core import PydanticSerializationError, to_jsonable_python

from ..errors import LimitExceededError, NodestepError, StateStoreError, a
from .canonical import encode
from .frozen import FrozenDict, FrozenList
from .json import Json
from .value import Instruction

MAX_DEPTH: Final = 100
"""Levels of lists and dicts inside one value."""
MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**63 - 1
MAX_ID_CHARS: Final = 512
"""Thread, branch, node and tool call ids."""
MAX_PAYLOAD_BYTES: Final = 1 << 20
"""A question's payload, an answer, a task's cache: 1 MiB of JSON."""
MAX_STATE_BYTES: Final = 100 << 20
"""A state, and so each update of it: 100 MiB of JSON."""
MAX_OPEN_QUESTIONS: Final = 1000
"""Per thread."""


class Unfit(Exception):  # noqa: N818 - a finding on its way to the place that can name field and writer
    """Why a value was refused: the kind of error it becomes, and the reason, which never holds the value."""

    def __init__(self, error: type[NodestepError], reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason


class NotJson(Exception):  # noqa: N818 - as above
    """A value that is not of JSON's own types."""

    def __init__(self, value: object) -> None:
        super().__init__(type(value).__name__)
        self.type_name = type(value).__name__


def check_text(value: str) -> None:
    """Raise Unfit for text that a store would lose: NUL, and half characters (lone surrogates)."""
    if "\0" in value:
        raise Unfit(LimitExceededError, "it holds a NUL character, which is not stored; remove it")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            pass
        else:
            return
        raise Unfit(LimitExceededError, "it holds half a character (a lone surrogate), which is no valid UTF-8")


def check_scalar(value: str | int | float | bool | None) -> None:
    """Raise Unfit for a scalar of an exact JSON type that is not stored."""
    kind = type(value)
    if kind is str:
        check_text(value)  # type: ignore[arg-type]
    elif kind is int:
        if not MIN_INT <= value <= MAX_INT:  # type: ignore[operator]
            raise Unfit(LimitExceededError, "an integer needs more than 64 bits; store it as text or Decimal")
    elif kind is float and value - value != 0.0:  # type: ignore[operator]
        raise Unfit(LimitExceededError, "a number is NaN or infinite, which JSON does not know; use None")


def own_json(value: Any, depth: int = MAX_DEPTH) -> Json:
    """The value's own deep copy. Raises NotJson for anything but the exact types of JSON, Unfit beyond a limit."""
    kind = type(value)
    if kind is str:
        if "\0" in value or not value.isascii():
            check_text(value)
        return value
    if kind is dict or kind is list:
        if not depth:
            raise Unfit(LimitExceededError, f"it is nested deeper than {MAX_DEPTH} levels; flatten it")
        depth -= 1
        if kind is list:
            return [own_json(item, depth) for item in value]
        own = {}
        for key, item in value.items():
            if type(key) is not str:
                raise NotJson(key)
            if "\0" in key or not key.isascii():
                check_text(key)
            own[key] = own_json(item, depth)
        return own
    if kind is FrozenDict or kind is FrozenList:
        return own_json(dict(value) if kind is FrozenDict else list(value), depth)
    if kind not in _SCALARS:
        raise NotJson(value)
    check_scalar(value)
    return value


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def check_size(n_bytes: int, *, what: str, max_bytes: int = MAX_STATE_BYTES) -> None:
    """Raise LimitExceededError for an encoded value of more than `max_bytes` bytes."""
    if n_bytes > max_bytes:
        raise LimitExceededError(
            f"{what} has {n_bytes:,} bytes as JSON; at most {max_bytes:,} are stored. Keep large data elsewhere and store "
            "a reference to it."
        )


def check_json(value: Json, *, what: str, max_bytes: int = MAX_PAYLOAD_BYTES) -> None:
    """Raise LimitExceededError or StateStoreError, naming `what`, unless the value is JSON that every store keeps."""
    try:
        own_json(value)
    except NotJson as found:
        problem: NodestepError = StateStoreError(_no_json_form(what, found.type_name))
    except Unfit as found:
        problem = found.error(f"{what} is not stored: {found.reason}.")
    else:
        check_size(len(encode(value)), what=what, max_bytes=max_bytes)
        return
    raise problem


def check_id(kind: str, text: str) -> None:
    """Raise LimitExceededError unless `text` may name a `kind` ("thread id", ...): 1 to 512 characters, valid UTF-8, no
    NUL. Raises TypeError for anything but text."""
    if not isinstance(text, str):
        raise TypeError(f"A {kind} is text, not {type(text).__name__}.")
    if not 1 <= len(text) <= MAX_ID_CHARS:
        raise LimitExceededError(f"A {kind} has 1 to {MAX_ID_CHARS} characters; this one has {len(text):,}.")
    try:
        check_text(text)
    except Unfit as found:
        reason = found.reason
    else:
        return
    raise LimitExceededError(f"This {kind} cannot be used: {reason}.")


def to_json(value: Any, what: str, *, max_bytes: int = MAX_PAYLOAD_BYTES) -> Json:
    """The value as plain JSON values, an own deep copy: a pydantic model arrives as a dict, a date as text, a tuple or a
    set as a list, keys as text. Raises StateStoreError, naming `what`, for what has no JSON form (a function, an open
    file, a secret, keys that would collide), LimitExceededError for what is too large, too deep or no finite number.
    """
    try:
        own = _own_or_converted(value)
    except NotJson as found:
        problem: NodestepError = StateStoreError(_no_json_form(what, found.type_name))
    except Unfit as found:
        problem = found.error(f"{what} cannot be stored: {found.reason}.")
    except RecursionError:
        problem = LimitExceededError(f"{what} cannot be stored: it is nested too deep, or holds itself.")
    else:
        check_size(len(encode(own)), what=what, max_bytes=max_bytes)
        return own
    raise problem


def _own_or_converted(value: Any) -> Json:
    try:
        return own_json(value)  # by far the most frequent
    except (NotJson, Unfit):
        return _converted(value, MAX_DEPTH)


def _no_json_form(what: str, type_name: str) -> str:
    return (
        f"{what} cannot be stored: {a(type_name)} in it has no JSON form. Use JSON values, pydantic models, dataclasses, "
        "dates, enums and the like."
    )


def _converted(value: Any, depth: int) -> Json:
    kind = type(value)
    if kind in _SCALARS:
        check_scalar(value)
        return value
    if not depth:
        raise Unfit(LimitExceededError, f"it is nested deeper than {MAX_DEPTH} levels, or holds itself")
    if kind in _LISTS:
        return [_converted(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return _converted_dict(value, depth)
    refuse_hidden(value, depth)
    return own_json(_by_pydantic(value), depth)


_LISTS: Final = frozenset({list, tuple, set, frozenset, deque})


def _converted_dict(value: dict[Any, Any], depth: int) -> Json:
    own: dict[str, Json] = {}
    for key, item in value.items():
        text = _key_text(key)
        if text in own:
            raise Unfit(StateStoreError, "two keys of a dict in it become the same text; use text keys")
        own[text] = _converted(item, depth - 1)
    return own


def _key_text(key: Any) -> str:
    if type(key) is not str:
        refuse_hidden(key, MAX_DEPTH)
        key = next(iter(_by_pydantic({key: None})))
    check_text(key)
    return key  # type: ignore[no-any-return]


def _by_pydantic(value: Any) -> Json:
    try:
        return to_jsonable_python(value, by_alias=False, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError, TypeError):
        pass
    raise NotJson(value)


def refuse_hidden(value: Any, depth: int = MAX_DEPTH) -> None:
    """Raise for what a conversion to JSON would pass over in silence: secrets (they become stars), iterators and open
    files (they would be read to their end), keys that become the same text. Looks inside models and dataclasses."""
    if type(value) in _SCALARS:
        return
    if not depth:
        raise Unfit(LimitExceededError, f"it is nested deeper than {MAX_DEPTH} levels, or holds itself")
    if is_secret(value):
        raise Unfit(
            StateStoreError, f"it holds {a(type(value).__name__)}, and secrets are never stored; pass them as context="
        )
    if isinstance(value, Instruction):
        raise Unfit(
            StateStoreError, f"it holds {a(type(value).__name__)}, which tells a run what to do and is no value"
        )
    if isinstance(value, Iterator):
        raise NotJson(value)
    if isinstance(value, dict) and len({_plain_key(key) for key in value}) != len(value):
        raise Unfit(StateStoreError, "two keys of a dict in it become the same text; use text keys")
    for part in parts_of(value):
        refuse_hidden(part, depth - 1)


def _plain_key(key: Any) -> Any:
    return key if type(key) is str else _key_text(key)


def parts_of(value: Any) -> list[Any]:
    """What a container, a pydantic model or a dataclass holds; nothing for other values."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset | deque):
        return list(value)
    if hasattr(type(value), "__pydantic_validator__") or hasattr(type(value), "__dataclass_fields__"):
        held = list(getattr(value, "__dict__", {}).values())
        held += [getattr(value, name, None) for name in getattr(type(value), "__slots__", ()) if name[:2] != "__"]
        return [*held, *(getattr(value, "__pydantic_extra__", None) or {}).values()]
    return []


def is_secret(value: object) -> bool:
    """Whether the value hides what it holds: pydantic's SecretStr, SecretBytes and Secret."""
    return any(
        base.__module__ == "pydantic.types" and base.__name__ in {"_SecretBase", "SecretStr", "SecretBytes", "Secret"}
        for base in type(value).__mro__
    )


def holds_secret(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether a secret is anywhere inside the value."""
    if type(value) in _SCALARS or not depth:
        return False
    return is_secret(value) or any(holds_secret(part, depth - 1) for part in parts_of(value))
