"""Pages over all threads: the threads themselves, and the audit of every decision."""

from __future__ import annotations

from ..errors import GraphConfigError
from ..model.event import instant
from ..model.limits import check_id
from ..model.page import Page
from ..model.records import AnswerRecord, ThreadRecord
from ..model.status import Status
from ..stores.base import Audited, Head, StateStore

MAX_LIMIT = 1000


def check_limit(what: str, limit: int) -> None:
    """A page holds 1 to 1,000 items; raises GraphConfigError."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_LIMIT:
        raise GraphConfigError(f"{what}(limit=...) takes a whole number from 1 to {MAX_LIMIT}, not {limit!r}.")


def _cursor(what: str, after: str | None) -> int | None:
    if after is None:
        return None
    if not isinstance(after, str) or not after.isascii() or not after.isdecimal():
        raise GraphConfigError(f"{what}(after=...) takes the `next` of an earlier page, and this is none.")
    return int(after)


def threads(
    store: StateStore,
    *,
    graph: str | None = None,
    status: Status | str | None = None,
    limit: int = 100,
    after: str | None = None,
) -> Page[ThreadRecord]:
    """A page of threads, newest first."""
    check_limit("threads", limit)
    if status is not None:
        try:
            status = Status(status)
        except ValueError:
            known = ", ".join(repr(known.value) for known in Status)
            raise GraphConfigError(f"threads(status=...) takes one of {known}, not {status!r}.") from None
    heads = store.thread_rows(graph=graph, status=status, limit=limit + 1, after=_cursor("threads", after))
    following = str(heads[limit - 1].no) if len(heads) > limit else None
    return Page(tuple(_thread(head) for head in heads[:limit]), following)


def audit(
    store: StateStore, thread_id: str | None = None, *, limit: int = 100, after: str | None = None
) -> Page[AnswerRecord]:
    """A page of decisions, oldest first; of one thread if it is named."""
    check_limit("audit", limit)
    if thread_id is not None:
        check_id("thread_id", thread_id)
    found = store.audit_rows(thread_id, limit=limit + 1, after=_cursor("audit", after))
    following = str(found[limit - 1].number) if len(found) > limit else None
    return Page(tuple(_answer(item) for item in found[:limit]), following)


def _thread(head: Head) -> ThreadRecord:
    return ThreadRecord(
        head.thread_id, head.graph, head.status, instant(head.created_at_ms), instant(head.updated_at_ms)
    )


def _answer(item: Audited) -> AnswerRecord:
    row = item.row
    return AnswerRecord(
        item.thread_id,
        item.branch_id,
        row.key,
        row.value,
        row.source,
        row.by,
        row.note,
        row.pause,
        row.rejected,
        instant(item.at_ms),
    )
