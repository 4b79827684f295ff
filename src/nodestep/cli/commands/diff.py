"""`nodestep diff`: what changed in the state between two events. Imports no graph."""

from __future__ import annotations

from typing import Annotated

import typer

from ...people.reading import load_branch
from ...stores.base import StateStore
from ..changes import changes, show_changes
from ..events import branch_of
from ..files import open_existing
from ..look import look_at
from ..options import AsJson, Named, Store
from ..safe_text import name
from ..telling import telling


def diff(
    thread: Named,
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="The older state: an id that history printed.", show_default=False)
    ],
    other: Annotated[
        str | None,
        typer.Argument(metavar="[EVENT]", help="The newer state; without it the state now.", show_default=False),
    ] = None,
    store: Store = None,
    branch: Annotated[
        str | None,
        typer.Option(
            "--branch", metavar="ID", help="Whose state now, where one event is given; else that event's branch."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what changed in the state between two events of a thread, field by field.

    The events may be of different branches: their ids say which. An event inside a commit stands for the commit before it.
    """
    with telling(as_json=as_json) as screen, open_existing(store) as opened:
        before = _state_at(opened, thread, event)
        if other is None:
            look = look_at(opened, thread, branch or branch_of(opened, thread, event))
            other, after = look.last_event, look.state
        else:
            after = _state_at(opened, thread, other)
        found = list(changes(before, after))
        if as_json:
            told = {"thread_id": thread, "from": event, "to": other, "changes": [change.to_json() for change in found]}
            screen.document(told)
            return
        what = "nothing changed" if not found else "1 change" if len(found) == 1 else f"{len(found)} changes"
        screen.say(f"thread {name(thread)}, from {name(event)} to {name(other)}: ", (what, "bold"))
        show_changes(screen, found)


def _state_at(store: StateStore, thread: str, event: str) -> dict[str, object]:
    state: dict[str, object] = load_branch(store, thread, branch_of(store, thread, event), event).checkpoint.state
    return state
