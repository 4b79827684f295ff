"""JSON objects and arrays that never change, so that every copy of a value may share them."""

from __future__ import annotations

from typing import Any, NoReturn

from .json import Json, JsonObject


def _refused(*_: object, **__: object) -> NoReturn:
    raise TypeError(
        "This is a part of a message, and messages never change. Make a copy, dict(...) or list(...), and a message with it: "
        "message.model_copy(update={...})."
    )


class FrozenDict(dict[str, Any]):
    """A dict that equals, prints and encodes like any other, and refuses to be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refused

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self


class FrozenList(list[Any]):
    """A list of this kind."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = _refused
    insert = pop = remove = reverse = sort = _refused

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self


def frozen(value: JsonObject) -> JsonObject:
    """An own copy of a JSON object that never changes, all the way down."""
    return value if type(value) is FrozenDict else FrozenDict({key: _frozen(item) for key, item in value.items()})


def _frozen(value: Json) -> Json:
    if isinstance(value, dict):
        return frozen(value)
    if isinstance(value, list):
        return value if type(value) is FrozenList else FrozenList(map(_frozen, value))
    return value
