"""Pages of decisions over all threads, or of one."""

from __future__ import annotations

from typing import Final

from .base import Audited
from .branches import BranchRow
from .connection import Connection
from .queries import Queries
from .reading import Reader
from .rows import Row, answer_of, damaged

_ANSWER_COLUMNS: Final = 11


def answers(
    connection: Connection, queries: Queries, thread_id: str | None, limit: int, after: int | None
) -> tuple[Audited, ...]:
    """A page, oldest first."""
    place = (0 if after is None else after, max(limit, 0))
    if thread_id is None:
        return tuple(map(_listed, connection.rows(queries.page_of_answers, place)))
    branches = connection.rows(queries.answer_counts, (thread_id,))
    for row in branches:
        _check_count(row)
    if not branches:
        Reader(connection, queries).check_missing(thread_id, "")
    return tuple(map(_listed, connection.rows(queries.page_of_answers_in_thread, (*place, thread_id))))


def _listed(row: Row) -> Audited:
    number, answer = answer_of(row[:_ANSWER_COLUMNS])
    if row[_ANSWER_COLUMNS] is None:
        raise damaged(f"the branch of answer {number!r}")
    branch = BranchRow.of(row[_ANSWER_COLUMNS:])
    return answer.listed(number, branch.thread_id, branch.branch_id)


def _check_count(row: Row) -> None:
    branch, count = BranchRow.of(row[:-1]), row[-1]
    if branch.answers != count:
        raise damaged(f"the answers of branch {branch.branch_id!r} of thread {branch.thread_id!r}")
