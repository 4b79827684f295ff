"""`nodestep fork`: a branch that stands where a thread stood at an event. Runs nothing, imports no graph."""

from __future__ import annotations

from typing import Annotated

import typer

from ...model.status import Status
from ...people import branches
from ..events import branch_of
from ..files import named, open_existing
from ..look import Look, look_at
from ..options import AsJson, Named, Store
from ..questions import Place, answer_command, run_command
from ..safe_text import name
from ..screen import STYLE_OF_STATUS, Screen
from ..telling import telling
from ..times import iso


def fork(
    thread: Named,
    from_: Annotated[
        str, typer.Option("--from", metavar="EVENT", help="Where the branch begins: an id that history printed.")
    ],
    name_: Annotated[
        str | None, typer.Option("--name", metavar="ID", help="The branch's name; without it fork-1, fork-2 and so on.")
    ] = None,
    store: Store = None,
    branch: Annotated[
        str | None,
        typer.Option("--branch", metavar="ID", help="The branch to fork; without it the one that has the event."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a branch of a thread that stands where the thread stood at an event.

    Nothing of the original changes, and nothing is copied. In a pause the branch waits for the same questions, and is answered
    on its own; elsewhere it can be continued, or given new input. To start a paused thread over, fork before the pause.
    """
    with telling(as_json=as_json) as screen, open_existing(store) as opened:
        record = branches.fork(opened, thread, branch or branch_of(opened, thread, from_), from_=from_, name=name_)
        look = look_at(opened, thread, record.id)
        if as_json:
            screen.document(
                {
                    "thread_id": thread,
                    "branch_id": record.id,
                    "parent_branch_id": record.parent_branch_id,
                    "from_event_id": record.from_event_id,
                    "created_at": iso(record.created_at),
                    "status": look.status.value,
                }
            )
            return
        at = record.from_event_id or from_
        origin = "" if record.parent_branch_id is None else f" of {name(record.parent_branch_id)}"
        screen.say(
            ("forked", "bold green"), f"  branch {name(record.id)} of thread {name(thread)}, from {name(at)}{origin}"
        )
        if at != from_:
            screen.say(f"  a branch begins at a commit; the last one at event {name(from_)} is {name(at)}")
        _tell(screen, look, Place(named(store), thread, record.id))


def _tell(screen: Screen, look: Look, place: Place) -> None:
    status = look.status
    lead = ("  it is ", (status.value, STYLE_OF_STATUS[status.value]))
    if look.waiting:
        screen.say(*lead, ", and waits for answers:")
        for question in look.waiting:
            screen.type(answer_command(place, question), indent="    ")
    elif status in (Status.COMPLETED, Status.CANCELLED) or look.position.conflict is not None:
        screen.say(*lead, "; give it new input:")
        screen.type(run_command(place, "TARGET", input="JSON"), indent="    ")
    else:
        screen.say(*lead, "; continue it:")
        screen.type(run_command(place, "TARGET"), indent="    ")
