"""A state type read into fields, with everything that is wrong with it told at once.

A state is a pydantic model, a TypedDict or `dict`. A state is made and stored field by field, so what works on a whole
model (validator and serializer decorators, `model_post_init`, extra fields) is refused rather than left out in silence.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import types
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, Union, get_args, get_origin

import pydantic
from pydantic import BaseModel, PydanticUserError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo
from typing_extensions import get_type_hints, is_typeddict

from ..errors import GraphConfigError, a
from .annotations import is_reducer, reducers_inside, says_more, split
from .converters import Converter
from .fields import AddField, CustomField, Field, MergeField, MessagesField
from .limits import Unfit
from .reducers import add, add_messages, merge_dict, replace

_KINDS: Mapping[Any, type[Field]] = {add: AddField, merge_dict: MergeField, add_messages: MessagesField, replace: Field}
_HOLDS: Mapping[type[Field], tuple[type, str]] = {
    AddField: (list, "list[...]"),
    MessagesField: (list, "list[...]"),
    MergeField: (dict, "dict[str, ...]"),
}


def is_open(state_type: Any) -> bool:
    """Whether the state is a plain dict: any key, JSON values."""
    return state_type is dict or (get_origin(state_type) is dict and get_args(state_type) == (str, Any))


def declared_fields(state_type: Any) -> dict[str, Field]:
    """The fields that the state type declares, none for a plain dict. Raises GraphConfigError listing every problem."""
    problems: list[str] = []
    fields: dict[str, Field] = {}
    if isinstance(state_type, type) and issubclass(state_type, BaseModel):
        problems.extend(_model_problems(state_type))
        declared = dict(_model_fields(state_type, problems))
    elif is_typeddict(state_type):
        declared = dict(_typed_dict_fields(state_type, problems))
    elif is_open(state_type):
        return {}
    else:
        raise GraphConfigError(
            f"A state type is a pydantic model (BaseState is one), a TypedDict or dict, not {_told(state_type)}."
        )
    for name, make in declared.items():
        try:
            fields[name] = make(name)
        except _Problem as found:
            problems.append(found.text)
    if problems:
        listed = "".join(f"\n- {problem}" for problem in problems)
        raise GraphConfigError(f"The state type {state_type.__name__!r} cannot be used:{listed}")
    return fields


class _Problem(Exception):  # noqa: N818 - collected, never raised to a caller
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


_Make = Callable[[str], Field]


def _model_problems(model: type[BaseModel]) -> Iterator[str]:
    if model.__pydantic_root_model__:
        yield "it is a RootModel, which has no fields; declare a model with a field for the value"
    if model.model_config.get("extra") == "allow":
        yield 'extra="allow" accepts fields that nobody declared; declare them, or use dict as the state type'
    decorators = model.__pydantic_decorators__
    for kind, found in (
        ("validator", decorators.validators | decorators.field_validators),
        ("validator", decorators.root_validators | decorators.model_validators),
        ("serializer", decorators.field_serializers | decorators.model_serializers),
        ("computed field", decorators.computed_fields),
    ):
        for name in found:
            yield (
                f"the {kind} {name!r} would not run, since a state is made and stored field by field; " + _INSTEAD[kind]
            )
    if any(
        "model_post_init" in base.__dict__ and base.__module__ != "pydantic.main" and _own_post_init(base)
        for base in model.__mro__
    ):
        yield "model_post_init would not run, since a state is made field by field; compute the value in a node"


_INSTEAD = {
    "validator": "write it into the annotation, as in Annotated[str, AfterValidator(check)]",
    "serializer": "write it into the annotation, as in Annotated[T, PlainSerializer(...)]",
    "computed field": "make it a plain property",
}


def _own_post_init(base: type) -> bool:
    function = base.__dict__["model_post_init"]
    return getattr(function, "__name__", "") != "init_private_attributes"


def _model_fields(model: type[BaseModel], problems: list[str]) -> Iterator[tuple[str, _Make]]:
    if not model.__pydantic_complete__ and model.model_rebuild(raise_errors=False) is False:
        problems.append("one of its annotations names a type that is not defined; define it before the graph")
        return
    for name, info in model.__pydantic_fields__.items():
        if info.exclude or getattr(info, "exclude_if", None):
            problems.append(
                f"field {name!r} is excluded, so it would be lost when stored; drop exclude=, or pass it as context="
            )
        yield name, _from_model(model, info)


def _from_model(model: type[BaseModel], info: FieldInfo) -> _Make:
    def make(name: str) -> Field:
        annotation, opened = split(info.annotation)
        metadata = [*opened, *info.metadata]
        if info.discriminator is not None:
            metadata.append(pydantic.Field(discriminator=info.discriminator))
        config = model.model_config
        field = _field(name, annotation, metadata, required=info.is_required(), config=config, known=True)
        if not info.is_required():
            field.default = _default_of(field, info)
        return field

    return make


def _default_of(field: Field, info: FieldInfo) -> Callable[[Mapping[str, Any]], Any]:
    if info.default_factory is None:
        try:
            typed, _ = field.take_whole(info.default, "default")
        except Unfit as found:
            reason = found.reason
        except PydanticUserError as error:
            reason = f"{_told(field.annotation)} cannot be validated ({error.code})"
        else:
            return lambda _: field.copy(typed)
        raise _Problem(f"the default of field {field.name!r} does not fit its annotation: {reason}")

    field.derived = bool(info.default_factory_takes_validated_data)

    def fresh(values: Mapping[str, Any]) -> Any:
        made = info.get_default(call_default_factory=True, validated_data=dict(values))
        return field.take_whole(made, "default")[0]

    return fresh


def _typed_dict_fields(declared: Any, problems: list[str]) -> Iterator[tuple[str, _Make]]:
    try:
        hints = get_type_hints(declared, include_extras=True)
    except NameError as error:
        problems.append(f"an annotation names {error.name!r}, which is not defined at module level; define it there")
        return
    config = getattr(declared, "__pydantic_config__", None)
    for name, hint in hints.items():
        annotation, metadata = split(hint)
        yield name, lambda name, a=annotation, m=metadata: _field(name, a, m, required=False, config=config)  # type: ignore[misc]


def _field(
    name: str, annotation: Any, metadata: list[Any], *, required: bool, config: Any, known: bool = False
) -> Field:
    reducers = [mark for mark in metadata if is_reducer(mark)]
    if len(reducers) > 1:
        raise _Problem(f"field {name!r} has {len(reducers)} reducers, {_names(reducers)}; keep one")
    inside = list(reducers_inside(annotation))
    if inside:
        raise _Problem(
            f"field {name!r} has the reducer {_names(inside)} inside another type, where it has no effect; write "
            f"Annotated outermost: {_outermost(annotation, inside[0])}"
        )
    reducer = reducers[0] if reducers else replace
    kind = _KINDS.get(reducer, CustomField) if reducer.__hash__ else CustomField
    _check_holds(name, annotation, kind, reducer)
    marks = [mark for mark in metadata if says_more(mark)]
    whole = Converter(annotation, marks, config)
    part = Converter(annotation, [], config) if marks and kind not in (Field, CustomField) else None
    try:
        if known or whole.shape is not None:
            return kind(name, whole, part=part, reducer=reducer, required=required)
        _ = whole.adapter
    except (PydanticSchemaGenerationError, PydanticUserError, PydanticUndefinedAnnotation, TypeError) as error:
        raise _Problem(
            f"field {name!r} has a type that cannot be validated and stored, {_told(annotation)} ({type(error).__name__}); "
            "use JSON types, pydantic models, dataclasses, enums, dates and the like"
        ) from None
    return kind(name, whole, part=part, reducer=reducer, required=required)


def _outermost(annotation: Any, reducer: Any) -> str:
    """What to write for a reducer inside an annotation. The built-in ones start from nothing by themselves, so they need
    no None."""
    plain = _without_marks(annotation)
    if get_origin(plain) in (Union, types.UnionType) and _KINDS.get(reducer) in _HOLDS:
        plain = Union[tuple(member for member in get_args(plain) if member is not types.NoneType)]  # noqa: UP007
    needed = _HOLDS.get(_KINDS.get(reducer, CustomField))
    default = "" if needed is None else f", with a default such as {needed[0].__name__}"
    return f"Annotated[{_told(plain)}, {_names([reducer])}]{default}"


def _without_marks(annotation: Any) -> Any:
    annotation, _ = split(annotation)
    arguments = tuple(map(_without_marks, get_args(annotation)))
    if get_origin(annotation) in (Union, types.UnionType):
        return Union[arguments]  # noqa: UP007
    return get_origin(annotation)[arguments] if isinstance(get_origin(annotation), type) else annotation


def _check_holds(name: str, annotation: Any, kind: type[Field], reducer: Callable[..., Any]) -> None:
    """The built-in reducers work on lists and dicts, told as data; refuse what they could not tell."""
    if kind not in _HOLDS:
        return
    needed, example = _HOLDS[kind]
    arguments = get_args(annotation)
    if (get_origin(annotation) or annotation) is not needed:
        raise _Problem(
            f"field {name!r} has the reducer {reducer.__name__}, which needs {a(needed.__name__)}, not {_told(annotation)}; "
            f"write Annotated[{example}, {reducer.__name__}] and give it a default such as {needed.__name__}"
        )
    if kind is MergeField and arguments and not _tells_keys_apart(arguments[0]):
        raise _Problem(
            f"field {name!r} has the reducer merge_dict and keys of {_told(arguments[0])}, of which equal ones may differ as "
            "JSON; use keys of str, int, UUID, date, an enum or Literal"
        )
    if kind is MessagesField and arguments:
        for item in _members(arguments[0]):
            if not _has_id(item):
                raise _Problem(
                    f"field {name!r} has the reducer add_messages, and {_told(item)} has no field 'id'; declare "
                    "id: str | None = None (in a TypedDict, id: NotRequired[str])"
                )


def _tells_keys_apart(key: Any) -> bool:
    key, _ = split(key)
    return key in (str, int, Any, uuid.UUID, datetime.date) or get_origin(key) is Literal or _is_class(key, enum.Enum)


def _members(annotation: Any) -> Iterator[Any]:
    annotation, _ = split(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from _members(member)
    else:
        yield annotation


def _has_id(item: Any) -> bool:
    """Whether a message of the type can carry an id; what is neither a model, a dataclass nor a TypedDict may be a dict."""
    if is_typeddict(item):
        return "id" in item.__annotations__
    if _is_class(item, BaseModel):
        return "id" in item.__pydantic_fields__
    return not dataclasses.is_dataclass(item) or "id" in {field.name for field in dataclasses.fields(item)}


def _is_class(annotation: Any, base: type) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, base)


def _names(reducers: list[Any]) -> str:
    return ", ".join(getattr(reducer, "__name__", type(reducer).__name__) for reducer in reducers)


def _told(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) and not get_args(annotation) else str(annotation)
