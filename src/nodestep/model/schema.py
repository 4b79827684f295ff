"""How a state of one type is written, merged, stored and seen.

A state at run time is a dict of typed values that a `StateSchema` makes and reads: others pass it on, and look into it
through `view`, `result` and `data` alone. Its values are shared between supersteps and never change. The schema runs no
node and knows no store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct
from pydantic import BaseModel

from ..errors import GraphChangedError, GraphExecutionError, StateUpdateError, a
from .canonical import encode
from .copying import own_copy
from .declarations import declared_fields, is_open
from .declared import Declared, named
from .fields import CustomField, Field, MessagesField
from .grown import plain
from .json import JsonObject
from .limits import MAX_INT, MIN_INT, check_size
from .patch import NO_PATCH, SET, Patch, followed_by, without_reduce
from .reducers import Replace
from .views import Views

S = TypeVar("S")
INPUT: Final = "the input"
"""The writer of what a call passes as the state."""
_LONG: Final = 1 << 24
"""Characters from which on a text alone may be too large a state."""


class Update(Struct, frozen=True):
    """What one writer wrote, validated: `values` for the reducers, `patch` the same as data. `plain` says that every value
    simply takes its field's place."""

    values: Mapping[str, Any]
    patch: Patch
    plain: bool = False


NO_UPDATE: Final = Update(MappingProxyType({}), NO_PATCH, plain=True)


class StateSchema(Generic[S]):
    """The rules of one state type. `name` is the type's, `fields` its fields by name: none for a plain dict, which has any.

    Raises GraphConfigError that lists every problem of the type.
    """

    def __init__(self, state_type: type[S]) -> None:
        self.state_type = state_type
        self.name: str = getattr(state_type, "__name__", "dict")
        self.fields: Mapping[str, Field] = MappingProxyType(declared_fields(state_type))
        self._declared = Declared(self.name, self.fields, is_open=is_open(state_type))
        self._is_model = isinstance(state_type, type) and issubclass(state_type, BaseModel)
        self._views = views = Views[S](state_type if self._is_model else None, self._declared)
        self.view: Callable[[Mapping[str, Any]], S] = views.view
        """A task's own copy of the state, as the declared type. Large fields are copied when they are first read."""
        self.is_untouched: Callable[[S, Mapping[str, Any]], bool] = views.is_untouched
        """Whether a view of these values still holds all of them, and none was copied: a quick look before `changes`."""
        self.derives_ids = any(isinstance(field, MessagesField) for field in self.fields.values())
        """Whether updates get ids derived from the seed that `take_update` is given."""

    def has_field(self, name: str) -> bool:
        """Whether a node may write the field; a plain dict has every field."""
        return self._declared.has(name)

    # what is written

    def take_update(self, update: Mapping[str, Any], writer: str, seed: str = "") -> Update:
        """Validate what one writer ("node 'x'") wrote, field by field. Ids of messages that have none are derived from
        `seed`, which differs from task to task of a thread.

        Raises StateUpdateError for an unknown field or a value that does not fit, StateStoreError for one that would not
        survive being stored, LimitExceededError for one beyond a limit.
        """
        declared = self._declared
        fields = declared.by_name
        values: dict[str, Any] = {}
        sets = values
        others: dict[str, dict[str, Any]] = {}
        for name, value in update.items() if type(update) is dict else declared.items(update, writer):
            field = fields.get(name)
            if field is None:
                field = declared.written(name, writer)
            kind = type(value)
            if kind in field.scalars and (
                (kind is str and value.isascii() and "\0" not in value and len(value) < _LONG)
                or (kind is int and MIN_INT <= value <= MAX_INT)
                or (kind is float and value - value == 0.0)
                or kind is bool
                or value is None
            ):
                values[name] = value
                if sets is not values:
                    sets[name] = value
                continue
            if sets is values:
                sets = dict(values)
            values[name], operation, stored = declared.take(name, value, writer, seed)
            (sets if operation == SET else others.setdefault(operation, {}))[name] = stored
        if sets is values:
            return Update(values, {SET: values}, plain=True) if values else NO_UPDATE
        patch = {SET: sets, **others} if sets else others
        check_size(len(encode(patch)), what=f"The update from {writer}")
        return Update(values, patch, not others and not any(type(value) is Replace for value in values.values()))

    def update_from_patch(self, patch: Patch) -> Update:
        """The update that a recorded patch tells. Fields that the schema no longer has are left out; raises
        GraphChangedError for one that no longer fits."""
        return Update(self._declared.read_update(patch), patch)

    def take_payload(
        self, payload: Mapping[str, Any], writer: str, seed: str = ""
    ) -> tuple[dict[str, Any], JsonObject]:
        """What a `Send` lays over the state for one task: typed values, each in its field's place, and their JSON."""
        values: dict[str, Any] = {}
        stored: JsonObject = {}
        for name, value in self._declared.items(payload, writer):
            values[name], stored[name] = self._declared.take_whole(name, value, writer, seed)
        check_size(len(encode(stored)), what=f"The payload from {writer}")
        return values, stored

    def payload_from_json(self, stored: JsonObject) -> dict[str, Any]:
        """The typed values of a stored payload; fields that the schema no longer has are left out."""
        return self._declared.read_whole(stored)

    # how it merges

    def written_alone(self, update: Update) -> frozenset[str]:
        """The fields that no other node may write in the same superstep: those without a merging reducer, and those
        written with Replace."""
        if update.plain:
            return frozenset(update.values)
        of = self._declared.of
        return frozenset(name for name, value in update.values.items() if type(value) is Replace or not of(name).merges)

    def merge(
        self, values: Mapping[str, Any], updates: Sequence[Update], writer: Callable[[int], str]
    ) -> tuple[dict[str, Any], Patch]:
        """Apply the updates in the order given; `writer(i)` names the i-th writer in errors. Returns new values, and as a
        patch what the updates' own patches do not tell: the results of custom reducers.

        Raises StateUpdateError where a merged value breaks a constraint on the whole field. What a custom reducer raises
        passes through with a note.
        """
        merged = dict(values)
        reduced: dict[str, int] = {}
        for index, update in enumerate(updates):
            if update.plain:
                merged.update(update.values)
                continue
            for name, value in update.values.items():
                if type(value) is Replace:
                    merged[name] = value.value
                    reduced.pop(name, None)
                elif not self._declared.of(name).merges:
                    merged[name] = value
                else:
                    current, owned = merged.get(name), name in reduced
                    merged[name] = self._declared.reduce(name, current, value, lambda i=index: writer(i), owned=owned)  # type: ignore[misc]
                    reduced[name] = index
        return self._finished(merged, reduced, writer) if reduced else (merged, NO_PATCH)

    def _finished(
        self, merged: dict[str, Any], reduced: Mapping[str, int], writer: Callable[[int], str]
    ) -> tuple[dict[str, Any], Patch]:
        results: dict[str, Any] = {}
        for name, index in reduced.items():
            finished = self._declared.finish(name, merged[name], lambda i=index: writer(i))  # type: ignore[misc]
            if finished is not None:
                merged[name], results[name] = finished
        return merged, {SET: results} if results else NO_PATCH

    # where a turn begins

    def initial(self) -> dict[str, Any]:
        """Fresh defaults; fields that must be given are absent."""
        return self._declared.with_defaults({})

    def first_state(self, value: Any = None, seed: str = "input", writer: str = INPUT) -> dict[str, Any]:
        """The state of a thread's first turn: defaults, then the input. A mapping goes through the reducers, an instance
        of the state model is the whole state. Raises StateUpdateError for a required field that is missing."""
        return self._begun(self.initial, value, seed, writer)[0]

    def next_state(
        self, values: Mapping[str, Any], value: Any, seed: str = "", writer: str = INPUT
    ) -> tuple[dict[str, Any], Patch]:
        """The state of a later turn, input laid over what is stored, and the change as a patch. `seed` is another one in
        every turn."""
        return self._begun(lambda: values, value, seed, writer)

    def _begun(
        self, before: Callable[[], Mapping[str, Any]], value: Any, seed: str, writer: str
    ) -> tuple[dict[str, Any], Patch]:
        if self._is_model and isinstance(value, self.state_type):
            values, patch = self._whole(value, seed, writer)
        elif value is None or type(value) is dict or isinstance(value, Mapping):
            update = self.take_update({} if value is None else value, writer, seed)
            values, results = self.merge(before(), [update], lambda _: writer)
            patch = followed_by(without_reduce(update.patch), results)
        else:
            allowed = f"a dict of fields, or {a(self.name)}" if self._is_model else "a dict of fields"
            raise StateUpdateError(f"A state is to come from {writer}, not {a(type(value).__name__)}. Pass {allowed}.")
        missing = self._declared.missing(values)
        if missing:
            raise StateUpdateError(
                f"{self.name} needs {', '.join(map(repr, missing))}, which {writer} does not give. Pass it with the first "
                "input of a thread, or give the field a default."
            )
        if self.fields:
            values = {name: values[name] for name in self.fields if name in values}
        return values, patch

    def _whole(self, value: Any, seed: str, writer: str) -> tuple[dict[str, Any], Patch]:
        if not type(value).__pydantic_fields__.keys() <= self.fields.keys():
            raise StateUpdateError(
                f"A {type(value).__name__} has fields that {self.name} does not have, so {writer} cannot be one. Pass a "
                f"{self.name}, or a dict of its fields."
            )
        values: dict[str, Any] = {}
        stored: JsonObject = {}
        for name in self.fields:
            if name in value.__dict__:
                values[name], stored[name] = self._declared.take_whole(name, value.__dict__[name], writer, seed)
        check_size(len(encode(stored)), what=f"The state from {writer}")
        return values, {SET: stored}

    # what a task sees, and what it did to it

    def changes(self, view: S, values: Mapping[str, Any]) -> dict[str, Any]:
        """What a node changed in place on its view of these values, as an update; empty if nothing. What a merging field
        holds now is written with Replace. Raises GraphExecutionError for a field with a custom reducer, whose update the
        change does not tell, and for a field that was removed."""
        changed = self._views.changes(view, values)
        if not changed:
            return changed
        for name, value in changed.items():
            field = self._declared.by_name.get(name)
            if isinstance(field, CustomField):
                raise GraphExecutionError(
                    f"A node changed field {name!r} in place. Its reducer {named(field.reducer)} takes an update, which the "
                    f"change does not tell; return {{{name!r}: <update>}} instead."
                )
            if field is not None and field.merges:
                changed[name] = Replace(value)
        return changed

    def update_between(
        self, before: Mapping[str, Any], after: Mapping[str, Any], names: Iterable[str]
    ) -> dict[str, Any]:
        """What makes of these values others, by field, as an update: what a list gained is appended, and what no update
        through the reducer tells is written with Replace. `after` holds plain values."""
        update: dict[str, Any] = {}
        for name in names:
            field = self._declared.of(name)
            if name not in after or (name in before and field.same(before[name], after[name])):
                continue
            value = after[name]
            update[name] = field.between(plain(before[name]), value) if name in before else field.instead(value)
        return update

    def result(self, values: Mapping[str, Any]) -> S:
        """A full copy of the state, as the declared type."""
        return self._views.result(values)

    def data(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """A full copy of the state, as a plain dict of typed values."""
        return self._views.data(values)

    def shown(self, update: Update) -> dict[str, Any]:
        """A copy of an update's values for those who watch a run."""
        return {name: own_copy(value) for name, value in update.values.items()}

    # what is stored

    def dump(self, values: Mapping[str, Any]) -> JsonObject:
        """The JSON form of the whole state, to be read and not changed: parts of it may be parts of the state."""
        of = self._declared.of
        return {
            name: value if type(value) in of(name).scalars else of(name).dump(value) for name, value in values.items()
        }

    def load(self, stored: JsonObject) -> dict[str, Any]:
        """The typed values of a stored state. New fields get defaults, fields that the schema no longer has are left out.
        Raises GraphChangedError for a field that no longer fits, or a new one that must be given."""
        values = self._declared.read_whole(stored)
        if self._declared.is_open:
            return values
        values = self._declared.with_defaults(values)
        missing = self._declared.missing(values)
        if missing:
            raise GraphChangedError(
                f"{self.name} needs {', '.join(map(repr, missing))}, which the stored state does not have. Give the field a "
                "default, so that threads from before it can go on."
            )
        return values
