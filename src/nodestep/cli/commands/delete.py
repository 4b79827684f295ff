"""`nodestep delete`: drops a thread for good. Imports no graph."""

from __future__ import annotations

from ...errors import UnknownThreadError
from ...model.interrupt import Interrupt
from ...model.page import Page
from ...people import inbox, upkeep
from ...people.listing import MAX_LIMIT
from ...stores.base import ListedBranch
from ..files import named, open_existing
from ..options import AsJson, Named, Store, Yes
from ..safe_text import name
from ..sure import is_sure
from ..telling import telling


def delete(thread: Named, store: Store = None, yes: Yes = False, as_json: AsJson = False) -> None:
    """Delete a thread for good: all its branches, its history, its questions and the account of its answers.

    At a terminal it asks first; elsewhere it needs --yes. A thread that a run works on is not deleted.
    """
    with telling(as_json=as_json) as screen, open_existing(store) as opened:
        rows = opened.branch_rows(thread)
        if not rows:
            raise UnknownThreadError(thread)
        waits = inbox.pending(opened, thread, limit=MAX_LIMIT)
        told = f"Thread {name(thread)} of graph {name(rows[0].head.graph)} goes for good: {_contents(rows, waits)}."
        is_sure(screen, told, "Delete it?", yes, "delete", {"--store": named(store)}, thread)
        upkeep.delete(opened, thread)
        if as_json:
            branches = [row.head.branch_id for row in rows]
            screen.document({"thread_id": thread, "deleted": True, "branches": branches})
            return
        screen.say(("deleted", "bold green"), f"  thread {name(thread)}")


def _contents(rows: tuple[ListedBranch, ...], waits: Page[Interrupt]) -> str:
    commits = sum(row.head.sequence - (row.fork_sequence or 0) for row in rows)
    parts = [
        "1 branch" if len(rows) == 1 else f"{len(rows)} branches",
        "1 commit" if commits == 1 else f"{commits:,} commits",
    ]
    if waits.items:
        count = f"{len(waits.items):,}{' or more' if waits.next is not None else ''}"
        parts.append(f"{count} open question{'' if count == '1' else 's'}")
    return f"{', '.join(parts)} and the account of its answers"
