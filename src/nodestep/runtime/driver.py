"""From a call to its result: claim the branch, run the thread's graph, end.

`drive` is async, and knows nothing of how it is stepped; `blocking.py` says how. The loop itself is in `steps.py`.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import LeaseLostError, ThreadCancelledError
from .around import hooked
from .blocking import Door
from .context import CURRENT
from .lease import leases_of
from .opening import begin
from .questions import open_interrupts
from .result import GraphResult
from .run import Call, Run
from .steps import failure_of, supersteps

if TYPE_CHECKING:
    from .stream import Sink


async def drive(call: Call, door: Door, sink: Sink | None = None) -> GraphResult[Any]:
    """Run a call to its end, its pause or its failure."""
    run = Run(call, door, sink)
    token = CURRENT.set(None)
    try:
        try:
            await begin(run)
        except BaseException as error:
            if run.log is not None:
                _abandon(run, error)
            raise
        try:
            _hold_lease(run)
            completed = await hooked(run.root, supersteps, partial(_abandon, run))
            return _completed(run) if completed else _interrupted(run)
        finally:
            _release_lease(run)
    finally:
        CURRENT.reset(token)


def _hold_lease(run: Run) -> None:
    """Have the lease renewed between the claim and the end."""
    if run.log is not None:
        leases_of(run.log.store).hold((run.log.no, run.log.epoch), run.lose_lease)


def _release_lease(run: Run) -> None:
    if run.log is not None:
        leases_of(run.log.store).release((run.log.no, run.log.epoch))


def _abandon(run: Run, error: BaseException) -> BaseException:
    """Give the branch back after an error that no commit has told yet. It blocks, since it must happen even while the run
    is being cancelled. Returns the error to raise: a run that was stopped because its lease is gone says so."""
    if run.stopped is not None:
        run.stopped.uncancel()  # the cancellation was ours, and ends here
    if run.log is None:
        return error
    run.log.settle()
    if run.log.closed:
        return run.log.lost if run.log.lost is not None and run.lease_lost else error
    try:
        run.abandon(failure_of(error, conflict=run.conflict))
    except (LeaseLostError, ThreadCancelledError) as lost:
        return lost if run.lease_lost else error
    except Exception as refused:
        error.add_note(f"The end of this run could not be recorded: {type(refused).__name__}: {refused}")
    return error


def _interrupted(run: Run) -> GraphResult[Any]:
    """The result shows the state before the paused superstep."""
    at, interrupts = run.root, open_interrupts(run)
    if run.sink is not None:
        from .stream import InterruptEventData

        shown = {key: replace(found, payload=copy.deepcopy(found.payload)) for key, found in interrupts.items()}
        at.emit("interrupt", InterruptEventData(at.schema.data(at.values), run.thread_id, shown))
    return GraphResult(
        status="interrupted",
        thread_id=run.thread_id,
        step=at.step,
        checkpoint_id=run.checkpoint_id,
        interrupts=interrupts,
        _schema=at.schema,
        _values=at.values,
        _position=run.position,
    )


def _completed(run: Run) -> GraphResult[Any]:
    at = run.root
    if run.sink is not None:
        from .stream import FinalEventData

        at.emit("final", FinalEventData(at.schema.data(at.values), run.thread_id))
    return GraphResult(
        status="completed",
        thread_id=run.thread_id,
        step=at.step,
        checkpoint_id=run.checkpoint_id,
        interrupts={},
        _schema=at.schema,
        _values=at.values,
    )
