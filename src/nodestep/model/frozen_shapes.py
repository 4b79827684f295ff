"""Annotations that say frozen models of plain JSON, such as a list of messages.

A value that is exactly what such an annotation says needs no validation by pydantic and no way to JSON and back. One walk
checks it, checks the limits and makes its JSON; what can never change is kept as it is.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from msgspec import Struct
from pydantic import AfterValidator, BaseModel
from pydantic.fields import FieldInfo

from .annotations import split
from .copying import MODEL
from .frozen import FrozenDict, FrozenList, frozen
from .json import Json
from .limits import MAX_DEPTH, NotJson, own_json
from .model_views import instances
from .shapes import Shape, shape_of

Take: TypeAlias = Callable[[Any], tuple[Any, Json]]


class FrozenShape(Struct, frozen=True):
    """`take` returns the value to keep and its JSON. It raises NotJson for a value that has not the shape exactly, Unfit for
    one beyond a limit. `kinds` are the exact types that a value may have, none where that is not enough to tell; `words`
    are the texts that a Literal allows."""

    take: Take
    kinds: frozenset[type]
    words: frozenset[str] = frozenset()


def frozen_shape_of(annotation: Any, depth: int = MAX_DEPTH, inside: tuple[Any, ...] = ()) -> FrozenShape | None:
    """The shape that the annotation says, `None` where it says more than frozen models of plain JSON. `depth` is how many
    levels its JSON may have; `inside` are the models around it, of which none may come again."""
    annotation, marks = split(annotation)
    if marks == [AfterValidator(frozen)] and annotation == dict[str, Any]:
        return _frozen_json(depth)
    if not all(map(_only_tells_apart, marks)):
        return None
    if hasattr(annotation, MODEL):
        return None if annotation in inside else _model(annotation, depth, inside)
    plain = shape_of(annotation, depth)
    if plain is not None:
        return _scalar(plain, annotation) if plain.is_scalar else None
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        item = frozen_shape_of(arguments[0], depth - 1, inside)
        return None if item is None else _items_of(origin, item)
    if origin is Union or origin is types.UnionType:
        return _union([frozen_shape_of(each, depth, inside) for each in arguments])
    return None


def _only_tells_apart(mark: Any) -> bool:
    """Whether a mark does no more than say by which field the models of a union are told apart."""
    return isinstance(mark, FieldInfo) and mark.discriminator is not None and not mark.metadata


def _frozen_json(depth: int) -> FrozenShape:
    def take(value: Any) -> tuple[Any, Json]:
        if not _never_changes(value):
            raise NotJson(value)
        return value, own_json(value, depth)

    return FrozenShape(take, frozenset({FrozenDict}))


def _never_changes(value: Any) -> bool:
    kind = type(value)
    if kind is dict or kind is list:
        return False
    items = value.values() if kind is FrozenDict else value if kind is FrozenList else ()
    return all(map(_never_changes, items))


def _scalar(shape: Shape, annotation: Any) -> FrozenShape:
    own, choices = shape.own, get_args(annotation) if get_origin(annotation) is Literal else ()
    words = frozenset(each for each in choices if type(each) is str and each.isascii() and "\0" not in each)
    return FrozenShape(lambda value: (value, own(value)), shape.scalars, words)


def _items_of(kind: type[list[Any]] | type[tuple[Any, ...]], item: FrozenShape) -> FrozenShape:
    take_item = item.take

    def take(value: Any) -> tuple[Any, Json]:
        if type(value) is not kind:
            raise NotJson(value)
        taken = list(map(take_item, value))
        return kind([own for own, _ in taken]), [stored for _, stored in taken]

    return FrozenShape(take, frozenset({kind}))


def _union(members: list[FrozenShape | None]) -> FrozenShape | None:
    by_kind: dict[type, Take] = {}
    for member in members:
        if member is None or not member.kinds or not member.kinds.isdisjoint(by_kind):
            return None
        by_kind.update(dict.fromkeys(member.kinds, member.take))

    def take(value: Any) -> tuple[Any, Json]:
        member = by_kind.get(type(value))
        if member is None:
            raise NotJson(value)
        return member(value)

    return FrozenShape(take, frozenset(by_kind))


def _model(model: Any, depth: int, inside: tuple[Any, ...]) -> FrozenShape | None:
    fields = _fields(model, depth, inside) if _is_plain(model) else None
    if fields is None:
        return None
    names, instance = list(fields), instances(model)
    takes = {name: shape.take for name, shape in fields.items()}
    text = {name for name, shape in fields.items() if str in shape.kinds}
    nothing = {name for name, shape in fields.items() if type(None) in shape.kinds}
    words = {name: shape.words for name, shape in fields.items()}

    def take(value: Any) -> tuple[Any, Json]:
        if type(value) is not model or value.__pydantic_extra__:
            raise NotJson(value)
        held = value.__dict__
        if list(held) != names:
            raise NotJson(value)
        stored: dict[str, Json] = {}
        changed: dict[str, Any] = {}
        for name, part in held.items():
            if part is None and name in nothing:
                stored[name] = None
            elif type(part) is str and ((name in text and part.isascii() and "\0" not in part) or part in words[name]):
                stored[name] = part
            else:
                own, stored[name] = takes[name](part)
                if own is not part:
                    changed[name] = own
        if changed or len(value.__pydantic_fields_set__) < len(names):
            return instance({**held, **changed}), stored
        return value, stored

    return FrozenShape(take, frozenset({model}))


def _fields(model: Any, depth: int, inside: tuple[Any, ...]) -> dict[str, FrozenShape] | None:
    fields: dict[str, FrozenShape] = {}
    for name, info in model.__pydantic_fields__.items():
        excluded = info.exclude or getattr(info, "exclude_if", None)
        shape = None if excluded else frozen_shape_of(info.rebuild_annotation(), depth - 1, (*inside, model))
        if shape is None:
            return None
        fields[name] = shape
    return fields


_PLAIN_CONFIG: Final = frozenset({"frozen", "extra", "title"})
_PLAIN_METHODS: Final = ("__init__", "__new__", "__setattr__", "model_post_init", "__get_pydantic_core_schema__")


def _is_plain(model: Any) -> bool:
    """Whether instances never change, and pydantic reads and writes them field by field and does nothing else."""
    config, decorators = model.model_config, model.__pydantic_decorators__
    written = [name for base in model.__mro__ if base not in (BaseModel, object) for name in vars(base)]
    return (
        bool(config.get("frozen"))
        and config.get("extra") != "allow"
        and _PLAIN_CONFIG.issuperset(config)
        and not model.__pydantic_root_model__
        and not model.__private_attributes__
        and not any(getattr(decorators, kind) for kind in decorators.__slots__)
        and not any(name in written for name in _PLAIN_METHODS)
    )
