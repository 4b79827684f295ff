"""Decisions about questions, as an account of them: what was answered, by whom, when, why and from where."""

from __future__ import annotations

from typing import Any, Final

from ..model.records import AnswerRecord
from .questions import MAIN
from .safe_text import cut, name, shown, shown_lines
from .screen import Screen
from .times import iso, to_the_second
from .values import described

NOTE_CHARACTERS: Final = 1000
NOTE_LINES: Final = 10

_FROM: Final = {
    "api": "from a program",
    "cli": "from the command line",
    "page": "from the page",
    "hook": "by a hook",
    "expiry": "by its deadline",
    "type": "by the type of its answer",
}


def show_decision(screen: Screen, decision: AnswerRecord, *, with_thread: bool) -> None:
    """The decision on a row, and its note behind bars."""
    where = ""
    if with_thread:
        where = f"{name(decision.thread_id)}  "
    if decision.branch_id != MAIN:
        where += f"branch {name(decision.branch_id)}  "
    by = "" if decision.by is None else f", by {name(decision.by)}"
    source = _FROM.get(decision.source) or f"from {name(decision.source)}"
    pause = "" if decision.pause is None else f", pause {decision.pause}"
    screen.say(
        (f"  {to_the_second(decision.at)}  ", "dim"),
        where,
        (name(decision.key), "bold"),
        f" = {described(decision.value)}{by}, {source}{pause}",
    )
    if decision.rejected is not None:
        screen.say("    ", ("rejected", "bold red"), f": {shown(decision.rejected)}")
    if decision.note is not None:
        head, hidden = cut(decision.note, characters=NOTE_CHARACTERS, lines=NOTE_LINES)
        screen.quote(shown_lines(head + ("..." if hidden else "")), indent="    ")


def decision_to_json(decision: AnswerRecord) -> dict[str, Any]:
    """The decision for a program."""
    return {
        "thread_id": decision.thread_id,
        "branch_id": decision.branch_id,
        "key": decision.key,
        "value": decision.value,
        "source": decision.source,
        "by": decision.by,
        "note": decision.note,
        "pause": decision.pause,
        "rejected": decision.rejected,
        "at": iso(decision.at),
    }
