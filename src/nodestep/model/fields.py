"""One field of a state: how a write to it is validated, told as data and merged.

A field keeps one value, unless its reducer says otherwise: `add`, `merge_dict` and `add_messages` are applied as data, any
other callable is the user's and its result is stored whole. Methods raise Unfit, which knows neither field nor writer.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from dataclasses import replace as dataclass_replace
from typing import Any, ClassVar

from ..errors import StateUpdateError
from .converters import Converter
from .copying import MODEL, model_with, own_copy
from .grown import grown, plain
from .json import Json
from .limits import NotJson, Unfit, check_text, own_json
from .messages import edit_messages, message_id
from .patch import APPEND, MERGE, MESSAGES, REDUCE, SET
from .reducers import RemoveMessage, Replace, replace


class Field:
    """A field that keeps one value: an update takes its place.

    `whole` converts all that the field may hold, `part` one update of a merging field, which need not meet the
    constraints on the whole. `default(values)` makes a fresh default, `None` where there is none; `derived` says that it is
    made from the fields before it.
    """

    operation: ClassVar[str] = SET
    merges: ClassVar[bool] = False

    __slots__ = ("annotation", "default", "derived", "name", "part", "reducer", "required", "scalars", "whole")

    def __init__(
        self,
        name: str,
        whole: Converter,
        *,
        part: Converter | None = None,
        reducer: Callable[..., Any] = replace,
        required: bool = False,
    ) -> None:
        self.name = name
        self.annotation = whole.annotation
        self.whole = whole
        self.part = part or whole
        self.reducer = reducer
        self.required = required
        self.default: Callable[[Mapping[str, Any]], Any] | None = None
        self.derived = False
        shape = whole.shape
        self.scalars: frozenset[type] = frozenset() if shape is None or self.merges else shape.scalars

    @property
    def is_atomic(self) -> bool:
        """Whether every value of the field is one that never changes, so that views may share it."""
        return self.whole.shape is not None and self.whole.shape.is_scalar

    @property
    def constrained(self) -> bool:
        """Whether a merged value must be checked as a whole."""
        return self.part is not self.whole

    def take(self, value: Any, seed: str) -> tuple[Any, str, Json]:
        """An update validated: what `merge` is given, the operation, and its JSON."""
        if type(value) is Replace:
            typed, stored = self.take_whole(value.value, seed)
            return (Replace(typed) if self.merges else typed), SET, stored
        return self.take_part(value, seed)

    def take_part(self, value: Any, seed: str) -> tuple[Any, str, Json]:
        typed, stored = self.take_whole(value, seed)
        return typed, SET, stored

    def take_whole(self, value: Any, seed: str) -> tuple[Any, Json]:
        """Everything the field is to hold, validated, and its JSON. `seed` tells derived ids apart."""
        return self.whole.take(value)

    def read(self, operation: str, stored: Json) -> Any:
        """The update that `take` told as data."""
        if operation == SET:
            typed = self.whole.read(stored)
            return Replace(typed) if self.merges else typed
        if operation != self.operation:
            raise Unfit(StateUpdateError, f"its reducer is another one now: {operation!r} is no operation of it")
        return self.read_part(stored)

    def read_part(self, stored: Json) -> Any:
        return self.part.read(stored)

    def merge(self, current: Any, update: Any, *, owned: bool) -> Any:
        """What the field holds after the update. `owned` says that `current` was made in this very merge."""
        return update

    def between(self, before: Any, after: Any) -> Any:
        """An update that makes of what the field holds, a plain value, another one."""
        return self.instead(after)

    def instead(self, value: Any) -> Any:
        """An update that puts a value in the place of whatever the field holds."""
        return Replace(value) if self.merges else value

    def finish(self, merged: Any) -> tuple[Any, Json] | None:
        """Check a merged value as a whole. Returns the value to keep and its JSON where the merge was a user's."""
        if self.constrained:
            self.whole.check(plain(merged))
        return None

    def copy(self, value: Any) -> Any:
        """An own copy of what the field holds, as its declared type."""
        return self.whole.copy(plain(value))

    def same(self, held: Any, value: Any) -> bool:
        """Whether `value`, once a copy of what the field holds, still is the same."""
        return self.whole.same(plain(held), value)

    def dump(self, value: Any) -> Json:
        """The JSON of what the field holds, to be read and not changed."""
        return self.whole.dump(plain(value))


class AddField(Field):
    """A list; an update is a list of the items to append."""

    operation = APPEND
    merges = True
    __slots__ = ()

    def take_part(self, value: Any, seed: str) -> tuple[Any, str, Json]:
        typed, stored = _with_hint(self.part, value, list, "with the reducer add, return a list of the items to append")
        return typed, APPEND, stored

    def merge(self, current: Any, update: Any, *, owned: bool) -> Any:
        return grown(current).appended(update)

    def between(self, before: Any, after: Any) -> Any:
        n_before = len(before)
        return after[n_before:] if after[:n_before] == before else Replace(after)


class MergeField(Field):
    """A dict; an update's keys take the place of those of the same name."""

    operation = MERGE
    merges = True
    __slots__ = ()

    def take_part(self, value: Any, seed: str) -> tuple[Any, str, Json]:
        typed, stored = _with_hint(
            self.part, value, dict, "with the reducer merge_dict, return a dict of the keys to set"
        )
        return typed, MERGE, stored

    def merge(self, current: Any, update: Any, *, owned: bool) -> Any:
        merged = current if owned else dict(current or {})
        merged.update(update)
        return merged

    def between(self, before: Any, after: Any) -> Any:
        if not before.keys() <= after.keys():
            return Replace(after)
        return {key: value for key, value in after.items() if key not in before or before[key] != value}


class MessagesField(Field):
    """A list of messages, found by their ids; an update is a list of messages and removals."""

    operation = MESSAGES
    merges = True
    __slots__ = ()

    def take_part(self, value: Any, seed: str) -> tuple[Any, str, Json]:
        items = self._listed(value)
        removals = {place: item for place, item in enumerate(items) if type(item) is RemoveMessage}
        messages = [self._with_id(item, place, seed) for place, item in enumerate(items) if place not in removals]
        typed, stored = self._taken(self.part, messages)
        self._check_ids(typed, stored)
        if removals:
            typed, stored = list(typed), list(stored)
        for place, removal in removals.items():
            if type(removal.id) is not str:
                raise Unfit(StateUpdateError, "RemoveMessage takes the id of a message, a text")
            check_text(removal.id)
            typed.insert(place, removal)
            stored.insert(place, removal.id)
        return typed, MESSAGES, stored

    def take_whole(self, value: Any, seed: str) -> tuple[Any, Json]:
        messages = [self._with_id(item, place, seed) for place, item in enumerate(self._listed(value))]
        typed, stored = self._taken(self.whole, messages)
        self._check_ids(typed, stored)
        ids = [message_id(message) for message in typed]
        if len(set(ids)) < len(ids):
            typed, stored = (_latest(ids, messages) for messages in (typed, stored))
        return typed, stored

    def read_part(self, stored: Json) -> Any:
        removals = [(place, item) for place, item in enumerate(stored) if isinstance(item, str)]
        typed = self.part.read([item for item in stored if not isinstance(item, str)])
        for place, id in removals:
            typed.insert(place, RemoveMessage(id))
        return typed

    def merge(self, current: Any, update: Any, *, owned: bool) -> Any:
        return grown(current).edited(
            [(message_id(item), None if type(item) is RemoveMessage else item) for item in update]
        )

    def between(self, before: Any, after: Any) -> Any:
        held = {message_id(message): message for message in before}
        edits = [message for message in after if held.pop(message_id(message), None) != message]
        removals = [RemoveMessage(id) for id in held]
        merged = grown(list(before)).edited([(message_id(item), item) for item in edits] + [(id, None) for id in held])
        return [*edits, *removals] if merged.items() == after else Replace(after)

    def _taken(self, part: Converter, messages: list[Any]) -> tuple[Any, Json]:
        try:
            return part.take(messages)
        except Unfit as found:
            refused = found
        if any(isinstance(message, str | tuple) for message in messages):
            example = "{'role': 'user', 'content': '...'}"
            refused = Unfit(refused.error, f"{refused.reason}; a message is no bare text: write {example}")
        raise refused

    def _listed(self, value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise Unfit(StateUpdateError, "Input should be a valid list; with add_messages, return a list of messages")
        return list(value)

    def _with_id(self, message: Any, place: int, seed: str) -> Any:
        if message_id(message) is not None:
            return message
        id = _derived_id(self.name, place, seed)
        if hasattr(type(message), MODEL):
            return model_with(message, "id", id) if "id" in type(message).__pydantic_fields__ else message
        if isinstance(message, Mapping):
            return {**message, "id": id}
        if is_dataclass(message) and not isinstance(message, type) and hasattr(message, "id"):
            return dataclass_replace(message, id=id)
        return message

    def _check_ids(self, typed: list[Any], stored: list[Json]) -> None:
        for message, data in zip(typed, stored, strict=True):
            id = message_id(message)
            if type(id) is not str or not isinstance(data, dict) or data.get("id") != id:
                raise Unfit(StateUpdateError, "a message needs an id that is text, in the key or attribute 'id'")


class CustomField(Field):
    """A field with a reducer of the user's, called as `reducer(current or None, update)`; its result is stored whole."""

    operation = REDUCE
    merges = True
    __slots__ = ()

    def take_part(self, value: Any, seed: str) -> tuple[Any, str, Json]:
        try:
            typed, stored = self.whole.take(value)
        except Unfit as found:
            refused = found
        else:
            return typed, REDUCE, stored
        if refused.error is not StateUpdateError:
            raise refused
        try:
            stored = own_json(value)
        except NotJson as found_type:
            reason = (
                f"it is neither what the field holds ({refused.reason}) nor a plain JSON value: it holds a "
                f"{found_type.type_name}"
            )
        else:
            return self.read_part(stored), REDUCE, stored
        raise Unfit(StateUpdateError, reason)

    def read_part(self, stored: Json) -> Any:
        try:
            return self.whole.read(stored)
        except Unfit:
            return own_json(stored)

    def merge(self, current: Any, update: Any, *, owned: bool) -> Any:
        held = current if owned or current is None else self.copy(current)
        return self.reducer(held, own_copy(update))

    def finish(self, merged: Any) -> tuple[Any, Json] | None:
        return self.whole.take(merged)


def _with_hint(part: Converter, value: Any, kind: type, hint: str) -> tuple[Any, Json]:
    try:
        return part.take(value)
    except Unfit as found:
        refused = found
    if not isinstance(value, kind):
        refused = Unfit(refused.error, f"{refused.reason}; {hint}")
    raise refused


def _derived_id(field: str, place: int, seed: str) -> str:
    if not seed:
        return uuid.uuid4().hex
    return hashlib.sha256(f"{seed}\x00{field}\x00{place}".encode()).hexdigest()[:32]


def _latest(ids: list[str], messages: list[Any]) -> list[Any]:
    kept: list[Any] = []
    edit_messages(kept, {}, list(zip(ids, messages, strict=True)))
    return kept
