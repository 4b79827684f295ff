"""What users read of threads: branches, threads, and the decisions of people. Instants are UTC."""

from __future__ import annotations

from datetime import datetime

from .json import Json
from .status import Status
from .value import locked_value


@locked_value
class BranchRecord:
    """A branch of a thread. `parent_branch_id` and `from_event_id` tell where it was forked, `None` for one that was not."""

    id: str
    thread_id: str
    parent_branch_id: str | None
    from_event_id: str | None
    created_at: datetime


@locked_value
class ThreadRecord:
    """A thread by its `"main"` branch. `updated_at` is when a run of it last began or ended."""

    thread_id: str
    graph: str
    status: Status
    created_at: datetime
    updated_at: datetime


@locked_value
class AnswerRecord:
    """One decision about one question: what, by whom, why, when and from where (`"api"`, `"cli"`, `"page"`, `"hook"`,
    `"expiry"`, or `"type"` where the answer's type refused what was accepted before, and `rejected` tells why). `pause`
    numbers the pause that showed the question, `None` for one that a hook answered."""

    thread_id: str
    branch_id: str
    key: str
    value: Json
    source: str
    by: str | None
    note: str | None
    pause: int | None
    rejected: str | None
    at: datetime
