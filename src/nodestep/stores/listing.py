"""Pages of open questions over all branches, or over those of one thread.

The rows are found through an index, or through their branch; either way an entry whose row is missing is an error, and
never a question left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .base import Listed
from .branches import BranchRow
from .connection import Connection, Values
from .queries import Queries
from .reading import Reader
from .rows import Row, damaged, question_of

_BEGINNING: Final = (-1, -1, "")
_PLACE_COLUMNS: Final = 3
_QUESTION_COLUMNS: Final = 8


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which questions a page is to hold; `None` is any. `after` is pause, branch number and key of the last one seen."""

    thread_id: str | None
    branch_id: str | None
    graph: str | None
    assignee: str | None
    asked_before_ms: int | None
    limit: int
    after: tuple[int, int, str] | None

    def values(self, now_ms: int) -> Values:
        """The parameters that the queries share."""
        place = self.after or _BEGINNING
        filters = (self.branch_id, self.graph, self.assignee, self.asked_before_ms)
        return (*place, max(self.limit, 0), now_ms, *filters)


def questions(connection: Connection, queries: Queries, wanted: Wanted, now_ms: int) -> tuple[Listed, ...]:
    """A page, oldest first, without what has expired."""
    if wanted.thread_id is None:
        rows = connection.rows(queries.page_of_questions, wanted.values(now_ms))
    else:
        branches = connection.rows(queries.open_counts, (wanted.thread_id,))
        for row in branches:
            _check_count(row)
        if not branches:
            Reader(connection, queries).check_missing(wanted.thread_id, "")
        rows = connection.rows(queries.page_of_questions_in_thread, (*wanted.values(now_ms), wanted.thread_id))
    return tuple(map(_listed, rows))


def _listed(row: Row) -> Listed:
    """The place that the index tells comes first, then the question's columns, then the branch's."""
    place, rest = row[:_PLACE_COLUMNS], row[_PLACE_COLUMNS:]
    if rest[0] is None or rest[_QUESTION_COLUMNS] is None:
        raise damaged("the index of its open questions")
    question = question_of(rest[:_QUESTION_COLUMNS])
    branch = BranchRow.of(rest[_QUESTION_COLUMNS:])
    if place != (question.pause, branch.no, question.key):
        raise damaged("the index of its open questions")
    return Listed(branch.no, branch.thread_id, branch.branch_id, branch.graph, question.row())


def _check_count(row: Row) -> None:
    branch, count = BranchRow.of(row[:-1]), row[-1]
    if branch.open_questions != count:
        raise damaged(f"the questions of branch {branch.branch_id!r} of thread {branch.thread_id!r}")
