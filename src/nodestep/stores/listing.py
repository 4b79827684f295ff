"""Pages of open questions over all branches, or over those of one thread.

The rows are found through an index, or through their branch; either way an entry whose row is missing is an error, and
never a question left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..model.canonical import decode
from .base import Listed, QuestionRow
from .branches import BranchRow
from .connection import Connection, Values
from .queries import Queries
from .question_rows import check_question
from .reading import Reader
from .rows import Row, damaged

_BEGINNING: Final = (-1, -1, "")


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
    return _listed(rows)


def _listed(rows: list[Row]) -> tuple[Listed, ...]:
    """The questions of a page. Pages are read often, so their bodies are decoded all at once."""
    for row in rows:
        if row[0] != row[3]:
            raise damaged("the index of its open questions")
        check_question(row[1:])
    bodies = decode(b"[%b]" % b",".join(row[-1] for row in rows))
    return tuple(
        Listed(no, thread_id, branch_id, graph, QuestionRow(key, body, assignee, expires_at_ms, pause, asked_at_ms))
        for body, (_, no, key, pause, thread_id, branch_id, graph, assignee, expires_at_ms, asked_at_ms, _, _) in zip(
            bodies, rows, strict=True
        )
    )


def _check_count(row: Row) -> None:
    branch, count = BranchRow.of(row[:-1]), row[-1]
    if branch.open_questions != count:
        raise damaged(branch.questions)
