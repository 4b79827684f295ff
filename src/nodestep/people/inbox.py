"""Open questions over all threads, and answers to them one by one. Nothing here runs a node."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ..engine.admit import Stands
from ..engine.answer import check_some
from ..engine.replay import record_to_bytes
from ..errors import GraphConfigError, ResumeError, ThreadBusyError
from ..model.event import Answered
from ..model.interrupt import Interrupt
from ..model.page import Page
from ..stores.base import Listed, Refused, StateStore, Status, Unchanged, Write
from .reading import load_branch, stands

TRIES = 3


def instant(at_ms: int) -> datetime:
    """A store's Unix milliseconds as a UTC instant."""
    return datetime.fromtimestamp(at_ms / 1000, UTC)


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
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= 1000:
        raise GraphConfigError(f"pending(limit=...) takes a whole number from 1 to 1000, not {limit!r}.")
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
    return Page(tuple(_interrupt(item) for item in listed[:limit]), None if more is None else _cursor_out(more))


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
    for _ in range(TRIES):
        loaded = load_branch(store, thread_id, branch_id)
        head, position = loaded.head, loaded.checkpoint.position
        where = stands(head)
        if where is Stands.RUNNING:
            raise ThreadBusyError(
                f"A run works on thread {thread_id!r} right now. The answer was not recorded; give it again when the run has "
                "ended."
            )
        questions = position.open_questions()
        if not questions:
            raise ResumeError(f"Thread {thread_id!r} waits for no answer: it is {where.value}. Nothing was recorded.")
        values = check_some(position, answers, pause)
        still = tuple(key for key in questions if key not in values)
        status = Status.READY if not still else head.status
        if status is Status.RUNNING:
            status = Status.FAILED
        write = Write(
            thread_id,
            branch_id,
            Unchanged(head.no, head.epoch, head.sequence),
            status,
            record_to_bytes([Answered(values, by, note, source)]),
            closes=tuple(values),
        )
        (receipt,) = store.commit([write])
        if not isinstance(receipt, Refused):
            return still
    raise ThreadBusyError(
        f"Thread {thread_id!r} changed while the answer was given. It was not recorded; give it again."
    )


def _interrupt(item: Listed) -> Interrupt:
    question, body = item.question, item.question.body
    return Interrupt(
        question.key,
        body["id"],
        body["node"],
        body["task_id"],
        body["payload"],
        thread_id=item.thread_id,
        branch_id=item.branch_id,
        graph=item.graph,
        pause=question.pause,
        answer_schema=body.get("schema"),
        assignee=question.assignee,
        asked_at=None if question.asked_at_ms is None else instant(question.asked_at_ms),
        expires_at=None if question.expires_at_ms is None else instant(question.expires_at_ms),
    )


def _cursor_out(item: Listed) -> str:
    return json.dumps([item.question.pause, item.branch_no, item.question.key], separators=(",", ":"))


def _cursor_in(after: str) -> tuple[int, int, str]:
    try:
        pause, branch_no, key = json.loads(after)
        return int(pause), int(branch_no), str(key)
    except (ValueError, TypeError):
        raise GraphConfigError("pending(after=...) takes the `next` of an earlier page, and this is none.") from None
