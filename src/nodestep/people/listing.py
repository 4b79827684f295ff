"""Pages of threads, and what a page may be asked for."""

from __future__ import annotations

from ..errors import GraphConfigError
from ..model.event import instant
from ..model.limits import MAX_INT
from ..model.page import Page
from ..model.records import ThreadRecord
from ..model.status import Status
from ..stores.base import Head, StateStore

MAX_LIMIT = 1000


def check_limit(what: str, limit: int) -> None:
    """A page holds 1 to 1,000 items; raises GraphConfigError."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_LIMIT:
        raise GraphConfigError(f"{what}(limit=...) takes a whole number from 1 to {MAX_LIMIT}, not {limit!r}.")


def number_cursor(what: str, after: str | None) -> int | None:
    """The number that a page's `next` holds; raises GraphConfigError for what is none."""
    if after is None:
        return None
    if not isinstance(after, str) or not after.isascii() or not after.isdecimal() or int(after) > MAX_INT:
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
    heads = store.thread_rows(graph=graph, status=status, limit=limit + 1, after=number_cursor("threads", after))
    following = str(heads[limit - 1].no) if len(heads) > limit else None
    return Page(tuple(_thread(head) for head in heads[:limit]), following)


def _thread(head: Head) -> ThreadRecord:
    return ThreadRecord(
        head.thread_id, head.graph, head.status, instant(head.created_at_ms), instant(head.updated_at_ms)
    )
