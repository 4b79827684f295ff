"""Open questions over all threads, and answers to them one by one. Nothing here runs a node."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from ..engine.admit import refuse_running
from ..engine.answer import check_some, open_and_expired
from ..engine.replay import advance, record_to_bytes
from ..errors import GraphConfigError, ResumeError, ThreadBusyError
from ..model.event import Answered, Expired, Fact
from ..model.interrupt import Interrupt, check_by_and_note, check_pause
from ..model.page import Page
from ..model.position import Position
from ..stores.base import AuditRow, Listed, Refused, StateStore, Unchanged, Write
from .listing import check_limit
from .reading import load_branch, standing
from .rows import interrupt_of

TRIES = 3


def pending(
    store: StateStore,
    thread_id: str | None = None,
    *,
    branch_id: str | None = None,
    graph: str | None = None,
    assignee: str | None = None,
    older_than: timedelta | None = None,
    limit: int = 100,
    after: str | None = None,
) -> Page[Interrupt]:
    """A page of open questions, oldest first."""
    check_limit("pending", limit)
    asked_before_ms = None
    if older_than is not None:
        asked_before_ms = store.now_ms() - int(older_than.total_seconds() * 1000)
    listed = store.questions(
        thread_id,
        branch_id=branch_id,
        graph=graph,
        assignee=assignee,
        asked_before_ms=asked_before_ms,
        limit=limit + 1,
        after=None if after is None else _cursor_in(after),
    )
    more = listed[limit - 1] if len(listed) > limit else None
    return Page(tuple(interrupt_of(item) for item in listed[:limit]), None if more is None else _cursor_out(more))


def answer(
    store: StateStore,
    thread_id: str,
    answers: Mapping[str, Any],
    *,
    branch_id: str = "main",
    pause: int | Mapping[str, int] | None = None,
    by: str | None = None,
    note: str | None = None,
    source: str = "api",
) -> tuple[str, ...]:
    """Record answers without running anything; returns the keys that are still open."""
    if not isinstance(answers, Mapping) or not answers:
        raise TypeError(
            "answer() takes a non-empty mapping from question key to value, as in {'review:approve': 'yes'}."
        )
    check_pause(pause)
    check_by_and_note(by, note)
    for _ in range(TRIES):
        loaded = load_branch(store, thread_id, branch_id)
        head, position = loaded.head, loaded.checkpoint.position
        if head.live:
            raise refuse_running(thread_id)
        if not position.open_questions():
            where = standing(head).value
            raise ResumeError(f"Thread {thread_id!r} waits for no answer: it is {where}. Nothing was recorded.")
        now_ms = store.now_ms()
        values = check_some(position, answers, pause, now_ms)
        still = tuple(key for key in open_and_expired(position, now_ms)[0] if key not in values)
        fact = Answered(values, by, note, source)
        audits = audits_of(position, [fact])
        write = Write(
            thread_id,
            branch_id,
            Unchanged(head.no, head.epoch, head.sequence),
            advance(position, fact, None, now_ms).status,
            record_to_bytes([fact]),
            closes=tuple(values),
            audits=audits,
        )
        (receipt,) = store.commit([write])
        if not isinstance(receipt, Refused):
            return still
    raise ThreadBusyError(
        f"Thread {thread_id!r} changed while the answer was given. It was not recorded; give it again."
    )


def audits_of(position: Position, facts: Iterable[Fact]) -> tuple[AuditRow, ...]:
    """What the audit keeps of questions that close; `position` is the one before them."""
    rows: list[AuditRow] = []
    asked = position.open_questions()
    for fact in facts:
        if isinstance(fact, Answered):
            for key, value in fact.answers.items():
                rows.append(AuditRow(key, value, fact.source, fact.by, fact.note, position.listed[key].pause))
        elif isinstance(fact, Expired):
            for key in fact.keys:
                rows.append(AuditRow(key, asked[key].question.default, "expiry", pause=position.listed[key].pause))
    return tuple(rows)


def _cursor_out(item: Listed) -> str:
    return json.dumps([item.question.pause, item.branch_no, item.question.key], separators=(",", ":"))


def _cursor_in(after: str) -> tuple[int, int, str]:
    try:
        pause, branch_no, key = json.loads(after)
        return int(pause), int(branch_no), str(key)
    except (ValueError, TypeError):
        raise GraphConfigError("pending(after=...) takes the `next` of an earlier page, and this is none.") from None
