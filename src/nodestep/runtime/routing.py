"""Asking the user's routers: on a copy of the merged state, with no task in sight."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..engine.route import Choose
from ..errors import GraphExecutionError, a
from ..model.blueprint import Branch
from .frame import FrameRun


def chooser(at: FrameRun, values: dict[str, Any]) -> Choose:
    """How `engine.route` asks a router about these values."""
    return partial(_choose, at, values)


def _choose(at: FrameRun, values: dict[str, Any], branch: Branch, source: str) -> tuple[str, ...]:
    key = branch.router(at.schema.view(values))
    if branch.is_predicate and not isinstance(key, bool):
        raise GraphExecutionError(
            f"{_named(branch)} after {source!r} returned {type(key).__name__}; a predicate of when() returns True or False."
        )
    try:
        return branch.targets[key]
    except (KeyError, TypeError):
        known = ", ".join(map(repr, branch.targets))
        raise GraphExecutionError(
            f"{_named(branch)} after {source!r} returned a key that is not in its mapping: {_shown(key)}. Known keys: {known}."
        ) from None


def _named(branch: Branch) -> str:
    form, role = ("when", "predicate") if branch.is_predicate else ("branch", "router")
    return f"The {role} of {form}()" if branch.label == form else f"The {role} {branch.label!r}"


def _shown(key: Any) -> str:
    return repr(key) if isinstance(key, str | int | bool | None) and len(str(key)) <= 100 else a(type(key).__name__)
