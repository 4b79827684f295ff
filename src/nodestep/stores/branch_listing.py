"""The branches of a thread, and pages of threads. Heads tell what the branches' rows tell, without a look at records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct

from .base import Head, ListedBranch, Status
from .branches import BranchRow
from .connection import Connection
from .leases import Leases
from .lineage import lineage, pruned_upto
from .queries import Queries
from .reading import Reader
from .rows import damaged
from .standing import standing

_AFTER_ALL: Final = (1 << 63) - 1


class WantedThreads(Struct, frozen=True):
    """Which threads a page is to hold; `None` is any. `after` is the branch number of the last one seen."""

    graph: str | None
    status: Status | None
    limit: int
    after: int | None


def branches_of(connection: Connection, queries: Queries, thread_id: str) -> list[BranchRow]:
    """The branches of a thread, oldest first."""
    branches = [BranchRow.with_history(row) for row in connection.rows(queries.branches_of_thread, (thread_id,))]
    if not branches:
        Reader(connection, queries).check_missing(thread_id, "")
    if any(branch.thread_id != thread_id for branch in branches):
        raise damaged("the index of its branches")
    return branches


def listed_branches(
    connection: Connection, queries: Queries, leases: Leases, thread_id: str
) -> tuple[ListedBranch, ...]:
    """The same as readers get them."""
    branches = branches_of(connection, queries, thread_id)
    by_no = {branch.no: branch for branch in branches}
    listed = []
    for branch in branches:
        first = pruned_upto(lineage(branch, branch.sequence, by_no.get)) + 1
        head = branch.head(leases.live(branch))
        if branch.parent_no is None:
            listed.append(ListedBranch(head, None, None, None, first))
        else:
            parent = by_no[branch.parent_no]
            listed.append(ListedBranch(head, parent.branch_id, parent.no, branch.fork_sequence, first))
    return tuple(listed)


def threads(
    connection: Connection, queries: Queries, leases: Leases, wanted: WantedThreads, now_ms: int
) -> tuple[Head, ...]:
    """A page of threads, newest first."""
    heads = _candidates(connection, queries, leases, wanted, now_ms)
    return tuple(islice((head for head in heads if wanted.status in (None, head.status)), max(wanted.limit, 0)))


def _candidates(
    connection: Connection, queries: Queries, leases: Leases, wanted: WantedThreads, now_ms: int
) -> Iterator[Head]:
    """Threads that fit what can be asked in SQL, each with the status that a call would find."""
    after = _AFTER_ALL if wanted.after is None else wanted.after
    limit = max(wanted.limit, 0)
    status = None if wanted.status is None else wanted.status.value
    while rows := connection.rows(queries.page_of_threads, (after, limit, now_ms, wanted.graph, status)):
        for *columns, found, waiting in rows:
            branch = BranchRow.with_history(tuple(columns))
            if found != branch.open_questions:
                raise damaged(branch.questions)
            live = leases.live(branch)
            yield branch.head(live, status=standing(Status(branch.status), live, found > 0, waiting > 0))
            after = branch.no
        if len(rows) < limit:
            return
