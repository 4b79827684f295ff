"""`ctx.memory` while a task or a hook of its graph works on it: copies, whose difference is what is recorded."""

from __future__ import annotations

from ..model.json import JsonObject
from ..model.limits import own_json, to_json
from ..model.memory import Memory, MemoryChange, change_between, changed


class WorkingMemory:
    """The memory of a frame as one task changes it. `take` is for what is recorded while the task goes on."""

    def __init__(self, before: Memory) -> None:
        self._before = before
        self._taken = before
        self._held: dict[str, JsonObject] = {}

    def of(self, name: str) -> JsonObject:
        """The dict of a middleware's class, to be changed in place."""
        held = self._held.get(name)
        if held is None:
            held = self._held.setdefault(name, own_json(self._taken.get(name, {})))
        return held

    def adopt(self, change: MemoryChange) -> None:
        """Take in what was recorded for a part of the task before."""
        self._taken = changed(self._taken, change)
        self._held = {**self._held, **{name: own_json(self._taken[name]) for name in change}}

    def take(self) -> MemoryChange:
        """What changed since the last time, to be recorded now."""
        now = self._as_json()
        change = change_between(self._taken, now)
        self._taken = {**self._taken, **now}
        return change

    def change(self) -> MemoryChange:
        """All that changed since the task began, parts that were recorded included."""
        return change_between(self._before, {**self._taken, **self._as_json()})

    def _as_json(self) -> dict[str, JsonObject]:
        return {name: to_json(held, f"ctx.memory of {name}") for name, held in self._held.items()}
