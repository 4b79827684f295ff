"""The beginning of a run: read the branch, decide by the lifecycle, claim it. Everything is refused before the claim."""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec import Struct

from ..engine.admit import GoOn, admit, admit_unknown, refuse_running
from ..engine.answer import NotOpen
from ..engine.replay import Checkpoint, advance, record_to_bytes
from ..engine.route import first_tasks
from ..errors import ThreadBusyError
from ..model.event import Answered, Continued, Expired, Fact, Started
from ..model.limits import check_size
from ..model.position import ROOT, Frame
from ..people.reading import replayed, standing
from ..people.rows import audits_of
from ..stores.base import AuditRow, Guard, New, Receipt, Status, Unchanged, Write
from ..stores.base import Stored as StoredBranch
from .loading import dropped_fields, new_fields, typed_state, typed_states
from .log import RunLog
from .routing import chooser
from .run import Call, Run, Stored

TRIES = 3
"""How often a claim that lost a race looks again; what it then finds decides."""


async def begin(run: Run) -> None:
    """Take the run to its first superstep: the branch claimed, the input or the answers in."""
    if run.store is None:
        at = run.root
        at.values = at.schema.first_state(run.call.input, f"{run.run_id}/input")
        at.frame = Frame(1, first_tasks(at.blueprint, chooser(at, at.values)))
        return
    store = run.store
    for _ in range(TRIES):
        stored = await run.door.ask_store(store, lambda: store.read(run.thread_id, run.branch_id))
        claim = _first(run) if stored is None else _next(run, stored)
        if isinstance(await run.door.claim(store, claim.write, partial(_take, run, claim)), Receipt):
            return
    raise ThreadBusyError(
        f"Thread {run.thread_id!r} changed {TRIES} times while this call tried to claim it. Nothing was written and nothing "
        "ran; call again."
    )


class _Claim(Struct, frozen=True):
    """The write that claims a branch, and what holds once it is made."""

    write: Write
    values: dict[str, Any]
    inner: dict[str, dict[str, Any]]
    checkpoint: Checkpoint
    facts: list[Fact]
    resuming: bool
    since_snapshot: int
    snapshot_bytes: int


def _first(run: Run) -> _Claim:
    call, at = run.call, run.root
    admit_unknown(run.thread_id, run.branch_id, call.input is not None and call.resume is None)
    values = at.schema.first_state(call.input, f"{run.run_id}/input")
    due = first_tasks(at.blueprint, chooser(at, values))
    facts: list[Fact] = [Started(run.run_id, {"set": at.schema.dump(values)}, due)]
    record = record_to_bytes(facts)
    check_size(len(record), what="The state that the input gives")
    write = Write(run.thread_id, run.branch_id, New(at.blueprint.name), Status.RUNNING, record)
    return _Claim(write, values, {}, Checkpoint(), facts, False, 0, len(record))


def _next(run: Run, stored: StoredBranch) -> _Claim:
    call, at, head = run.call, run.root, stored.head
    assert run.store is not None
    if head.live:
        raise refuse_running(run.thread_id)
    checkpoint = replayed(stored)
    has_input = call.input is not None
    try:
        admission = admit(
            run.thread_id, standing(head), checkpoint.position, run.store.now_ms(), has_input, call.resume
        )
    except NotOpen as error:
        from ..people.inbox import told_who_was_first

        keys = None if call.resume is None or call.resume.answers is None else tuple(call.resume.answers)
        raise told_who_was_first(error, run.store, head, keys) from None
    going_on = isinstance(admission, GoOn)
    inner: dict[str, dict[str, Any]] = {}
    if going_on:
        inner = typed_states(at.blueprint, checkpoint, run.thread_id)
        values = inner.pop(ROOT)
    else:
        values = typed_state(at.blueprint, checkpoint, run.thread_id)
    gained = new_fields(at.schema, checkpoint.state, values)
    facts: list[Fact]
    audits: tuple[AuditRow, ...] = ()
    closes: tuple[str, ...] = ()
    if isinstance(admission, GoOn):
        facts = [*gained, *_closings(call, admission), Continued(run.run_id)]
        audits = audits_of(checkpoint.position, facts)
        closes = (*admission.answers, *admission.expired)
    else:
        values, patch = at.schema.next_state(values, call.input, f"{run.run_id}/input")
        facts = [*gained, Started(run.run_id, patch, first_tasks(at.blueprint, chooser(at, values)))]
    guard: Guard = Unchanged(head.no, head.epoch, head.sequence)
    write = Write(
        run.thread_id, run.branch_id, guard, Status.RUNNING, record_to_bytes(facts), closes=closes, audits=audits
    )
    since = sum(len(record.body) for record in stored.records) + len(write.record)
    snapshot_bytes = len(stored.snapshot) if stored.snapshot is not None else len(stored.records[0].body)
    return _Claim(write, values, inner, checkpoint, facts, going_on, since, snapshot_bytes)


def _closings(call: Call, admission: GoOn) -> list[Fact]:
    """How the questions close that this call answers, or whose deadline it finds passed."""
    facts: list[Fact] = []
    if admission.expired:
        facts.append(Expired(admission.expired))
    if admission.answers and call.resume is not None:
        facts.append(Answered(admission.answers, call.resume.by, call.resume.note, call.source))
    return facts


def _take(run: Run, claim: _Claim, receipt: Receipt) -> None:
    """The branch is ours: stand where the claim says."""
    assert run.store is not None
    run.log = RunLog(
        run.store,
        run.thread_id,
        run.branch_id,
        receipt,
        bytes_since_snapshot=claim.since_snapshot,
        snapshot_bytes=claim.snapshot_bytes,
    )
    position = claim.checkpoint.position
    for fact in claim.facts:
        position = advance(position, fact, receipt.pause, receipt.at_ms)
    at = run.root
    at.values = claim.values
    at.dropped = dropped_fields(at.schema, claim.checkpoint.state)
    at.frame = position.frames[ROOT]
    at.origin = f"{run.store.id}/{receipt.no}"
    run.stored = {
        path: Stored(frame, claim.checkpoint.state_at(path), claim.inner.get(path))
        for path, frame in position.frames.items()
        if path != ROOT
    }
    run.listed = position.listed
    run.resuming = claim.resuming
