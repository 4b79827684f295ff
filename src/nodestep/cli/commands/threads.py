"""`nodestep threads`: the threads of a store, newest first. Imports no graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ...model.records import ThreadRecord
from ...model.status import Status
from ...people import listing
from ..files import named, open_existing
from ..options import After, AsJson, Limit, Store
from ..safe_text import name
from ..screen import STYLE_OF_STATUS, Screen
from ..shell import command
from ..telling import telling
from ..times import age, iso


def threads(
    store: Store = None,
    graph: Annotated[str | None, typer.Option("--graph", metavar="NAME", help="Only threads of this graph.")] = None,
    status: Annotated[
        Status | None, typer.Option("--status", metavar="STATUS", help="Only threads that stand so.")
    ] = None,
    limit: Limit = 100,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List the threads of a store, newest first, and where each stands.

    A thread is running, unfinished (cut off in the middle of a run), interrupted (waits for answers), ready (has all its
    answers and has not gone on yet), failed, completed or cancelled. What is told is its main branch.
    """
    with telling(as_json=as_json) as screen, open_existing(store) as opened:
        page = listing.threads(opened, graph=graph, status=status, limit=limit, after=after)
        if as_json:
            screen.document({"threads": [_to_json(item) for item in page.items], "next": page.next})
            return
        file = named(store)
        if not page.items:
            of_kind = "" if graph is None and status is None else " of that kind"
            screen.say(f"There is no thread{of_kind} in {name(file)}.")
            return
        _show(screen, page.items, opened.now_ms())
        if page.next is not None:
            filters = {"--graph": graph, "--status": status}
            screen.say("\nMore threads follow:")
            screen.type(command("threads", {"--store": file, **filters, "--limit": limit, "--after": page.next}))


def _show(screen: Screen, threads: Sequence[ThreadRecord], now_ms: int) -> None:
    width = max(len(status.value) for status in Status)
    for thread in threads:
        status = thread.status.value
        screen.say(
            (f"{status:{width}}", STYLE_OF_STATUS[status]),
            "  ",
            (name(thread.thread_id), "bold"),
            f"  of graph {name(thread.graph)}, begun {age(thread.created_at, now_ms)}, ",
            f"changed {age(thread.updated_at, now_ms)}",
        )


def _to_json(thread: ThreadRecord) -> dict[str, str | None]:
    return {
        "thread_id": thread.thread_id,
        "graph": thread.graph,
        "status": thread.status.value,
        "created_at": iso(thread.created_at),
        "updated_at": iso(thread.updated_at),
    }
