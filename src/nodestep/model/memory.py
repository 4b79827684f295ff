"""What middleware keeps in a thread: a JSON dict for each class, and changes of them as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

from .json import JsonObject

Memory: TypeAlias = Mapping[str, JsonObject]
"""The dicts by the name of their middleware's class."""
NO_MEMORY: Memory = MappingProxyType({})
MemoryChange: TypeAlias = Mapping[str, JsonObject]
"""By class name: `set` has the keys that were written, `remove` those that are gone. Empty where nothing changed."""


def change_between(before: Memory, after: Memory) -> MemoryChange:
    """What makes of the first the second; classes that `after` does not name are left as they are."""
    change: dict[str, JsonObject] = {}
    for name, held in after.items():
        old = before.get(name, {})
        written = {key: value for key, value in held.items() if key not in old or old[key] != value}
        removed = [key for key in old if key not in held]
        if written or removed:
            change[name] = {"set": written, "remove": removed}
    return change


def changed(memory: Memory, change: MemoryChange) -> Memory:
    """The memory after a change."""
    if not change:
        return memory
    after = dict(memory)
    for name, of_class in change.items():
        kept = {key: value for key, value in after.get(name, {}).items() if key not in of_class["remove"]}
        after[name] = {**kept, **of_class["set"]}
    return after


def changed_keys(change: MemoryChange) -> Iterator[tuple[str, str]]:
    """Every key that a change writes or removes, with its class."""
    for name, of_class in change.items():
        for key in (*of_class["set"], *of_class["remove"]):
            yield name, key
