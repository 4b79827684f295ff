"""`nodestep history`: what happened on a branch, an event a line. Imports no graph."""

from __future__ import annotations

from typing import Annotated

import typer

from ..events import detail, event_to_json, events_before
from ..files import named, open_existing
from ..options import AsJson, Branch, Limit, Named, Store
from ..questions import MAIN
from ..safe_text import name
from ..shell import command
from ..telling import telling
from ..times import to_the_second


def history(
    thread: Named,
    store: Store = None,
    branch: Branch = MAIN,
    limit: Limit = 50,
    before: Annotated[
        str | None, typer.Option("--before", metavar="EVENT", help="Those before an event, as a page's end printed it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the latest events of a branch, oldest first, each with its id.

    An id without a dot ends a commit: fork and diff take it. Events that share the number before the dot happened together.
    """
    with telling(as_json=as_json) as screen, open_existing(store) as opened:
        page = events_before(opened, thread, branch, before=before, limit=limit)
        if as_json:
            screen.document(
                {
                    "thread_id": thread,
                    "branch_id": branch,
                    "events": [event_to_json(event) for event in page.events],
                    "earlier": page.earlier,
                }
            )
            return
        if page.earlier is not None:
            own = {"--store": named(store), "--branch": None if branch == MAIN else branch}
            screen.say("Earlier events:")
            screen.type(command("history", {**own, "--limit": limit, "--before": page.earlier}, thread))
            screen.say()
        if page.pruned:
            screen.say("What came before was pruned.\n")
        if not page.events:
            screen.say(f"Nothing happened on thread {name(thread)} before that.")
            return
        width = max(len(event.id) for event in page.events)
        kinds = max(len(event.type) for event in page.events)
        for event in page.events:
            ends = "." not in event.id
            screen.row(
                (f"{event.id:{width}}", "bold" if ends else "dim"),
                (f"  {to_the_second(event.created_at)}  ", "dim"),
                (f"{event.type:{kinds}}", "cyan"),
                f"  {detail(event)}",
            )
