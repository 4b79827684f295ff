"""A question as the row that a store lists, and such a row as users hold it."""

from __future__ import annotations

from ..model.event import instant
from ..model.interrupt import Interrupt
from ..model.json import JsonObject
from ..model.position import Listing, OpenQuestion
from ..stores.base import Listed, QuestionRow


def question_row(found: OpenQuestion, listing: Listing | None = None) -> QuestionRow:
    """The row of a question; one that a pause has shown already keeps that pause's number and instant."""
    question = found.question
    body: JsonObject = {
        "id": question.id,
        "node": found.task.node,
        "task_id": found.task.id,
        "payload": question.payload,
    }
    if question.answer_schema is not None:
        body["schema"] = question.answer_schema
    return QuestionRow(
        found.key,
        body,
        question.assignee,
        question.expires_at_ms,
        None if listing is None else listing.pause,
        None if listing is None else listing.asked_at_ms,
    )


def interrupt_of(item: Listed) -> Interrupt:
    """A listed question as users hold it; its payload is the JSON form."""
    _, thread_id, branch_id, graph, (key, body, assignee, expires_at_ms, pause, asked_at_ms) = item
    return Interrupt(
        key,
        body["id"],
        body["node"],
        body["task_id"],
        body["payload"],
        thread_id,
        branch_id,
        graph,
        pause,
        body.get("schema"),
        assignee,
        None if asked_at_ms is None else instant(asked_at_ms),
        None if expires_at_ms is None else instant(expires_at_ms),
    )
