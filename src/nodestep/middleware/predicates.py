"""Predicates over the arguments of a tool call, for `InterruptRule(match=...)` and `@tool(needs_approval=...)`.

Each says whether an argument is what it names. Where that cannot be said it raises, and whoever decides about the call
takes an error for a match, so that what is unclear is asked.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Predicate: TypeAlias = Callable[[Mapping[str, Any]], bool]
"""Takes the arguments of a call by name. `True`: the call is asked for."""

MATCH_TIMEOUT_S = 0.2
"""How long one regular expression may take with one argument."""


def gt(field: str, limit: Any) -> Predicate:
    """Whether the argument is greater than `limit`. Numbers compare with numbers and text with text.

    The predicate raises LookupError for a missing argument, TypeError for any other type (a `bool` is no number),
    ValueError for NaN.
    """
    return _ordered(field, limit, operator.gt, "greater than")


def ge(field: str, limit: Any) -> Predicate:
    """Whether the argument is at least `limit`. Raises as `gt` does."""
    return _ordered(field, limit, operator.ge, "at least")


def lt(field: str, limit: Any) -> Predicate:
    """Whether the argument is less than `limit`. Raises as `gt` does."""
    return _ordered(field, limit, operator.lt, "less than")


def le(field: str, limit: Any) -> Predicate:
    """Whether the argument is at most `limit`. Raises as `gt` does."""
    return _ordered(field, limit, operator.le, "at most")


def eq(field: str, expected: Any) -> Predicate:
    """Whether the argument equals `expected`, a JSON value.

    The predicate raises LookupError for a missing argument, TypeError for one of another type (a `bool` is no number;
    `None` compares with everything), ValueError for NaN.
    """
    kind = None if expected is None else _kind(expected)
    _check_comparable(field, expected)

    def equal(arguments: Mapping[str, Any]) -> bool:
        value = _argument(arguments, field)
        _check_comparable(field, value)
        if expected is None:
            return value is None
        if _kind(value) != kind:
            raise TypeError(f"argument {field!r} is {_named(value)}, and eq compares it with {_named(expected)}")
        return bool(value == expected)

    return _told(equal, f"eq({field!r}, {expected!r})")


def matches(field: str, pattern: str) -> Predicate:
    """Whether a regular expression is found anywhere in a text argument; anchor it with `^` and `\\Z` to match it whole.

    Raises ValueError for a pattern that is none. The predicate raises LookupError for a missing argument, TypeError for
    one that is no text, TimeoutError where the search takes longer than 0.2 seconds.
    """
    search = _search(field, pattern)
    return _told(search, f"matches({field!r}, {pattern!r})")


def all_fields(patterns: Mapping[str, str] | None = None, /, **more: str) -> Predicate:
    """Whether every argument matches its pattern, as in `all_fields(host="prod", user="root")` or with a dict.

    Every pattern is looked at, whatever the others say. Raises as `matches` does; the predicate raises ValueError where
    there are no patterns.
    """
    return _every_field("all_fields", all, {**(patterns or {}), **more})


def any_field(patterns: Mapping[str, str] | None = None, /, **more: str) -> Predicate:
    """Whether at least one argument matches its pattern. Every pattern is looked at; raises as `all_fields` does."""
    return _every_field("any_field", any, {**(patterns or {}), **more})


def _every_field(name: str, combine: Callable[[list[bool]], bool], patterns: dict[str, str]) -> Predicate:
    searches = [_search(field, pattern) for field, pattern in patterns.items()]

    def found(arguments: Mapping[str, Any]) -> bool:
        if not searches:
            raise ValueError(f"{name} has no patterns. Give it some, as in {name}(host='prod').")
        return combine([search(arguments) for search in searches])

    return _told(found, f"{name}({patterns!r})")


def _ordered(field: str, limit: Any, compare: Callable[[Any, Any], Any], words: str) -> Predicate:
    if _kind(limit) not in ("number", "text"):
        raise TypeError(f"A limit is a number or a text, not {_named(limit)}.")
    _check_comparable(field, limit)

    def holds(arguments: Mapping[str, Any]) -> bool:
        value = _argument(arguments, field)
        if _kind(value) != _kind(limit):
            raise TypeError(f"argument {field!r} is {_named(value)}, and its limit is {_named(limit)}")
        _check_comparable(field, value)
        return bool(compare(value, limit))

    return _told(holds, f"{field} {words} {limit!r}")


def _search(field: str, pattern: str) -> Predicate:
    import regex  # loaded on first use: most programs have no patterns

    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"The pattern {pattern!r} for argument {field!r} is no regular expression: {error}.") from None

    def search(arguments: Mapping[str, Any]) -> bool:
        value = _argument(arguments, field)
        if not isinstance(value, str):
            raise TypeError(f"argument {field!r} is {_named(value)}, and a pattern looks at text")
        return compiled.search(value, timeout=MATCH_TIMEOUT_S) is not None

    return search


def _argument(arguments: Mapping[str, Any], field: str) -> Any:
    if field not in arguments:
        raise LookupError(f"there is no argument {field!r}")
    return arguments[field]


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "text"
        case _:
            return type(value).__name__


def _named(value: Any) -> str:
    kind = _kind(value)
    return f"a {kind}" if value is not None else "None"


def _check_comparable(field: str, value: Any) -> None:
    """Refuse NaN, which equals nothing and is neither more nor less than anything, wherever it stands in a value."""
    match value:
        case float() if math.isnan(value):
            raise ValueError(f"argument {field!r} is NaN, or holds it, and NaN does not compare")
        case list():
            for item in value:
                _check_comparable(field, item)
        case dict():
            for item in value.values():
                _check_comparable(field, item)


def _told(predicate: Predicate, text: str) -> Predicate:
    """The predicate under a name that says what it asks."""
    predicate.__name__ = predicate.__qualname__ = text
    return predicate
