"""The decisions that a store keeps: pages of them, and who was first to answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.event import instant
from ..model.limits import check_id
from ..model.page import Page
from ..model.records import AnswerRecord
from ..stores.base import Audited, StateStore
from .listing import check_limit, number_cursor

PAGE = 1000


def audit(
    store: StateStore, thread_id: str | None = None, *, limit: int = 100, after: str | None = None
) -> Page[AnswerRecord]:
    """A page of decisions, oldest first; of one thread if it is named."""
    check_limit("audit", limit)
    if thread_id is not None:
        check_id("thread_id", thread_id)
    found = store.audit_rows(thread_id, limit=limit + 1, after=number_cursor("audit", after))
    following = str(found[limit - 1].number) if len(found) > limit else None
    return Page(tuple(_answer(item) for item in found[:limit]), following)


def who_was_first(store: StateStore, thread_id: str, branch_id: str, keys: Sequence[str] | None) -> str | None:
    """Which of these questions was closed before, by whom and when, as a sentence; `None` where none was. Without keys, it
    tells of the branch's last one."""
    last: dict[str, Audited] = {}
    for item in _decisions(store, thread_id):
        if item.branch_id == branch_id and item.row.rejected is None and item.row.source != "hook":
            last.pop(item.row.key, None)
            last[item.row.key] = item
    for key in reversed(last) if keys is None else keys:
        if key in last:
            return _told(last[key])
    return None


def _decisions(store: StateStore, thread_id: str) -> Iterator[Audited]:
    after = None
    while found := store.audit_rows(thread_id, limit=PAGE, after=after):
        yield from found
        after = found[-1].number


def _told(item: Audited) -> str:
    row = item.row
    question, when = f"{row.key!r} of pause {row.pause}", f"{instant(item.at_ms):%Y-%m-%d %H:%M:%S} UTC"
    if row.source == "expiry":
        return f"{question} was closed already by its deadline, noticed at {when}."
    who = repr(row.by) if row.by is not None else "somebody who gave no name"
    return f"{question} was answered already, by {who}, at {when}."


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
