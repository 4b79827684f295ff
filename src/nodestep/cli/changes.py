"""What differs between two states as stored: fields added, removed and changed, down to the value that differs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from ..model.json import Json
from .safe_text import cut, shown_json, shown_lines
from .screen import Screen

VALUE_CHARACTERS: Final = 200
ONE_ROW: Final = 60
"""Two values that together are no longer stand on one row."""
COMPARED_LINES: Final = 500
"""Texts of more lines are shown whole rather than line by line, since comparing costs the square of them."""

_BARE_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
Path: TypeAlias = tuple[str | int, ...]


class What(StrEnum):
    """What became of a value."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `path` leads to it by keys and places in lists; a list's place is the one after the change, that of
    something removed the one before. What was added has no `before`, what was removed no `after`."""

    path: Path
    what: What
    before: Json = None
    after: Json = None

    def to_json(self) -> dict[str, Any]:
        """The change for a program."""
        told: dict[str, Any] = {"path": list(self.path), "change": self.what.value}
        if self.what is not What.ADDED:
            told["before"] = self.before
        if self.what is not What.REMOVED:
            told["after"] = self.after
        return told


def changes(before: Json, after: Json, path: Path = ()) -> Iterator[Change]:
    """The differences in the order of the older value, what is new last."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if key not in after:
                yield Change((*path, key), What.REMOVED, before=value)
            else:
                yield from changes(value, after[key], (*path, key))
        yield from (Change((*path, key), What.ADDED, after=after[key]) for key in after if key not in before)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _in_lists(before, after, path)
    elif not _same(before, after):
        yield Change(path, What.CHANGED, before, after)


def _in_lists(before: list[Json], after: list[Json], path: Path) -> Iterator[Change]:
    """What both begin and end with is left out; of the rest, what stands at the same place is compared."""
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if not _same(before[at], after[at])), shorter)
    left = shorter - head
    tail = next((at for at in range(left) if not _same(before[-1 - at], after[-1 - at])), left)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    for at in range(max(len(old), len(new))):
        place = (*path, head + at)
        if at >= len(new):
            yield Change(place, What.REMOVED, before=old[at])
        elif at >= len(old):
            yield Change(place, What.ADDED, after=new[at])
        else:
            yield from changes(old[at], new[at], place)


def _same(before: Json, after: Json) -> bool:
    """Equal as JSON: `true` is not 1, and 1 is not 1.0."""
    if type(before) is not type(after):
        return False
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(_same(value, after[key]) for key, value in before.items())
    if isinstance(before, list):
        return len(before) == len(after) and all(map(_same, before, after))
    return bool(before == after)


def shown_path(path: Path) -> str:
    """A path as one would write it: `order.items[0]`; a key that is no plain name stands in brackets."""
    told = ""
    for step in path:
        if isinstance(step, int):
            told += f"[{step}]"
        elif _BARE_KEY.fullmatch(step):
            told += f".{step}" if told else step
        else:
            told += f"[{_short(step)}]"
    return told or "the state"


def show_changes(screen: Screen, found: Sequence[Change]) -> None:
    """Each change on a row, or below one where the values are long."""
    for change in found:
        where = (shown_path(change.path), "bold")
        style = {What.ADDED: "green", What.REMOVED: "red", What.CHANGED: "yellow"}[change.what]
        lead = ("  ", (f"{change.what.value:7}", style), "  ", where)
        rows = _rows(change)
        if len(rows) == 1:
            screen.say(*lead, "  ", rows[0])
        else:
            screen.say(*lead)
            screen.quote(rows, indent="    ")


def _rows(change: Change) -> list[str]:
    match change.what:
        case What.ADDED:
            return [_short(change.after)]
        case What.REMOVED:
            return [_short(change.before)]
    texts = _line_by_line(change.before, change.after)
    if texts:
        return texts
    before, after = _short(change.before), _short(change.after)
    return [f"{before} -> {after}"] if len(before) + len(after) <= ONE_ROW else [f"- {before}", f"+ {after}"]


def _line_by_line(before: Json, after: Json) -> list[str]:
    """How a text of several lines changed, with a line of the others around."""
    if not isinstance(before, str) or not isinstance(after, str) or "\n" not in before + after:
        return []
    old, new = before.split("\n"), after.split("\n")
    if max(len(old), len(new)) > COMPARED_LINES:
        return []
    compared = list(difflib.unified_diff(old, new, lineterm="", n=1))[3:]
    return [f"{row[:1]} {shown_lines(row[1:])[0]}" if row[:1] != "@" else "..." for row in compared]


def _short(value: Json) -> str:
    head, hidden = cut(shown_json(value), characters=VALUE_CHARACTERS, lines=1)
    return f"{head}... ({hidden:,} more characters)" if hidden else head
