"""`nodestep cancel`: ends a thread where it stands. Imports no graph."""

from __future__ import annotations

from typing import Annotated

import typer

from ...people import upkeep
from ..files import open_existing
from ..look import look_at
from ..options import AsJson, Branch, Named, Store
from ..questions import MAIN
from ..safe_text import name
from ..telling import telling


def cancel(
    thread: Named,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept in the history of the thread.")
    ] = None,
    store: Store = None,
    branch: Branch = MAIN,
    as_json: AsJson = False,
) -> None:
    """End a thread where it stands, and close its questions.

    A run that works on it right now stops at its next write. What happened stays in history, and a new input starts another
    turn.
    """
    with telling(as_json=as_json) as screen, open_existing(store) as opened:
        before = look_at(opened, thread, branch)
        upkeep.cancel(opened, thread, branch, reason=reason)
        closed = [question.key for question in (*before.waiting, *before.expired)]
        if as_json:
            status = look_at(opened, thread, branch).status.value
            screen.document({"thread_id": thread, "branch_id": branch, "status": status, "closed": closed})
            return
        where = "" if branch == MAIN else f", branch {name(branch)}"
        screen.say(("cancelled", "bold green"), f"  thread {name(thread)}{where}")
        if closed:
            screen.say(f"  closed: {', '.join(map(name, closed))}")
        if before.head.live:
            screen.say("  a run works on it; it stops at its next write")
