"""The open questions of a run: as rows for the store, and as users hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.event import instant
from ..model.interrupt import Interrupt
from ..model.position import Listing, OpenQuestion
from ..people.rows import question_row
from ..stores.base import QuestionRow
from .run import Run


def question_rows(run: Run, asked: Mapping[str, OpenQuestion]) -> tuple[QuestionRow, ...]:
    """Those of the open questions that no pause has shown yet."""
    return tuple([question_row(found) for key, found in asked.items() if key not in run.listed])


def open_interrupts(run: Run) -> dict[str, Interrupt]:
    """Every open question by key; those asked in this run carry their payload as given."""
    interrupts = {}
    for key, found in run.position.asked().items():
        raised = run.raised.get(key)
        payload = found.question.payload if raised is None else raised.payload
        interrupts[key] = _interrupt(run, found, run.listed.get(key), payload)
    return interrupts


def _interrupt(run: Run, found: OpenQuestion, listing: Listing | None, payload: Any) -> Interrupt:
    question = found.question
    return Interrupt(
        found.key,
        question.id,
        found.task.node,
        found.task.id,
        payload,
        thread_id=run.thread_id,
        branch_id=run.branch_id,
        graph=run.call.blueprint.name,
        pause=None if listing is None else listing.pause,
        answer_schema=question.answer_schema,
        assignee=question.assignee,
        asked_at=None if listing is None else instant(listing.asked_at_ms),
        expires_at=None if question.expires_at_ms is None else instant(question.expires_at_ms),
    )
