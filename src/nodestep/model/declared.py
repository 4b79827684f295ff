"""The fields of one state type, by name: here a finding about a value gets its error, with field and writer named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import CoroutineType
from typing import Any, TypeVar

from ..errors import GraphChangedError, LimitExceededError, StateUpdateError, a, did_you_mean
from .converters import Converter
from .fields import Field
from .json import Json
from .limits import Unfit, check_text
from .patch import SET, Patch

T = TypeVar("T")


class Declared:
    """The fields of the state type called `name`; an open one, a plain dict, has every field, with any JSON value."""

    def __init__(self, name: str, fields: Mapping[str, Field], *, is_open: bool) -> None:
        self.name = name
        self.by_name = dict(fields)
        self.is_open = is_open
        self._any = Field("", Converter(Any, []))

    def has(self, name: str) -> bool:
        return self.is_open or name in self.by_name

    def of(self, name: str) -> Field:
        """The field of a name that is known to be one."""
        return self._any if self.is_open else self.by_name[name]

    def written(self, name: Any, writer: str) -> Field:
        """The field that a writer named. Raises StateUpdateError for an unknown one."""
        if self.is_open and type(name) is str and name.isascii() and "\0" not in name:
            return self._any
        field = self.by_name.get(name)
        if field is not None:
            return field
        if not isinstance(name, str):
            raise StateUpdateError(f"Fields are named by text; {writer} gave a key of type {type(name).__name__}.")
        if not self.is_open:
            raise StateUpdateError(
                f"{self.name} has no field {name!r}, which {writer} wrote. Fields: {self.known}."
                + did_you_mean(name, list(self.by_name))
            )
        self._check_name(name, writer)
        return self._any

    def _check_name(self, name: str, writer: str) -> None:
        try:
            check_text(name)
        except Unfit as found:
            reason = found.reason
        else:
            return
        raise LimitExceededError(f"A field's name from {writer} was refused: {reason}.")

    @property
    def known(self) -> str:
        """The names of the fields, for a message."""
        return "any" if self.is_open else ", ".join(self.by_name) or "none"

    def items(self, update: Any, writer: str) -> Iterable[tuple[Any, Any]]:
        """What an update says of each field. Raises StateUpdateError for anything but a mapping."""
        if type(update) is dict or isinstance(update, Mapping):
            return update.items()
        raise StateUpdateError(
            f"An update is a mapping from field to value; {writer} gave {a(type(update).__name__)}. Fields: {self.known}."
        )

    def take(self, name: str, value: Any, writer: str, seed: str) -> tuple[Any, str, Json]:
        """A write validated: what merges, the operation, its JSON."""
        return self._taken(self.written(name, writer).take, name, value, writer, seed)

    def take_whole(self, name: str, value: Any, writer: str, seed: str) -> tuple[Any, Json]:
        """The same for everything the field is to hold, without its reducer."""
        return self._taken(self.written(name, writer).take_whole, name, value, writer, seed)

    def _taken(self, take: Callable[[Any, str], T], name: str, value: Any, writer: str, seed: str) -> T:
        try:
            return take(value, seed)
        except Unfit as found:
            problem = found
        except Exception as error:
            error.add_note(f"raised while field {name!r} took the value from {writer}")
            raise
        if isinstance(value, CoroutineType):
            value.close()
            raise StateUpdateError(
                f"Field {name!r} got a coroutine from {writer}, and nobody awaited it. Write await before it."
            )
        raise problem.error(f"Field {name!r} refused the value from {writer}: {problem.reason}.")

    def reduce(self, name: str, current: Any, update: Any, writer: Callable[[], str], *, owned: bool) -> Any:
        """What a merging field holds after an update. What a user's reducer raises passes through with a note."""
        field = self.by_name[name]
        try:
            return field.merge(current, update, owned=owned)
        except Exception as error:
            error.add_note(
                f"raised by the reducer {named(field.reducer)} of field {name!r}, for the update of {writer()}"
            )
            raise

    def finish(self, name: str, merged: Any, writer: Callable[[], str]) -> tuple[Any, Json] | None:
        """Check a merged value as a whole; see `Field.finish`."""
        try:
            return self.by_name[name].finish(merged)
        except Unfit as found:
            problem = found
        raise problem.error(f"Field {name!r} refused the value merged from the update of {writer()}: {problem.reason}.")

    def read_update(self, patch: Patch) -> dict[str, Any]:
        """The typed values that a recorded patch tells; fields that are gone are left out."""
        values: dict[str, Any] = {}
        for operation, writes in patch.items():
            for name, stored in writes.items():
                if self.has(name):
                    values[name] = self._read(name, operation, stored)
        return values

    def read_whole(self, stored: Mapping[str, Json]) -> dict[str, Any]:
        """The typed values of stored fields; fields that are gone are left out."""
        return {name: self._read(name, None, value) for name, value in stored.items() if self.has(name)}

    def _read(self, name: str, operation: str | None, stored: Json) -> Any:
        field = self.of(name)
        if type(stored) in field.scalars and operation in (None, SET):
            return stored
        try:
            return field.whole.read(stored) if operation is None else field.read(operation, stored)
        except Unfit as found:
            reason = found.reason
        raise GraphChangedError(
            f"What is stored of field {name!r} does not fit {self.name} any more: {reason}. Give the field its old type "
            "back, or start another thread."
        )

    def with_defaults(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The values in the order declared, with a fresh default for each that is not given and has one."""
        values: dict[str, Any] = {}
        for name, field in self.by_name.items():
            if name in given:
                values[name] = given[name]
            elif field.default is not None:
                values[name] = self._default(field, field.default, values)
        return values

    def _default(self, field: Field, make: Callable[[Mapping[str, Any]], Any], values: Mapping[str, Any]) -> Any:
        try:
            return make(
                {name: self.by_name[name].copy(value) for name, value in values.items()} if field.derived else {}
            )
        except Unfit as found:
            problem = found
        raise problem.error(f"The default of field {field.name!r} of {self.name} was refused: {problem.reason}.")

    def missing(self, values: Mapping[str, Any]) -> list[str]:
        """The fields that must be given and are not there."""
        return [name for name, field in self.by_name.items() if field.required and name not in values]


def named(reducer: Callable[..., Any]) -> str:
    """What to call a reducer in a message."""
    return getattr(reducer, "__name__", type(reducer).__name__)
