"""`nodestep audit`: every decision, by whom, why, when and from where. Imports no graph."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import UnknownThreadError
from ...people import audit as decisions
from ..decisions import decision_to_json, show_decision
from ..files import named, open_existing
from ..options import After, AsJson, Limit, Store
from ..safe_text import name
from ..shell import command
from ..telling import telling


def audit(
    thread: Annotated[
        str | None, typer.Argument(metavar="[THREAD]", help="Only of this thread.", show_default=False)
    ] = None,
    store: Store = None,
    limit: Limit = 100,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List the decisions about questions, oldest first: what was answered, by whom, why, when and from where.

    Answers that the type of a question refused later are there, and questions that their deadline closed. Pruning keeps all
    of them.
    """
    with telling(as_json=as_json) as screen, open_existing(store) as opened:
        page = decisions.audit(opened, thread, limit=limit, after=after)
        if thread is not None and not page.items and not opened.branch_rows(thread):
            raise UnknownThreadError(thread)
        if as_json:
            screen.document({"decisions": [decision_to_json(item) for item in page.items], "next": page.next})
            return
        file = named(store)
        of = "" if thread is None else f" of thread {name(thread)}"
        if not page.items:
            screen.say(f"Nothing was decided in {name(file)}{of}.")
            return
        screen.say((f"Decisions in {name(file)}{of}", "bold"), ", oldest first, times in UTC:")
        for decision in page.items:
            show_decision(screen, decision, with_thread=thread is None)
        if page.next is not None:
            screen.say("\nMore follow:")
            arguments = () if thread is None else (thread,)
            screen.type(command("audit", {"--store": file, "--limit": limit, "--after": page.next}, *arguments))
