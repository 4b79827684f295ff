"""`nodestep pending`: the questions that wait, over all threads of a store. Imports no graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ...model.interrupt import Interrupt
from ...people import inbox
from ...stores.sqlite import SQLiteStateStore
from ..files import named, open_existing
from ..options import After, AsJson, Limit, Store
from ..questions import MAIN, Place, answer_command, question_to_json, show_question, what_value_is
from ..safe_text import name
from ..screen import Screen
from ..shell import command
from ..telling import telling


def pending(
    store: Store = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="ID", help="Only of this thread.")] = None,
    graph: Annotated[str | None, typer.Option("--graph", metavar="NAME", help="Only of threads of this graph.")] = None,
    assignee: Annotated[str | None, typer.Option("--assignee", metavar="NAME", help="Only those for NAME.")] = None,
    limit: Limit = 100,
    after: After = None,
    full: Annotated[bool, typer.Option("--full", help="Show long payloads whole.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the open questions of a store, oldest first.

    Each comes with its thread, key, pause number, age and payload, and with the command that answers it.
    """
    with telling(as_json=as_json) as screen, open_existing(store) as opened:
        page = inbox.pending(opened, thread, graph=graph, assignee=assignee, limit=limit, after=after)
        stands = None if thread is None or page.items else _where_it_stands(opened, thread)
        if as_json:
            screen.document({"questions": [question_to_json(item) for item in page.items], "next": page.next})
            return
        file = named(store)
        if not page.items:
            screen.say("No question is open", *_where(file, thread), "." if stands is None else f"; it is {stands}.")
            return
        _show(screen, page.items, file, opened.now_ms(), full)
        if page.next is not None:
            filters = {"--thread": thread, "--graph": graph, "--assignee": assignee}
            screen.say("\nMore questions follow:")
            screen.type(command("pending", {"--store": file, **filters, "--limit": limit, "--after": page.next}))


def _show(screen: Screen, questions: Sequence[Interrupt], file: str, now_ms: int, full: bool) -> None:
    what = "1 question is" if len(questions) == 1 else f"{len(questions)} questions are"
    screen.say((f"{what} open", "bold"), *_where(file, None), ".")
    shown: tuple[str, str] | None = None
    for question in questions:
        place = Place(file, question.thread_id, question.branch_id)
        if shown != (place.thread_id, place.branch_id):
            branch = "" if place.branch_id == MAIN else f", branch {name(place.branch_id)}"
            graph = "" if question.graph is None else f", of graph {name(question.graph)}"
            screen.say("\nthread ", (name(place.thread_id), "bold"), branch, graph)
            shown = (place.thread_id, place.branch_id)
        show_question(screen, question, place, now_ms=now_ms, full=full)
        screen.type(answer_command(place, question), indent="    ")
    screen.say(f"\n{what_value_is(questions)}")


def _where(file: str, thread: str | None) -> list[str]:
    return [f" in {name(file)}", *([] if thread is None else [f" for thread {name(thread)}"])]


def _where_it_stands(store: SQLiteStateStore, thread: str) -> str:
    """Where the thread stands, so that a mistyped id does not read as "nothing to do". Raises UnknownThreadError."""
    from ..look import look_at

    return look_at(store, thread, MAIN).status.value
