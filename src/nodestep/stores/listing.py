"""Pages of open questions over all branches, or over those of one thread.

The rows are found through an index, or through their branch; either way an entry whose row is missing is an error, and
never a question left out.
"""

from __future__ import annotations

from itertools import islice
from operator import attrgetter
from typing import Final

from msgspec import Struct

from .base import Listed
from .branches import BranchRow
from .connection import Connection, Values
from .queries import Queries
from .question_rows import questions_of
from .reading import Reader
from .rows import Row, damaged

_BEGINNING: Final = (-1, -1, "")
_ANY: Final = (None, None, None, None)
_DEADLINE: Final = attrgetter("expires_at_ms")


class Wanted(Struct, frozen=True):
    """Which questions a page is to hold; `None` is any. `after` is pause, branch number and key of the last one seen."""

    thread_id: str | None
    branch_id: str | None
    graph: str | None
    assignee: str | None
    asked_before_ms: int | None
    limit: int
    after: tuple[int, int, str] | None

    @property
    def filters(self) -> tuple[str | None, str | None, str | None, int | None]:
        """What is looked for, on every thread."""
        return (self.branch_id, self.graph, self.assignee, self.asked_before_ms)

    def values(self, now_ms: int) -> Values:
        """The parameters that the queries share."""
        return (*(self.after or _BEGINNING), max(self.limit, 0), now_ms)

    def holds(self, item: Listed) -> bool:
        """Whether a question is one that is looked for, as it tells itself."""
        return (
            self.thread_id in (None, item.thread_id)
            and self.branch_id in (None, item.branch_id)
            and self.graph in (None, item.graph)
            and self.assignee in (None, item.assignee)
            and (self.asked_before_ms is None or item.asked_at_ms < self.asked_before_ms)
        )


def questions(connection: Connection, queries: Queries, wanted: Wanted, now_ms: int) -> tuple[Listed, ...]:
    """A page, oldest first, without what has expired."""
    if wanted.thread_id is not None:
        return _of_thread(connection, queries, wanted, wanted.thread_id, now_ms)
    # Where nothing is to be left out, no row is looked at for that.
    all_of_them = wanted.filters == _ANY and not connection.rows(queries.next_sweep, (0,))
    if all_of_them:
        rows = connection.rows(queries.page_of_questions, wanted.values(now_ms))
    else:
        rows = connection.rows(queries.page_of_questions_filtered, (*wanted.values(now_ms), *wanted.filters))
    page = tuple(questions_of(rows))
    found = all_of_them or all(map(wanted.holds, page))
    deadlines = [deadline for deadline in map(_DEADLINE, page) if deadline is not None]
    if not found or any(deadline <= now_ms for deadline in deadlines):
        raise damaged("what its open questions are found by")
    return page


def _of_thread(
    connection: Connection, queries: Queries, wanted: Wanted, thread_id: str, now_ms: int
) -> tuple[Listed, ...]:
    """The same for one thread, whose questions are few."""
    branches = connection.rows(queries.open_counts, (thread_id,))
    for row in branches:
        _check_count(row)
    if not branches:
        Reader(connection, queries).check_missing(thread_id, "")
    after = wanted.after or _BEGINNING
    found = (
        item
        for item in questions_of(connection.rows(queries.questions_of_thread, (thread_id,)))
        if (item.pause, item.branch_no, item.key) > after
        and wanted.holds(item)
        and (item.expires_at_ms is None or item.expires_at_ms > now_ms)
    )
    return tuple(islice(found, max(wanted.limit, 0)))


def _check_count(row: Row) -> None:
    branch, count = BranchRow.of(row[:-1]), row[-1]
    if branch.open_questions != count:
        raise damaged(branch.questions)
