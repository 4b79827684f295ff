"""Open questions over all threads, and answers to them one by one. Nothing here runs a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from ..engine.admit import refuse_running
from ..engine.answer import NotOpen, check_some, open_and_expired
from ..engine.replay import advance, record_to_bytes
from ..errors import GraphConfigError, ResumeError, ThreadBusyError
from ..model.canonical import decode, encode
from ..model.event import Answered
from ..model.interrupt import Interrupt, check_by_and_note, check_pause
from ..model.limits import MAX_INT
from ..model.page import Page
from ..stores.base import Head, Listed, Refused, StateStore, Unchanged, Write
from .audit import who_was_first
from .listing import check_limit
from .reading import load_branch, standing
from .rows import audits_of, interrupt_of

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
        if not isinstance(older_than, timedelta):
            raise TypeError(
                f"pending(older_than=...) takes a duration, as in timedelta(hours=2), not {type(older_than).__name__}."
            )
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
    return Page(
        Interrupt.later(interrupt_of, listed[:limit]),
        None if more is None else _cursor_out(more),
    )


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
        now_ms = store.now_ms()
        try:
            if not position.open_questions():
                where = standing(head).value
                raise NotOpen(f"Thread {thread_id!r} waits for no answer: it is {where}. Nothing was recorded.")
            values = check_some(position, answers, pause, now_ms)
        except NotOpen as error:
            raise told_who_was_first(error, store, head, tuple(answers)) from None
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


def told_who_was_first(error: ResumeError, store: StateStore, head: Head, keys: Sequence[str] | None) -> ResumeError:
    """The error for an answer to a question that is not open: it tells who was first, if somebody was."""
    first = who_was_first(store, head.thread_id, head.branch_id, keys)
    if first is None:
        return ResumeError(str(error))
    found, _, _ = str(error).partition(" Did you mean")  # the key is no typing error
    return ResumeError(f"{first} {found}")


def _cursor_out(item: Listed) -> str:
    return encode([item.pause, item.branch_no, item.key]).decode()


def _cursor_in(after: str) -> tuple[int, int, str]:
    try:
        pause, branch_no, key = decode(after)
        numbers = type(pause) is int and type(branch_no) is int and min(pause, branch_no) >= 0
        if numbers and max(pause, branch_no) <= MAX_INT and isinstance(key, str):
            return pause, branch_no, key
    except (ValueError, TypeError):
        pass
    raise GraphConfigError("pending(after=...) takes the `next` of an earlier page, and this is none.") from None
