"""A value of one annotation on its way in, to JSON, and back.

What comes in is validated by pydantic (lax unless the model says strict), turned into JSON, read back, and must come back
equal with the same types: what a store would lose is refused at once, with or without a store. The value that came back
is the one that is kept, so a running graph and a reloaded one hold the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, PydanticUserError, ValidationError
from pydantic_core import PydanticSerializationError

from ..errors import StateStoreError, StateUpdateError, a
from .annotations import Reading, says_more
from .canonical import decode, encode
from .copying import own_copy, same, same_json
from .frozen_shapes import FrozenShape, frozen_shape_of
from .json import Json
from .limits import NotJson, Unfit, holds_secret, own_json
from .locks import cached_property
from .misfits import UNREADABLE, difference, explain
from .shapes import Shape, shape_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# fmt: off
_PLAIN_CONFIG = frozenset({
    "title", "extra", "frozen", "strict", "arbitrary_types_allowed", "use_attribute_docstrings",
    "use_enum_values", "alias_generator", "populate_by_name", "validate_by_name", "validate_by_alias",
    "serialize_by_alias", "loc_by_alias", "validate_assignment", "validate_default", "revalidate_instances",
    "from_attributes", "protected_namespaces", "json_schema_extra", "defer_build", "hide_input_in_errors",
    "coerce_numbers_to_str", "ser_json_bytes", "val_json_bytes", "ser_json_timedelta",
})
# fmt: on
"""Settings of a model under which a value of plain JSON still is its own JSON form."""


class Converter:
    """The way in, to JSON and back for one annotation. `metadata` are the marks that pydantic must see; `config` is that
    of the model that declares the field.

    Every method raises Unfit, which says the kind of error and the reason but knows neither field nor writer.
    """

    def __init__(self, annotation: Any, metadata: list[Any], config: ConfigDict | None = None) -> None:
        self.annotation = annotation
        self.metadata = [mark for mark in metadata if says_more(mark)]
        self.config = config
        plain = not self.metadata and _PLAIN_CONFIG.issuperset(config or {})
        self.shape: Shape | None = shape_of(annotation) if plain else None
        self._is_plain = plain

    @cached_property
    def reading(self) -> Reading:
        """What the annotation holds: secrets, validators, names."""
        return Reading(self.annotation, self.metadata)

    @cached_property
    def _frozen(self) -> FrozenShape | None:
        return frozen_shape_of(self.annotation) if self._is_plain else None

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Pydantic's validator and serializer. Raises what pydantic raises for a type it does not know."""
        annotated: Any = Annotated[(self.annotation, *self.metadata)] if self.metadata else self.annotation
        from pydantic import TypeAdapter

        config = {key: value for key, value in (self.config or {}).items() if key != "title"}
        if not config:
            return TypeAdapter(annotated)
        try:
            return TypeAdapter(annotated, config=ConfigDict(**config))  # type: ignore[typeddict-item]
        except PydanticUserError as error:
            if error.code != "type-adapter-config-unused":
                raise
        return TypeAdapter(annotated)

    def take(self, value: Any) -> tuple[Any, Json]:
        """The value validated, as the own copy that is kept and as its JSON."""
        shape = self.shape
        if shape is None:
            return self._taken(value)
        try:
            own = shape.own(value)
        except NotJson:
            own = self._own(shape, self._validated(value))
        return own, own

    def _taken(self, value: Any) -> tuple[Any, Json]:
        if self._frozen is not None:
            try:
                return self._frozen.take(value)
            except NotJson:
                pass
        return self._there_and_back(self._validated(value))

    def read(self, stored: Json) -> Any:
        """The value that a stored JSON stands for."""
        if self.shape is not None:
            try:
                return self.shape.own(stored)
            except NotJson:
                pass
        return self._told(self._from_json, encode(stored))

    def dump(self, value: Any) -> Json:
        """The JSON of a value that `take` or `read` returned, to be read and not changed: it may be that very value."""
        return value if self.shape is not None else decode(self._to_json(value))

    def copy(self, value: Any) -> Any:
        """A copy of such a value that shares nothing that can change."""
        return own_copy(value) if self.shape is None else self.shape.copy(value)

    def same(self, one: Any, other: Any) -> bool:
        """Whether two such values are the same to every reader."""
        if self.shape is None:
            return same(one, other)
        if self.shape.by_equality and type(one) is type(other):
            return bool(one == other)
        return same_json(one, other)

    def check(self, value: Any) -> None:
        """Check the constraints on a value whose parts are known to fit."""
        if not self.same(self._validated(value), value):
            raise Unfit(
                StateUpdateError,
                "a validator of the whole field changes the merged value, and with this reducer it may only check it; write "
                "a reducer of your own to change it",
            )

    def _validated(self, value: Any) -> Any:
        return self._told(lambda value: self.adapter.validate_python(value), value)

    def _told(self, validate: Callable[..., Any], value: Any) -> Any:
        try:
            return validate(value)
        except ValidationError as found:
            reason = explain(found, self.reading.names)
        except PydanticUserError as found:
            if self.shape is None or found.code != "typed-dict-version":
                raise
            reason = (
                "Input should have the declared types exactly; to convert values declare typing_extensions.TypedDict"
            )
        except RecursionError:
            reason = "it is nested too deep, or holds itself"
        raise Unfit(StateUpdateError, reason)

    def _own(self, shape: Shape, value: Any) -> Json:
        try:
            return shape.own(value)
        except NotJson as found:
            name = found.type_name
        if holds_secret(value):
            raise self._secret()
        raise Unfit(
            StateStoreError,
            f"{a(name)} in it is not what the annotation says, and would not come back from JSON as one; annotate the field "
            "with that type, or use JSON values",
        )

    def _there_and_back(self, value: Any) -> tuple[Any, Json]:
        if self.reading.secret and holds_secret(value):
            raise self._secret()
        text = self._to_json(value)
        stored = self._decoded(text)
        try:
            back = self._from_json(text)
        except ValidationError:
            back = UNREADABLE
        if same(back, value):
            return back, stored
        raise self._lost(value, back)

    def _to_json(self, value: Any) -> bytes:
        try:
            return self.adapter.dump_json(value, round_trip=True, by_alias=False, warnings="error")
        except (PydanticSerializationError, ValueError, TypeError, RecursionError):
            pass
        if holds_secret(value):
            raise self._secret()
        raise Unfit(
            StateStoreError,
            "it holds something that has no JSON form of its declared type, such as a function, an open file, bytes that "
            "are no text, or an object of another class",
        )

    def _from_json(self, text: bytes) -> Any:
        return self.adapter.validate_json(text, by_alias=False, by_name=True)

    def _decoded(self, text: bytes) -> Json:
        try:
            return own_json(decode(text))
        except ValueError:
            pass
        raise Unfit(StateStoreError, "its JSON form is not JSON: a number in it is NaN or infinite")

    def _secret(self) -> Unfit:
        return Unfit(
            StateUpdateError,
            "it holds a secret, and secrets are never stored; pass it as context=, or keep it outside and store its name",
        )

    def _lost(self, value: Any, back: Any) -> Unfit:
        if holds_secret(value):
            return self._secret()
        if self.reading.validators and (back is UNREADABLE or not self._stable(back)):
            return Unfit(
                StateUpdateError,
                "its validators do not agree with themselves: run on the stored form they give another value; a validator "
                "of a state field must leave what it has already validated as it is",
            )
        return Unfit(
            StateStoreError,
            f"it would not come back from JSON as it was ({difference(value, back)}); annotate the field with the type that "
            "it holds",
        )

    def _stable(self, value: Any) -> bool:
        try:
            return same(self._from_json(self._to_json(value)), value)
        except (ValidationError, Unfit):
            return False
