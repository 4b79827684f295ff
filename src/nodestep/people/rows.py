"""A question as the row that a store lists, such a row as users hold it, and the rows of decisions."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.event import Answered, Expired, Fact, instant
from ..model.interrupt import Interrupt
from ..model.position import Listing, OpenQuestion, Position
from ..stores.base import AuditRow, Head, Listed, QuestionRow

NO_DEFAULT = "There was no default."
"""The note of an expiry that gave no answer; its value stands for nothing then."""


def question_row(found: OpenQuestion, listing: Listing | None = None) -> QuestionRow:
    """The row of a question; one that a pause has shown already keeps that pause's number and instant."""
    question, task = found.question, found.task
    pause, asked_at_ms = (None, None) if listing is None else (listing.pause, listing.asked_at_ms)
    return QuestionRow(
        found.key,
        question.id,
        task.node,
        task.id,
        question.payload,
        question.answer_schema,
        question.assignee,
        question.expires_at_ms,
        pause,
        asked_at_ms,
    )


def interrupt_of(item: Listed) -> Interrupt:
    """A listed question as users hold it; its payload is the JSON form."""
    (
        _,
        thread_id,
        branch_id,
        graph,
        key,
        id,
        node,
        task_id,
        payload,
        schema,
        assignee,
        expires_at_ms,
        pause,
        asked_at_ms,
    ) = item
    expires_at = None if expires_at_ms is None else instant(expires_at_ms)
    asked_at = instant(asked_at_ms)
    return Interrupt(
        key, id, node, task_id, payload, thread_id, branch_id, graph, pause, schema, assignee, asked_at, expires_at
    )


def interrupt_at(head: Head, found: OpenQuestion, listing: Listing) -> Interrupt:
    """An open question of a branch, as a listing of it would tell."""
    row = question_row(found, listing)
    return interrupt_of(Listed._make((head.no, head.thread_id, head.branch_id, head.graph, *row)))


def audits_of(position: Position, facts: Iterable[Fact]) -> tuple[AuditRow, ...]:
    """What the audit keeps of questions that close; `position` is the one before them."""
    rows: list[AuditRow] = []
    for fact in facts:
        if isinstance(fact, Answered):
            for key, value in fact.answers.items():
                rows.append(AuditRow(key, value, fact.source, fact.by, fact.note, position.listed[key].pause))
        elif isinstance(fact, Expired):
            asked = position.open_questions()
            for key in fact.keys:
                question, pause = asked[key].question, position.listed[key].pause
                note = None if question.has_default else NO_DEFAULT
                rows.append(AuditRow(key, question.default, "expiry", note=note, pause=pause))
    return tuple(rows)
