"""`nodestep prune`: frees the old history of a thread. Imports no graph."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import UnknownThreadError
from ...people import upkeep
from ...stores.base import StateStore
from ..files import named, open_existing
from ..options import AsJson, Branch, Named, Store, Yes
from ..questions import MAIN
from ..safe_text import name
from ..sure import is_sure
from ..telling import telling


def prune(
    thread: Named,
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=1, help="How many supersteps stay, the newest.")],
    store: Store = None,
    branch: Branch = MAIN,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Free what is older than the newest N supersteps of a branch.

    Where it stands, its open questions, its forks and the account of its answers stay. Older events can no longer be read,
    compared or forked. At a terminal it asks first; elsewhere it needs --yes.
    """
    with telling(as_json=as_json) as screen, open_existing(store) as opened:
        before = _first(opened, thread, branch)
        own = {"--store": named(store), "--branch": None if branch == MAIN else branch, "--keep": keep}
        where = f"thread {name(thread)}{'' if branch == MAIN else f', branch {name(branch)}'}"
        stay = "superstep" if keep == 1 else f"{keep} supersteps"
        told = f"The events of {where} before its newest {stay} go for good."
        is_sure(screen, told, "Prune it?", yes, "prune", own, thread)
        upkeep.prune(opened, thread, branch, keep=keep)
        first = _first(opened, thread, branch)
        if as_json:
            freed = first - before
            screen.document({"thread_id": thread, "branch_id": branch, "first": first, "freed": freed})
            return
        if first == before:
            screen.say(f"Nothing to prune: {where} has no more supersteps than that.")
        else:
            count = "1 commit" if first - before == 1 else f"{first - before:,} commits"
            screen.say(("pruned", "bold green"), f"  {where}: {count} freed, history begins at number {first}")


def _first(store: StateStore, thread: str, branch: str) -> int:
    """The number of the first commit that is there."""
    for row in store.branch_rows(thread):
        if row.head.branch_id == branch:
            return row.first
    raise UnknownThreadError(thread, branch)
