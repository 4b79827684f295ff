"""What came of one run of a task: done, asked or failed. Each is data that a commit can carry."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from .json import Json, JsonObject
from .memory import NO_MEMORY, MemoryChange
from .patch import NO_PATCH, Patch

NOTHING: Mapping[str, Json] = MappingProxyType({})


class Target(Struct, frozen=True):
    """Where a finished task sends the thread: a node, and for a `Send` the payload laid over its state."""

    node: str
    payload: JsonObject | None = None


class StoredQuestion(Struct, frozen=True):
    """One question as a task asked it; `payload` is its JSON form, instants are Unix milliseconds of the store."""

    id: str
    payload: Json
    answer_schema: JsonObject | None = None
    assignee: str | None = None
    expires_at_ms: int | None = None
    has_default: bool = False
    default: Json = None


class Done(Struct, frozen=True):
    """The node returned. `goto` is `None` where the task follows the graph's edges; `answers` are those of hooks.
    `rejected` tells, by question id, why the type of a question refused an answer that was accepted before; `memory` what
    hooks changed in what they keep in the thread."""

    patch: Patch = NO_PATCH
    goto: tuple[Target, ...] | None = None
    answers: Mapping[str, Json] = NOTHING
    rejected: Mapping[str, str] = NOTHING
    memory: MemoryChange = NO_MEMORY


class Asked(Struct, frozen=True):
    """The node asked questions that nobody answered yet; one whose answer was `rejected` is asked anew."""

    questions: tuple[StoredQuestion, ...]
    answers: Mapping[str, Json] = NOTHING
    cache: JsonObject | None = None
    rejected: Mapping[str, str] = NOTHING


class Failed(Struct, frozen=True):
    """The node raised. The error itself stays in the process; its name and text are kept."""

    error_type: str
    message: str
    answers: Mapping[str, Json] = NOTHING
    cache: JsonObject | None = None
    rejected: Mapping[str, str] = NOTHING


Outcome: TypeAlias = Done | Asked | Failed
