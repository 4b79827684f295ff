"""Annotations that say plain JSON: `str`, `list[int]`, `dict[str, Any]`, `float | None`, a TypedDict of these.

A value that has such a shape exactly is its own JSON form: it needs no validation by pydantic, no conversion and no way
back. One walk checks it, checks the limits and makes the own copy.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, Union, get_args, get_origin

from msgspec import Struct
from pydantic import JsonValue
from typing_extensions import get_type_hints, is_typeddict

from .copying import copy_json
from .json import Json
from .limits import MAX_DEPTH, NotJson, check_scalar, check_text, own_json

SCALARS: Final[frozenset[type]] = frozenset({str, int, float, bool, type(None)})
_NUMBERS: Final[frozenset[type]] = frozenset({int, float, bool})


class Shape(Struct, frozen=True):
    """`own` returns the own copy of a value that has the shape exactly; it raises NotJson for another value and Unfit for
    one beyond a limit. `copy` copies a value known to have the shape. `scalars` are the exact types that are allowed
    outside a container; `flat` says that every copy is made by one C call; `by_equality`, that `==` tells any two values
    apart."""

    own: Callable[[Any], Json]
    copy: Callable[[Any], Json]
    scalars: frozenset[type] = frozenset()
    flat: bool = False
    by_equality: bool = False

    @property
    def is_scalar(self) -> bool:
        return self.copy is _itself


def shape_of(annotation: Any, depth: int = MAX_DEPTH, inside: tuple[Any, ...] = ()) -> Shape | None:
    """The shape that the annotation says, or `None` where it says more than plain JSON. `depth` is how many levels of
    containers the value may have; `inside` are the TypedDicts around it, of which none may come again."""
    if annotation is None or annotation in _SCALAR_TYPES:
        return _scalar(frozenset({type(None) if annotation is None else annotation}))
    if annotation is Any or annotation is object or annotation is JsonValue:
        return _anything(depth)
    if annotation is list or annotation is dict:
        item = _anything(depth - 1)
        return _list_of(item) if annotation is list else _dict_of(item)
    if is_typeddict(annotation):
        return None if annotation in inside else _typed_dict(annotation, depth, (*inside, annotation))
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is list:
        return _if_known(_list_of, shape_of(arguments[0], depth - 1, inside))
    if origin is dict and arguments[0] is str:
        return _if_known(_dict_of, shape_of(arguments[1], depth - 1, inside))
    if origin is Union or origin is types.UnionType:
        return _union([shape_of(argument, depth, inside) for argument in arguments])
    if origin is Literal:
        return _literal(arguments)
    return None


_SCALAR_TYPES: Final[tuple[Any, ...]] = (str, int, float, bool, type(None))


def _if_known(make: Callable[[Shape], Shape], item: Shape | None) -> Shape | None:
    return None if item is None else make(item)


def _itself(value: Any) -> Any:
    return value


def _scalar(kinds: frozenset[type]) -> Shape:
    def own(value: Any) -> Json:
        if type(value) not in kinds:
            raise NotJson(value)
        check_scalar(value)
        return value

    return Shape(own, _itself, kinds, flat=True, by_equality=len(kinds & _NUMBERS) <= 1)


def _literal(choices: tuple[Any, ...]) -> Shape | None:
    kinds = {choice: type(choice) for choice in choices}
    if len(kinds) < len(choices) or not SCALARS.issuperset(kinds.values()):
        return None

    def own(value: Any) -> Json:
        if type(value) not in SCALARS or kinds.get(value) is not type(value):
            raise NotJson(value)
        check_scalar(value)
        return value

    return Shape(own, _itself, flat=True, by_equality=True)


def _anything(depth: int) -> Shape:
    return Shape(lambda value: own_json(value, depth), copy_json, SCALARS)


def _list_of(item: Shape) -> Shape:
    own_item, copy_item, kinds = item.own, item.copy, item.scalars

    def own(value: Any) -> Json:
        if type(value) is not list:
            raise NotJson(value)
        return [own_item(each) for each in value]

    def copy(value: Any) -> Json:
        return [each if type(each) in kinds else copy_item(each) for each in value]

    if item.is_scalar:
        return Shape(own, list.copy, flat=True, by_equality=item.by_equality)
    return Shape(own, copy, by_equality=item.by_equality)


def _dict_of(item: Shape) -> Shape:
    own_item, copy_item, kinds = item.own, item.copy, item.scalars

    def own(value: Any) -> Json:
        if type(value) is not dict:
            raise NotJson(value)
        for key in value:
            if type(key) is not str:
                raise NotJson(key)
            check_text(key)
        return {key: own_item(each) for key, each in value.items()}

    def copy(value: Any) -> Json:
        return {key: each if type(each) in kinds else copy_item(each) for key, each in value.items()}

    if item.is_scalar:
        return Shape(own, dict.copy, flat=True, by_equality=item.by_equality)
    return Shape(own, copy, by_equality=item.by_equality)


def _typed_dict(declared: Any, depth: int, inside: tuple[Any, ...]) -> Shape | None:
    if hasattr(declared, "__pydantic_config__") or getattr(declared, "__closed__", None):
        return None
    try:
        hints = get_type_hints(declared)
    except (NameError, TypeError):
        return None
    fields = {name: shape_of(hint, depth - 1, inside) for name, hint in hints.items()}
    annotated = get_type_hints(declared, include_extras=True)
    if None in fields.values() or any(map(_has_metadata, annotated.values())):
        return None
    return _dict_with({name: shape for name, shape in fields.items() if shape}, declared.__required_keys__)


def _has_metadata(hint: Any) -> bool:
    return bool(getattr(hint, "__metadata__", ())) or any(map(_has_metadata, get_args(hint)))


def _dict_with(fields: Mapping[str, Shape], required: frozenset[str]) -> Shape:
    owns = {name: shape.own for name, shape in fields.items()}
    copies = {name: shape.copy for name, shape in fields.items()}

    def own(value: Any) -> Json:
        if type(value) is not dict or not owns.keys() >= value.keys() >= required:
            raise NotJson(value)
        return {name: owns[name](each) for name, each in value.items()}

    def copy(value: Any) -> Json:
        return {name: copies[name](each) for name, each in value.items()}

    by_equality = all(shape.by_equality for shape in fields.values())
    if all(shape.is_scalar for shape in fields.values()):
        return Shape(own, dict.copy, flat=True, by_equality=by_equality)
    return Shape(own, copy, by_equality=by_equality)


def _union(members: list[Shape | None]) -> Shape | None:
    known = [member for member in members if member is not None]
    scalars = [member for member in known if member.is_scalar and member.scalars]
    others = [member for member in known if not member.is_scalar]
    if len(scalars) + len(others) < len(members) or len(others) > 1:
        return None
    kinds = frozenset(kind for member in scalars for kind in member.scalars)
    scalar = _scalar(kinds)
    if not others:
        return scalar
    [container] = others
    if not container.scalars.isdisjoint(kinds) and not kinds <= container.scalars:
        return None

    def own(value: Any) -> Json:
        return scalar.own(value) if type(value) in kinds else container.own(value)

    def copy(value: Any) -> Json:
        return value if type(value) in kinds else container.copy(value)

    by_equality = scalar.by_equality and container.by_equality
    return Shape(own, copy, kinds | container.scalars, container.flat, by_equality)
