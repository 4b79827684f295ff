"""`nodestep edit`: writes to the state of a stored thread through its graph, so that every value is checked."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any

import typer

from ...errors import InvalidUpdateError, UnknownThreadError
from ...model.json import JsonObject
from ...people.reading import load_branch
from ...stores.sqlite import SQLiteStateStore
from ..changes import changes, show_changes
from ..exits import Exit, exit_of
from ..files import open_existing
from ..options import AsJson, Branch, Named, Store, Target, WithTraceback
from ..questions import MAIN
from ..safe_text import name
from ..screen import output_of_users
from ..target import load_graph
from ..telling import telling
from ..values import Reader


def edit(
    target: Target,
    thread: Named,
    set_: Annotated[
        str,
        typer.Option(
            "--set",
            metavar="JSON",
            help="The fields to write, as a JSON object; @FILE takes it from a file, - from standard input.",
        ),
    ],
    create: Annotated[
        bool, typer.Option("--create", help="Make the thread, with these values, if there is none of the name.")
    ] = False,
    store: Store = None,
    branch: Branch = MAIN,
    as_json: AsJson = False,
    with_traceback: WithTraceback = False,
) -> None:
    """Edit the stored state of a thread. Nothing runs.

    The values pass the graph's state type and its reducers, as a node's update does: a field whose reducer appends gets
    them appended. A thread may be edited while it waits or is unfinished; the task that goes on sees it. Without --store the
    graph's own store is asked, if it has one.
    """
    with (
        telling(as_json=as_json, with_traceback=with_traceback, code_of=_code_of) as screen,
        contextlib.ExitStack() as held,
    ):
        values = Reader().json_object(set_, "--set")
        with output_of_users() if as_json else contextlib.nullcontext():
            graph = load_graph(target)
        opened = held.enter_context(SQLiteStateStore(store) if create else open_existing(store)) if store else None
        event = _edited(graph, opened, thread, branch, values, create)
        found = None if opened is None else list(changes(*_states(opened, thread, branch, event)))
        if as_json:
            told = None if found is None else [change.to_json() for change in found]
            screen.document({"thread_id": thread, "branch_id": branch, "event": event, "changes": told})
            return
        where = "" if branch == MAIN else f", branch {name(branch)}"
        screen.say(("edited", "bold green"), f"  thread {name(thread)}{where}, event {event}")
        if found is not None and not found:
            screen.say("  the state is as it was")
        show_changes(screen, found or ())


def _edited(
    graph: Any, store: SQLiteStateStore | None, thread: str, branch: str, values: JsonObject, create: bool
) -> str:
    import asyncio

    update = graph.update_state(thread, values, create=create, branch_id=branch, state_store=store)
    try:
        event: str = asyncio.run(update)
    except UnknownThreadError as error:
        if branch == MAIN:
            error.add_note("--create makes a thread with these values.")
        raise
    return event


def _states(store: SQLiteStateStore, thread: str, branch: str, event: str) -> tuple[JsonObject, JsonObject]:
    """The state before and after the edit, whatever came later."""
    after = load_branch(store, thread, branch, event)
    if after.sequence == 1:
        return {}, after.checkpoint.state
    before = load_branch(store, thread, branch, sequence=after.sequence - 1)
    return before.checkpoint.state, after.checkpoint.state


def _code_of(error: BaseException) -> Exit:
    """A field that the open superstep replaces is refused here; elsewhere the same error ends a run."""
    return Exit.REFUSED if isinstance(error, InvalidUpdateError) else exit_of(error)
