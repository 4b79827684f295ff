"""The SQL of a dialect, read from its file: a query is named there and found here as an attribute of that name."""

from __future__ import annotations

import pkgutil
import re
from functools import cache

from msgspec import Struct

_NAMED = re.compile(r"^-- name: (\w+)\n(.*?);\s*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


class Queries(Struct, frozen=True):
    """One statement each; its file tells the parameters, and every dialect takes the same."""

    find_branch: str
    find_branch_by_no: str
    branches_beside: str
    has_record: str
    append_record: str
    add_record: str
    add_snapshot: str
    add_branch: str
    change_branch: str
    change_pruned: str
    drop_branch: str
    extend_lease: str
    add_counters: str
    read_counters: str
    write_counters: str
    add_answer: str
    open_question: str
    close_question: str
    close_questions: str
    has_snapshot: str
    newest_snapshot: str
    records_between: str
    questions_of_branch: str
    page_of_questions: str
    page_of_questions_filtered: str
    questions_of_thread: str
    open_counts: str
    branches_of_thread: str
    page_of_threads: str
    page_of_answers: str
    page_of_answers_in_thread: str
    answer_counts: str
    add_sweep: str
    next_sweep: str
    end_sweep: str
    records_to_free: str
    free_records: str
    snapshots_to_free: str
    free_snapshots: str
    questions_to_free: str
    free_questions: str
    answers_to_free: str
    free_answers: str


@cache
def queries(dialect: str) -> Queries:
    """The queries of `sql/<dialect>/queries.sql`. A name that is missing there, or unknown here, is a TypeError."""
    text = sql_file(f"{dialect}/queries.sql")
    return Queries(**{name: _COMMENT.sub("", body) for name, body in _NAMED.findall(text)})


def sql_file(name: str) -> str:
    """The text of a file under `sql/`."""
    data = pkgutil.get_data(__package__, f"sql/{name}")
    if data is None:
        raise FileNotFoundError(name)
    return data.decode()
