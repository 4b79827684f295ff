"""A page of a longer list."""

from __future__ import annotations

from typing import Generic, TypeVar

from .value import locked_value

T = TypeVar("T")


@locked_value
class Page(Generic[T]):
    """`items` in order; `next` is what to pass as `after=` for the page that follows, `None` on the last."""

    items: tuple[T, ...]
    next: str | None = None
