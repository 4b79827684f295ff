"""What may be written in `@node(...)`: names, targets, time limits, retries.

A function per option lists what is wrong with it; nothing here knows a function or a graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeGuard

from ..errors import GraphConfigError
from ..model import ids
from ..model.limits import MAX_ID_CHARS
from ..model.node import Retry
from .edges import END, START, End, shown
from .node import Node

RESERVED = ids.RESERVED | {repr(START), repr(END)}


def name_problems(name: object, what: str) -> Iterator[str]:
    """What keeps `name` from naming a node; `what` begins the message, such as "The name" or "The alias"."""
    if not isinstance(name, str) or isinstance(name, End):
        yield f"{what} {shown(name)} is not a string. Pass a str such as name='review'."
    elif not name:
        yield f"{what} is empty. It takes letters, digits, '_', '.', '-' and spaces."
    elif len(name) > MAX_ID_CHARS:
        yield f"{what} {name[:20]!r}... has {len(name)} characters, and {MAX_ID_CHARS} are the most."
    elif not ids.NAME.fullmatch(name):
        wrong = "".join(dict.fromkeys(c for c in name if not ids.NAME.fullmatch(c)))
        yield (
            f"{what} {name!r} holds {wrong!r}. Only ASCII letters, digits, '_', '.', '-' and spaces may stand in it; "
            "pass another with name=."
        )
    elif name != name.strip():
        yield f"{what} {name!r} begins or ends with a space. Write {name.strip()!r}."
    elif name in RESERVED:
        yield f"{what} {name!r} is reserved for the ends of a graph. Choose another with name=."


def timeout_problems(timeout: object, what: str = "timeout") -> Iterator[str]:
    """What keeps `timeout` from being a number of seconds."""
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        yield f"{what}={shown(timeout)} is not a number. Pass seconds, such as {what}=30, or None for no limit."
    elif not (timeout > 0 and math.isfinite(timeout)):
        yield f"{what}={timeout} is not above 0. Pass seconds, such as {what}=30, or None for no limit."


def retry_problems(retry: object) -> Iterator[str]:
    """What keeps `retry` from telling how a node is tried again."""
    if retry is None:
        return
    if not isinstance(retry, Retry):
        yield f"retry={shown(retry)} is not a Retry. Write retry=Retry(max_attempts=3)."
        return
    yield from _delay_problems(retry)
    if not _is_whole(retry.max_attempts) or retry.max_attempts < 1:
        yield (
            f"Retry(max_attempts={shown(retry.max_attempts)}) must be a whole number from 1. The first attempt counts, "
            "so 3 means at most two more."
        )
    kinds: Sequence[Any] = retry.on if isinstance(retry.on, tuple) else (retry.on,)
    if not kinds:
        yield "Retry(on=()) never tries again. Name an exception type, or leave retry= out."
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            yield (
                f"Retry(on=...) holds {shown(kind)}, which is not a type derived from Exception. Write "
                "on=TimeoutError, or a tuple of such types."
            )


def _delay_problems(retry: Retry) -> Iterator[str]:
    for name, least in (("initial_delay_s", 0), ("backoff", 1), ("max_delay_s", 0)):
        value = getattr(retry, name)
        if not _is_number(value) or value < least:
            unit = "a factor" if name == "backoff" else "seconds"
            yield f"Retry({name}={shown(value)}) must be a number from {least}. It is {unit}, such as {name}=2.0."
    jitter: object = retry.jitter
    if not isinstance(jitter, bool):
        yield f"Retry(jitter={shown(jitter)}) must be True or False."


def goto_problems(goto: object) -> Iterator[str]:
    """What keeps `goto` from listing targets; whether a named node exists is checked with the graph."""
    if goto is None:
        return
    if not isinstance(goto, (list, tuple)):
        yield f"goto={shown(goto)} is not a list. Write goto=[{shown(goto)}]."
        return
    seen: list[object] = []
    for target in goto:
        if target is START:
            yield "goto holds START, which only begins a graph. Name the node to go to."
        elif not _is_target(target):
            yield (
                f"goto holds {shown(target)}, which is not a node. List nodes, END, or the names of nodes that are "
                "defined later."
            )
        elif target_name(target) in seen:
            yield f"goto names {shown(target)} twice. Drop one of them."
        else:
            seen.append(target_name(target))


def alias_problems(aliases: object, name: object) -> Iterator[str]:
    """What keeps `aliases` from listing a node's former names."""
    if not isinstance(aliases, (list, tuple)):
        yield f"aliases={shown(aliases)} is not a list. Write aliases=['former name']."
        return
    seen: list[object] = []
    for alias in aliases:
        yield from name_problems(alias, "The alias")
        if alias == name:
            yield f"The alias {alias!r} is the node's own name. Drop it."
        elif alias in seen:
            yield f"The alias {alias!r} is listed twice. Drop one of them."
        seen.append(alias)


def max_steps_problems(max_steps: object) -> Iterator[str]:
    """What keeps `max_steps` from being a number of supersteps."""
    if not _is_whole(max_steps) or max_steps < 1:
        yield (
            f"max_steps={shown(max_steps)} must be a whole number from 1. It is how many supersteps one call may take, "
            "such as 25."
        )


def refuse(subject: str, problems: Iterable[str]) -> None:
    """Raise one GraphConfigError that lists every problem; do nothing without any."""
    found = list(dict.fromkeys(problems))
    if len(found) == 1:
        raise GraphConfigError(f"{subject}: {found[0]}")
    if found:
        lines = "".join(f"\n  {number}. {text}" for number, text in enumerate(found, 1))
        raise GraphConfigError(f"{subject} has {len(found)} problems:{lines}")


def target_name(target: Any) -> str:
    """The name that a node, END or a name has in a blueprint."""
    return str(target) if isinstance(target, str) else str(target.name)


def _is_target(value: object) -> bool:
    return isinstance(value, (str, Node))


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
