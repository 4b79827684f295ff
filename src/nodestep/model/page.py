"""A page of a longer list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """`items` in order; `next` is what to pass as `after=` for the page that follows, `None` on the last."""

    items: tuple[T, ...]
    next: str | None = None
