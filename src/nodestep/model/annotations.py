"""What an annotation says beside its type: the reducer, constraints, validators, secrets, the names inside it.

Reads types, and knows no values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import Annotated, Any, ForwardRef, NotRequired, Required, get_args, get_origin

import annotated_types
from pydantic import BaseModel, Secret, SecretBytes, SecretStr
from pydantic.fields import FieldInfo
from pydantic.functional_validators import AfterValidator, BeforeValidator, PlainValidator, WrapValidator
from typing_extensions import ReadOnly, TypeAliasType, get_type_hints, is_typeddict

_VALIDATORS = (AfterValidator, BeforeValidator, PlainValidator, WrapValidator)
_QUALIFIERS = (Required, NotRequired, ReadOnly)
_ALIASES: tuple[type, ...] = (TypeAliasType,)
try:  # Python 3.12 has its own class for `type X = ...`
    from typing import TypeAliasType as _NativeAlias  # type: ignore[attr-defined]

    _ALIASES = (TypeAliasType, _NativeAlias)
except ImportError:
    pass


def split(annotation: Any) -> tuple[Any, list[Any]]:
    """The type and the metadata of an annotation; qualifiers like NotRequired and names given with `type` are opened."""
    metadata: list[Any] = []
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            metadata = [*annotation.__metadata__, *metadata]
            annotation = get_args(annotation)[0]
        elif origin in _QUALIFIERS:
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, _ALIASES):
            annotation = annotation.__value__  # type: ignore[attr-defined]
        elif isinstance(origin, _ALIASES):
            annotation = origin.__value__[get_args(annotation)]  # type: ignore[attr-defined]
        else:
            return annotation, metadata


def is_reducer(mark: Any) -> bool:
    """Whether an object in `Annotated` is a reducer: something to call that is neither a type nor made for pydantic."""
    return callable(mark) and not isinstance(mark, type) and not says_more(mark)


def says_more(mark: Any) -> bool:
    """Whether an object in `Annotated` changes what pydantic accepts: a constraint, a validator, a schema of its own."""
    if isinstance(mark, FieldInfo):
        return bool(mark.metadata) or mark.discriminator is not None
    return (
        isinstance(mark, annotated_types.BaseMetadata)
        or hasattr(mark, "__is_annotated_types_grouped_metadata__")
        or hasattr(mark, "__get_pydantic_core_schema__")
        or hasattr(mark, "__prepare_pydantic_annotations__")
        or isinstance(mark, _VALIDATORS)
    )


def reducers_inside(annotation: Any) -> Iterator[Any]:
    """The reducers that stand inside the annotation, where none has an effect."""
    inner, _ = split(annotation)
    for argument in get_args(inner):
        yield from (mark for mark in split(argument)[1] if is_reducer(mark))
        if not _is_alias(argument):
            yield from reducers_inside(argument)


def _is_alias(annotation: Any) -> bool:
    return isinstance(annotation, _ALIASES) or isinstance(get_origin(annotation), _ALIASES)


class Reading:
    """An annotation read to its ends, through models, dataclasses and TypedDicts: whether a secret, or a validator
    written by a user, is anywhere in it, and the names of the fields it declares."""

    def __init__(self, annotation: Any, metadata: list[Any]) -> None:
        self.secret = False
        self.validators = False
        self.names: set[str] = set()
        self._seen: set[Any] = set()
        self._read_marks(metadata)
        self._read(annotation)

    def _read(self, annotation: Any) -> None:
        annotation, metadata = split(annotation) if not _is_alias(annotation) else self._open(annotation)
        self._read_marks(metadata)
        for argument in get_args(annotation):
            if not isinstance(argument, str | int | bytes | ForwardRef):
                self._read(argument)
        declared = get_origin(annotation) or annotation
        if not isinstance(declared, type) or declared in self._seen:
            return
        self._seen.add(declared)
        if issubclass(declared, SecretStr | SecretBytes | Secret):
            self.secret = True
        self._read_members(declared)

    def _open(self, alias: Any) -> tuple[Any, list[Any]]:
        if alias in self._seen:
            return None, []
        self._seen.add(alias)
        return split(alias)

    def _read_marks(self, metadata: list[Any]) -> None:
        for mark in metadata:
            if isinstance(mark, FieldInfo):
                self._read_marks(mark.metadata)
            elif isinstance(mark, _VALIDATORS):
                self.validators = True

    def _read_members(self, declared: type) -> None:
        decorators = getattr(declared, "__pydantic_decorators__", None)
        if decorators is not None:
            self.validators |= bool(
                decorators.field_validators
                or decorators.model_validators
                or decorators.validators
                or decorators.root_validators
            )
        if issubclass(declared, BaseModel):
            for name, info in declared.__pydantic_fields__.items():
                self.names |= {
                    name,
                    *(alias for alias in (info.alias, info.validation_alias) if isinstance(alias, str)),
                }
                self._read_marks(info.metadata)
                self._read(info.annotation)
        elif is_dataclass(declared) or is_typeddict(declared):
            hints = _hints(declared)
            self.names |= set(hints) or {field.name for field in dataclass_fields(declared)}  # type: ignore[arg-type]
            for hint in hints.values():
                self._read(hint)


def _hints(declared: type) -> dict[str, Any]:
    try:
        return get_type_hints(declared, include_extras=True)
    except (NameError, TypeError):
        return {}
